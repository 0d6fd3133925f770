"""How a function is called: arguments, overload, cost, errors. The planner calls `call` for each function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from bayplan.cel.costs import AfterCall
from bayplan.cel.errors import CostLimitError, EvaluationError, no_such_overload
from bayplan.cel.functions import Cost, Overload, is_a, takes
from bayplan.cel.steps import Closure, Run
from bayplan.cel.syntax import Call
from bayplan.cel.values import Duration, Timestamp, type_name

FAILED: Final = object()
"""Stands for the value of an argument that ended in an error, when the cost is counted."""


_BY_FIRST = frozenset({"_+_", "_-_", "_*_", "_/_", "_%_", "-_", "_<_", "_<=_", "_>_", "_>=_", "size"})
"""Kubernetes asks the first argument whether it knows these; the error says which of the two was wrong."""


_BY_VALUE = frozenset({"!_", "_==_", "_!=_", "@in", "matches", "dyn", "type"})
_OF_STRINGS = frozenset({"contains", "startsWith", "endsWith", "matches", "find", "findAll"})
_RECEIVERS = frozenset({str, Duration, Timestamp})


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
    cost = node.overloads[0].cost if len(node.overloads) == 1 else None
    if cost is None:
        cost = declared.cost
    stops_early = declared.stops_early or len(caller.arguments) > 2
    if len(node.overloads) > 1 and node.function not in _BY_FIRST and node.function not in _BY_VALUE:
        stops_early = True
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
        if node.function in _BY_FIRST:
            assert node.declaration is not None
            first, overloads_of = arguments[0], node.declaration.overloads
            takes_first = any(is_a(first, each.signature.parameters[0]) for each in overloads_of)
            takes_first = takes_first or type(first) in _RECEIVERS
            raise no_such_overload("" if takes_first else node.function)
        if node.function in _OF_STRINGS or node.function in _BY_VALUE:
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
    """An error ends the call at once, and it is paid for only if all arguments were worked out."""
    before, last = arguments[:-1], arguments[-1] if arguments else None

    def run(run: Run) -> Any:
        given = [each(run) for each in before]
        if last is not None:
            try:
                given.append(last(run))
            except EvaluationError:
                _pay(run, cost, [*given, FAILED], FAILED)
                raise
        return _called(run, function, given, cost)

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
