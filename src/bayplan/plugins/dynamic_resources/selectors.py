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
    """What one expression says of devices."""

    __slots__ = ("selector", "by_looks", "by_sort")

    def __init__(self, selector: Selector | str) -> None:
        self.selector = selector
        self.by_looks: dict[Hashable, Answer] = {}
        self.by_sort: dict[int, Answer] = {}
        """By the number of a sort, where it may look at everything."""


class Selectors:
    """The answers of all expressions asked lately."""

    def __init__(self, compile: Compile) -> None:
        self._compile = compile
        self._columns: BoundedCache[str, _Column] = BoundedCache(MAX_EXPRESSIONS)
        self._numbering = 0

    def number_anew(self, numbering: int) -> None:
        """The numbers of sorts are those of this numbering from now on."""
        if self._numbering != numbering:
            self._numbering = numbering
            for column in self._columns.values():
                column.by_sort.clear()

    def answer(self, expressions: tuple[str, ...], number: int, sort: Sort) -> bool | tuple[int, str]:
        """Do all expressions match?  Evaluation ends at the first that does not; a failure is told with its place."""
        for place, expression in enumerate(expressions):
            column = self._columns.get(expression)
            if column is None:
                column = self._columns[expression] = _Column(self._compile(expression))
            if isinstance(column.selector, str):
                return place, f"CEL compile error: {column.selector}"
            found = _asked(column, column.selector, number, sort)
            if isinstance(found, str):
                return place, f"CEL runtime error: {found}"
            if not found:
                return False
        return True


def _asked(column: _Column, selector: Selector, number: int, sort: Sort) -> Answer:
    looks = selector.looks_at(sort)
    known = column.by_sort.get(number) if looks is None else column.by_looks.get(looks)
    if known is None:
        known = selector.answer(sort)
        if looks is None:
            column.by_sort[number] = known
        else:
            column.by_looks[looks] = known
    return known
