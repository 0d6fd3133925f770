"""The numbers plugins go by, node by node, as part of an explanation.  ``explanation`` and ``text`` use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayplan.engine.plugin_calls import complain
from bayplan.engine.what_if import WhatIf
from bayplan.errors import GO_THROUGH
from bayplan.framework.plugin import Plugin
from bayplan.framework.snapshot import NodeView
from bayplan.objects.pod import Pod
from bayplan.text_layout import table


def add(document: dict[str, Any], imagined: WhatIf, pod: Pod) -> dict[str, Any]:
    """The document with ``numbers`` (lines by plugin) at every node of which a plugin has something to tell."""
    profile = imagined.profile(pod.scheduler_name)
    if profile is None:
        return document
    tellers = [each for each in profile.instances.values() if type(each).tell is not Plugin.tell]
    nodes = imagined.cache.nodes
    with imagined.seen_by_plugins():
        for node in document["nodes"] if tellers else ():
            row = nodes.row_of(node["name"])
            if row is not None:
                numbers = {name: lines for name, lines in _told(tellers, pod, nodes.node(row)) if lines}
                if numbers:
                    node["numbers"] = numbers
    return document


def _told(tellers: list[Plugin], pod: Pod, node: NodeView) -> Iterator[tuple[str, list[str]]]:
    """What each plugin tells.  One that cannot is named, and is not asked about further nodes."""
    for plugin in list(tellers):
        try:
            said: Any = plugin.tell(pod, node)
            lines = [said] if isinstance(said, str) else list(said)
            if not all(isinstance(line, str) for line in lines):
                raise TypeError(f"expected lines of text, got {said!r}")
        except GO_THROUGH:
            raise
        except BaseException as error:
            tellers.remove(plugin)
            complain("tell failed, its numbers are left out", plugin, error, pod=pod.key, node=node.name)
        else:
            yield plugin.name, lines


def as_lines(document: dict[str, Any], most: int) -> list[str]:
    """A table for the first nodes, and for the pod's own."""
    known = [node for node in document["nodes"] if node.get("numbers")]
    shown = known[:most] + [node for node in known[most:] if node["name"] == document["node"]]
    rows = [
        [node["name"], plugin, line] for node in shown for plugin, lines in node["numbers"].items() for line in lines
    ]
    if not rows:
        return []
    more = len(known) - len(shown)
    return [*table(["NODE", "PLUGIN", "NUMBERS"], rows).splitlines(), *([f"and {more} more nodes"] if more else [])]
