"""What a plan is made of: closures that work out a value in a run and count what it costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias


class Run:
    """One evaluation: the values of variables by place, and what it cost so far."""

    __slots__ = ("cost", "limit", "places")

    def __init__(self, places: list[Any], limit: int) -> None:
        self.places = places
        self.cost = 0
        self.limit = limit


Closure: TypeAlias = Callable[[Run], Any]


class Step(NamedTuple):
    """A planned node. `resolve` is there for names, fields, indexes and conditions, which can be read on."""

    run: Closure
    is_constant: bool = False
    resolve: Closure | None = None
    is_condition: bool = False


NOTHING: Final = Run([], 0)
"""What a constant is worked out in."""


def constant(value: Any) -> Step:
    return Step(lambda run: value, is_constant=True)


def charged(resolve: Closure, amount: int) -> Closure:
    """The same, for a fixed cost that is due even if it ends in an error."""

    def run(run: Run) -> Any:
        try:
            return resolve(run)
        finally:
            run.cost += amount

    return run
