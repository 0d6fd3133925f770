"""Names, fields, indexes, `has` and conditions: what can be read on from. The planner calls it.

A chain such as `a.b.c` costs one for each field and one for the whole. In a branch of a condition, and as an index,
the whole is free.
"""

from __future__ import annotations

from typing import Any

from bayplan.cel import costs
from bayplan.cel.errors import no_such_overload
from bayplan.cel.steps import NOTHING, Closure, Run, Step, charged
from bayplan.cel.values import NONE, Optional, find, missing


def read(resolve: Closure) -> Step:
    return Step(charged(resolve, costs.READ), resolve=resolve)


def qualified(operand: Step, index: Step, is_optional: bool) -> Step:
    """A field or an index of what was read."""
    base = operand.resolve or operand.run
    if index.is_constant:
        resolve = _constant_key(base, index.run(NOTHING), is_optional)
    else:
        resolve = _computed_key(base, index.resolve or index.run, is_optional)
    if operand.is_condition:
        return Step(resolve, resolve=resolve, is_condition=True)
    return Step(charged(resolve, costs.READ), resolve=resolve)


def _constant_key(base: Closure, key: Any, is_optional: bool) -> Closure:
    def resolve(run: Run) -> Any:
        value = base(run)
        if type(value) is Optional or is_optional:
            return _optional(run, value, key)
        run.cost += 1
        found, is_there = find(value, key)
        if not is_there:
            raise missing(value, key)
        return found

    return resolve


def _computed_key(base: Closure, index: Closure, is_optional: bool) -> Closure:
    def resolve(run: Run) -> Any:
        value = base(run)
        if type(value) is Optional and not value.has_value:
            return value
        if type(value) is Optional or is_optional:
            return _optional(run, value, index(run))
        try:
            key = index(run)
            found, is_there = find(value, key)
        finally:
            run.cost += 1
        if not is_there:
            raise missing(value, key)
        return found

    return resolve


def _optional(run: Run, value: Any, key: Any) -> Optional:
    """The element if there is one; reading on from an optional gives an optional again."""
    if type(value) is Optional:
        if not value.has_value:
            return value
        value = value.value
    found, is_there = find(value, key)
    if not is_there:
        return NONE
    run.cost += 1
    return Optional(True, found)


def tested(operand: Step, name: str) -> Step:
    """`has`: the test costs as much as the field, the chain itself is free."""
    base = operand.resolve or operand.run

    def resolve(run: Run) -> bool:
        value = base(run)
        if type(value) is Optional:
            return _optional(run, value, name).has_value
        run.cost += 1
        return find(value, name)[1]

    if operand.is_condition:
        return Step(charged(resolve, -costs.READ), resolve=resolve, is_condition=True)
    return Step(resolve, resolve=resolve)


def condition(asked: Step, truthy: Step, falsy: Step) -> Step:
    decide = asked.run
    yes, no = truthy.resolve or truthy.run, falsy.resolve or falsy.run

    def resolve(run: Run) -> Any:
        value = decide(run)
        if value is True:
            return yes(run)
        if value is False:
            return no(run)
        raise no_such_overload()

    return Step(resolve, resolve=resolve, is_condition=True)


def otherwise(first: Closure, second: Closure, gives_value: bool) -> Step:
    """`or` and `orValue`: the second is worked out only if the first has no value."""

    def run(run: Run) -> Any:
        value = first(run)
        if type(value) is not Optional:
            return value
        if value.has_value:
            return value.value if gives_value else value
        return second(run)

    return Step(run)
