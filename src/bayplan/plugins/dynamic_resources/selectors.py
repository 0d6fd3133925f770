"""
CEL selectors over sorts of devices: each expression is compiled once, and evaluated once for all that look alike to it.

A failure is an answer too, since it only counts if the search gets as far as such a device.  ``shape`` asks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol, TypeAlias

from bayplan.bounded_cache import BoundedCache
from bayplan.plugins.dynamic_resources.device_columns import Sort

MAX_EXPRESSIONS = 512

Answer: TypeAlias = "bool | str"
"""Does the device match?  A text says why nobody can tell."""


class Selector(Protocol):
    """A compiled expression."""

    def answer(self, sort: Sort) -> Answer: ...

    def looks_at(self, sort: Sort) -> Hashable:
        """All that it goes by: sorts that agree in this get the same answer.  ``None`` if it may look at everything."""


Compile: TypeAlias = "Callable[[str], Selector | str]"
"""Compiles an expression, or says what is wrong with it."""


class _Column:
    """What one expression says of each sort of device."""

    __slots__ = ("selector", "answers", "by_looks")

    def __init__(self, selector: Selector | str) -> None:
        self.selector = selector
        self.answers: dict[int, Answer] = {}
        self.by_looks: dict[Hashable, Answer] = {}


class Selectors:
    """The answers of all expressions asked lately."""

    def __init__(self, compile: Compile) -> None:
        self._compile = compile
        self._columns: BoundedCache[str, _Column] = BoundedCache(MAX_EXPRESSIONS)

    def answer(self, expressions: tuple[str, ...], number: int, sort: Sort) -> bool | tuple[int, str]:
        """Do all expressions match?  Evaluation ends at the first that does not; a failure is told with its place."""
        for place, expression in enumerate(expressions):
            column = self._columns.get(expression)
            if column is None:
                column = self._columns[expression] = _Column(self._compile(expression))
            if isinstance(column.selector, str):
                return place, f"CEL compile error: {column.selector}"
            found = column.answers.get(number)
            if found is None:
                found = column.answers[number] = _asked(column, column.selector, sort)
            if isinstance(found, str):
                return place, f"CEL runtime error: {found}"
            if not found:
                return False
        return True


def _asked(column: _Column, selector: Selector, sort: Sort) -> Answer:
    looks = selector.looks_at(sort)
    if looks is None:
        return selector.answer(sort)
    known = column.by_looks.get(looks)
    if known is None:
        known = column.by_looks[looks] = selector.answer(sort)
    return known
