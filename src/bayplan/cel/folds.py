"""The loop behind all comprehensions, and `cel.bind`. The planner calls it."""

from __future__ import annotations

from typing import Any, Final

from bayplan.cel.errors import CostLimitError, EvaluationError
from bayplan.cel.macros import ACCUMULATOR
from bayplan.cel.steps import Closure, Run, Step
from bayplan.cel.syntax import Fold, ListLiteral, MapLiteral
from bayplan.cel.values import MAPS, Growing, GrowingMap, keys, type_name

_UNSET: Final = object()


def initial(node: Fold, start: Step) -> Closure:
    """What the accumulator begins with; an empty list or map of a comprehension is one that may grow."""
    if node.accumulator == ACCUMULATOR:
        if isinstance(node.start, ListLiteral) and not node.start.elements:
            return lambda run: Growing()
        if isinstance(node.start, MapLiteral) and not node.start.entries:
            return lambda run: GrowingMap()
    return start.run


def accumulator(place: int, start: Closure) -> Closure:
    """Worked out when it is first read, and an error is kept like a value."""

    def resolve(run: Run) -> Any:
        value = run.places[place]
        if value is _UNSET:
            try:
                value = start(run)
            except EvaluationError as error:
                value = error
            run.places[place] = value
        if isinstance(value, EvaluationError):
            raise EvaluationError(*value.args)
        return value

    return resolve


def named(place: int, result: Closure) -> Closure:
    def run(run: Run) -> Any:
        run.places[place] = _UNSET
        return result(run)

    return run


def loop(place: int, is_double: bool, over: Closure, condition: Step, step: Closure, result: Closure) -> Closure:
    goes_on = None if condition.is_constant else condition.run

    def run(run: Run) -> Any:
        places = run.places
        pairs = _pairs(over(run), is_double)
        places[place] = _UNSET
        for places[place + 1], places[place + 2] in pairs:
            if goes_on is not None and goes_on(run) is False:
                break
            try:
                places[place] = step(run)
            except EvaluationError as error:
                places[place] = error
            if run.cost > run.limit:
                raise CostLimitError
        made = result(run)
        if type(made) is Growing:
            return list(made)
        return dict(made) if type(made) is GrowingMap else made

    return run


def _pairs(over: Any, is_double: bool) -> Any:
    """What the two variables of a loop go through."""
    kind = type(over)
    if kind is list or kind is Growing:
        return list(enumerate(over)) if is_double else [(each, None) for each in over]
    if kind in MAPS:
        return list(zip(keys(over), over.values(), strict=True))
    raise EvaluationError(f"got '{type_name(over)}', expected iterable type")
