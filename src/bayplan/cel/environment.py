"""Variables and functions an expression may use, and what becomes of the text of one.

`devices` and the placement's predicates each have an environment of their own. An expression is compiled once and run
for many values. Nothing here looks at a clock: what an expression may do is bounded by its cost, which is counted as
Kubernetes counts it, so the same expression ends the same way on every machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bayplan.cel.checker import Declarations, check
from bayplan.cel.errors import CelError, CelRuntimeError, CostLimitError
from bayplan.cel.estimates.device_sizes import Path
from bayplan.cel.estimates.sizes import Size
from bayplan.cel.estimates.walker import highest_cost
from bayplan.cel.functions import Function, collected
from bayplan.cel.library import KUBERNETES
from bayplan.cel.parser import parse
from bayplan.cel.planner import Plan, plan
from bayplan.cel.steps import Run
from bayplan.cel.syntax import Source
from bayplan.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    Type,
    list_of,
    map_of,
)

COST_LIMIT = 1_000_000

_TYPES = {
    **{each.name: each for each in (BOOL, BYTES, DOUBLE, INT, NULL, STRING, TYPE, UINT, DURATION, TIMESTAMP)},
    "list": list_of(DYN),
    "map": map_of(DYN, DYN),
}


_SHALLOW = 200
"""An expression of so many characters cannot be nested so deeply that it needs more than Python's usual stack."""
_FRAMES = 6000
"""Enough for the deepest expression that the parser lets through."""


@contextmanager
def _deep_stack() -> Iterator[None]:
    """Room for deep expressions: whether one is accepted must not depend on who asks."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class Program:
    """A compiled expression."""

    __slots__ = ("text", "type", "_plan", "_names", "_limit", "_is_deep")

    def __init__(self, text: str, result: Type, planned: Plan, names: tuple[str, ...], limit: int) -> None:
        self.text = text
        self.type = result
        self._plan = planned
        self._names = names
        self._limit = limit
        self._is_deep = len(text) > _SHALLOW

    def evaluate(self, values: Mapping[str, Any]) -> tuple[Any, int]:
        """The value and what it cost; CelRuntimeError if the expression ends in an error or costs too much."""
        run = Run([values[name] for name in self._names], self._limit)
        run.places += [None] * (self._plan.places - len(run.places))
        try:
            if self._is_deep:
                with _deep_stack():
                    value = self._plan.run(run)
            else:
                value = self._plan.run(run)
            if run.cost > run.limit:
                raise CostLimitError
        except CelRuntimeError as error:
            error.cost = run.cost
            raise
        return value, run.cost


class Environment:
    """`fields` are those of variables that are not maps, by the name of their type."""

    def __init__(
        self,
        variables: Mapping[str, Type],
        functions: Iterable[Function] = (),
        fields: Mapping[str, Mapping[str, Type]] | None = None,
        cost_limit: int = COST_LIMIT,
        longest: int = 10 * 1024,
    ) -> None:
        known = collected([KUBERNETES.values(), functions])
        self._declarations = Declarations(variables, known, _TYPES, fields or {})
        self._limit = cost_limit
        self._longest = longest

    def compile(self, text: str) -> Program:
        """CelError in one line, ``1:8: undefined field 'model'``, if the expression is wrong."""
        source = self._source(text)
        names = tuple(self._declarations.variables)
        with _deep_stack():
            tree = parse(source)
            result = check(tree, source, self._declarations)(tree)
            return Program(text, result, plan(tree, source, names), names, self._limit)

    def highest_cost(self, text: str, size_at: Callable[[Path], Size | None]) -> int:
        """The most it can cost, if `size_at` tells how large parts of variables can be; CelError as `compile`."""
        source = self._source(text)
        with _deep_stack():
            tree = parse(source)
            return highest_cost(tree, check(tree, source, self._declarations), size_at)

    def _source(self, text: str) -> Source:
        if len(text.encode(errors="replace")) > self._longest:
            raise CelError(f"1:1: the expression is longer than {self._longest} bytes")
        return Source(text)
