"""What Kubernetes refuses in literals beyond types: mixed lists and maps, and formats that do not fit their arguments.

The checker collects literals on its way and asks about them when all types are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bayplan.cel.library.string_format import clauses
from bayplan.cel.types import BOOL, BYTES, DOUBLE, INT, NULL, STRING, TYPE, UINT, Type

_SHOWN = frozenset(
    {"list", "map", "google.protobuf.Timestamp", "google.protobuf.Duration", TYPE.name}
    | {each.name for each in (INT, UINT, DOUBLE, BOOL, STRING, BYTES, NULL)}
)
_TAKEN: dict[str, frozenset[str]] = {
    "s": _SHOWN,
    "d": frozenset({"int", "uint"}),
    "f": frozenset({"double", "string"}),
    "e": frozenset({"double", "string"}),
    "b": frozenset({"int", "uint", "bool"}),
    "x": frozenset({"int", "uint", "string", "bytes"}),
    "X": frozenset({"int", "uint", "string", "bytes"}),
    "o": frozenset({"int", "uint"}),
}


class Elements(NamedTuple):
    """Elements that must all have one type, with where each of them is."""

    types: Sequence[Type]
    places: Sequence[int]


class FormatCall(NamedTuple):
    text: str
    arguments: Sequence[Type]
    at: int


def wrong_element(elements: Elements, known: Callable[[Type], Type]) -> tuple[int, str] | None:
    """Where a literal has an element of another type, and the problem."""
    wanted = known(elements.types[0])
    for given, place in zip(elements.types, elements.places, strict=True):
        if known(given) != wanted:
            return place, f"expected type '{wanted}' but found '{known(given)}'"
    return None


def wrong_format(call: FormatCall, known: Callable[[Type], Type]) -> tuple[int, str] | None:
    """What is wrong with a format whose text and arguments are there to see."""
    verbs = clauses(call.text)
    if verbs is None:
        return call.at, "could not parse formatting clause"
    if len(verbs) != len(call.arguments):
        return call.at, f"string.format takes {len(verbs)} arguments here, got {len(call.arguments)}"
    for verb, argument in zip(verbs, call.arguments, strict=True):
        given = known(argument)
        if given.name != "dyn" and given.name not in _TAKEN.get(verb, frozenset()):
            return call.at, f"error during formatting: %{verb} cannot be used on {given}"
    return None
