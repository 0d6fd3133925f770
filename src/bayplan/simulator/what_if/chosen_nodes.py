"""
Which nodes a person means: by name, or by a selector such as ``zone=a``.

``checking`` (``what-if``) and ``simulator.sweep.variants`` (outages) ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bayplan.errors import InputError
from bayplan.objects.mistakes import nearest
from bayplan.objects.node import Node
from bayplan.objects.selector_parsing import parse_selector

_FEW = 5


def named_node(name: str, nodes: Mapping[str, Node], field: str) -> Node:
    """The node of that name."""
    if name in nodes:
        return nodes[name]
    near = nearest(name, nodes)
    hint = f'; did you mean "{near}"?' if near else f"; there are {_some(list(nodes))}"
    raise InputError(f'there is no node "{name}"{hint}', field=field)


def chosen_nodes(text: str, nodes: Mapping[str, Node], field: str) -> list[Node]:
    """The node of that name, or those that a selector selects; ``zone`` and ``region`` stand for the usual labels."""
    if not any(sign in text for sign in "=!(<>,"):
        return [named_node(text, nodes, field)]
    found = _matching(text, nodes.values(), field)
    if found:
        return found
    key, equals, _ = text.partition("=")
    known = sorted({labels[key] for labels in map(_labels, nodes.values()) if key in labels})
    hint = f"; {key} is {_some(known)}" if known else f'; no node has a label "{key}"' if equals else ""
    raise InputError(f'no node is selected by "{text}"{hint}', field=field)


def _matching(text: str, nodes: Iterable[Node], field: str) -> list[Node]:
    try:
        selector = parse_selector(text)
    except ValueError as error:
        raise InputError(str(error), field=field) from None
    return [node for node in nodes if selector.matches(_labels(node))]


def _labels(node: Node) -> dict[str, str]:
    """With ``zone`` and ``region``, unless the node has labels of these names."""
    usual = {"zone": node.zone, "region": node.region}
    return {**{key: value for key, value in usual.items() if value}, **node.labels}


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_FEW])
    return f"{shown} and {len(names) - _FEW} more" if len(names) > _FEW else shown or "none"
