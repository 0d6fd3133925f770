"""
What a CEL expression reads of a device, where its text tells: then devices that agree in that get the same answer.

Most devices have a uuid or an address that no selector looks at.  ``device_selectors`` asks.
"""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple

from bayplan.cel.parser import parse
from bayplan.cel.syntax import Call, Expr, Fold, Ident, ListLiteral, Literal, MapLiteral, Select, Source

_DEVICE = "device"
_MAPS = ("attributes", "capacity")
_INDEX = ("_[_]", "_[?_]")
_FIELD = ("_?._", *_INDEX)
_IN = "@in"


class Read(NamedTuple):
    """One entry of a device's attributes or capacity."""

    map: str
    domain: str
    name: str


def reads_of(expression: str) -> frozenset[Read] | None:
    """The entries that the expression can look at; ``None`` if that cannot be told, so that it may be all of them."""
    found: set[Read] = set()
    return frozenset(found) if _collect(parse(Source(expression)), found) else None


def _collect(node: Expr, found: set[Read]) -> bool:
    """Add what the node reads; whether it reads nothing that cannot be told."""
    entry = _entry(node)
    if entry is not None:
        found.add(entry)
        return True
    if isinstance(node, Ident):
        return node.name != _DEVICE
    if isinstance(node, Select) and _is_device(node.operand):
        return node.name not in _MAPS
    return all(_collect(child, found) for child in _children(node))


def _entry(node: Expr) -> Read | None:
    """An entry that is named by constants: ``device.attributes["domain"].name`` and the other ways to write it."""
    if isinstance(node, Select):
        return _named(node.operand, node.name)
    if isinstance(node, Call) and len(node.arguments) == 2 and node.target is None:
        first, second = node.arguments
        if node.function in _FIELD:
            return _named(first, _text(second))
        if node.function == _IN:
            return _named(second, _text(first))
    return None


def _named(domain: Expr, name: str | None) -> Read | None:
    if name is None or not isinstance(domain, Call) or domain.function not in _INDEX or len(domain.arguments) != 2:
        return None
    of, index = domain.arguments
    if isinstance(of, Select) and of.name in _MAPS and _is_device(of.operand) and not of.is_test:
        text = _text(index)
        return None if text is None else Read(of.name, text, name)
    return None


def _is_device(node: Expr) -> bool:
    return isinstance(node, Ident) and node.name == _DEVICE


def _text(node: Expr) -> str | None:
    return node.value if isinstance(node, Literal) and isinstance(node.value, str) else None


def _children(node: Expr) -> list[Expr]:
    found: list[Expr] = []
    for each in fields(node):
        _gather(getattr(node, each.name), found)
    return found


def _gather(value: object, found: list[Expr]) -> None:
    if isinstance(value, Literal | Ident | Select | Call | ListLiteral | MapLiteral | Fold):
        found.append(value)
    elif isinstance(value, list | tuple):
        for each in value:
            _gather(each, found)
