"""How a function is called: arguments, overload, cost, errors. The planner calls `call` for each function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from bayplan.cel.costs import AfterCall
from bayplan.cel.errors import CostLimitError, EvaluationError, no_such_overload
from bayplan.cel.functions import Cost, Overload, takes
from bayplan.cel.syntax import Call
from bayplan.cel.values import type_name

if TYPE_CHECKING:
    from bayplan.cel.planner import Run

Closure: TypeAlias = Callable[["Run"], Any]

FAILED: Final = object()
"""Stands for the value of an argument that ended in an error, when the cost is counted."""


class Caller(NamedTuple):
    node: Call
    arguments: Sequence[Closure]
    constants: Sequence[tuple[Any] | None]
    """The values of those arguments that are constants."""


def call(caller: Caller) -> Closure:
    """A closure that works out the arguments, pays and calls."""
    node = caller.node
    declared = node.declaration
    assert declared is not None
    run = _dispatch(node)
    cost: Cost = 1
    if declared.cost_by_name is not None:
        cost = declared.cost_by_name
    elif len(node.overloads) == 1:
        cost = node.overloads[0].cost
    stops_early = declared.stops_early or len(caller.arguments) > 2
    if node.function in ("matches", "find", "findAll") and len(caller.arguments) > 1:
        pattern = caller.constants[1]
        if pattern is not None:
            run(*["" if given is None else given[0] for given in caller.constants])  # a bad pattern is told at once
            stops_early = True
    if node.function == "@not_strictly_false":
        return _not_strictly_false(caller.arguments[0])
    if len(caller.arguments) == 2 and not stops_early:
        return _binary(run, caller.arguments[0], caller.arguments[1], cost)
    if len(caller.arguments) == 1 and not stops_early:
        return _unary(run, caller.arguments[0], cost)
    return _many(run, caller.arguments, cost)


def _dispatch(node: Call) -> Callable[..., Any]:
    """The one overload, or a choice by the values."""
    overloads: Sequence[Overload] = node.overloads
    if len(overloads) == 1 and node.is_exact:
        return overloads[0].run

    def run(*arguments: Any) -> Any:
        for each in overloads:
            if takes(each, arguments):
                return each.run(*arguments)
        if node.function.startswith(("_", "@", "-", "!")):
            raise no_such_overload()
        raise no_such_overload(f"{node.function}({', '.join(map(type_name, arguments))})")

    return run


def _not_strictly_false(argument: Closure) -> Closure:
    def run(run: Run) -> bool:
        try:
            return argument(run) is not False
        except EvaluationError:
            return True
        finally:
            run.cost += 1

    return run


def _unary(function: Callable[..., Any], argument: Closure, cost: Cost) -> Closure:
    def run(run: Run) -> Any:
        try:
            given = argument(run)
        except EvaluationError:
            _pay(run, cost, (FAILED,), FAILED)
            raise
        return _called(run, function, (given,), cost)

    return run


def _binary(function: Callable[..., Any], left: Closure, right: Closure, cost: Cost) -> Closure:
    def run(run: Run) -> Any:
        try:
            first = left(run)
        except EvaluationError:
            _pay(run, cost, (FAILED, _value_or_failed(run, right)), FAILED)
            raise
        try:
            second = right(run)
        except EvaluationError:
            _pay(run, cost, (first, FAILED), FAILED)
            raise
        return _called(run, function, (first, second), cost)

    return run


def _many(function: Callable[..., Any], arguments: Sequence[Closure], cost: Cost) -> Closure:
    def run(run: Run) -> Any:
        return _called(run, function, [each(run) for each in arguments], cost)

    return run


def _value_or_failed(run: Run, argument: Closure) -> Any:
    try:
        return argument(run)
    except EvaluationError:
        return FAILED


def _called(run: Run, function: Callable[..., Any], arguments: Sequence[Any], cost: Cost) -> Any:
    """Pay, then call: what would cost too much is not begun."""
    if not isinstance(cost, AfterCall):
        _pay(run, cost, arguments, None)
        return function(*arguments)
    try:
        result = function(*arguments)
    except EvaluationError:
        _pay(run, cost, arguments, FAILED)
        raise
    _pay(run, cost, arguments, result)
    return result


def _pay(run: Run, cost: Cost, arguments: Sequence[Any], result: Any) -> None:
    run.cost += cost if isinstance(cost, int) else cost(arguments, result)
    if run.cost > run.limit:
        raise CostLimitError
