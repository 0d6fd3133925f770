"""A checked tree to Python closures that work out the value and count the cost on the way.

`environment` calls `plan` once for an expression. Each closure takes the `Run` it belongs to. Kubernetes counts on
the plan of cel-go, so the plan is the same in what matters for the count: constants are free, lists and conversions
of constants are constants, a chain of fields costs one for each field and one for the whole, a condition is free and
so is the name that stands alone in a branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

from bayplan.cel import costs, folds, reads
from bayplan.cel.calls import Caller, call
from bayplan.cel.errors import CelError, CelRuntimeError, EvaluationError, no_such_overload
from bayplan.cel.steps import NOTHING, Closure, Run, Step, charged, constant
from bayplan.cel.syntax import Call, Expr, Fold, Ident, ListLiteral, Literal, MapLiteral, Select, Source
from bayplan.cel.values import (
    Optional,
    Uint,
    map_key,
    type_name,
)

_CONVERSIONS = frozenset(["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"])


class Plan(NamedTuple):
    run: Closure
    places: int
    """How many variables there are, those of comprehensions included."""


def plan(expression: Expr, source: Source, variables: Sequence[str]) -> Plan:
    """The variables get the first places in the order given."""
    planner = _Planner(source, len(variables))
    step = planner.plan(expression, {name: _value_at(place) for place, name in enumerate(variables)})
    return Plan(step.run, planner.places)


def _value_at(place: int) -> Closure:
    return lambda run: run.places[place]


Scope: TypeAlias = dict[str, Closure]


class _Planner:
    def __init__(self, source: Source, places: int) -> None:
        self._source = source
        self.places = places

    def plan(self, node: Expr, scope: Scope) -> Step:
        match node:
            case Call():
                return self._call(node, scope)
            case Select():
                return self._select(node, scope)
            case Ident():
                if node.names_type is not None:
                    return constant(node.names_type)
                return reads.read(scope[node.name])
            case Literal():
                return constant(node.value)
            case ListLiteral():
                return _list(node, [self.plan(each, scope) for each in node.elements])
            case MapLiteral():
                entries = [(self.plan(key, scope), self.plan(value, scope)) for key, value in node.entries]
                return _map(node, entries)
            case Fold():
                return self._fold(node, scope)

    def _select(self, node: Select, scope: Scope) -> Step:
        operand = self.plan(node.operand, scope)
        if node.is_test:
            return reads.tested(operand, node.name)
        return reads.qualified(operand, constant(node.name), is_optional=False)

    def _call(self, node: Call, scope: Scope) -> Step:
        name = node.function
        arguments = [self.plan(each, scope) for each in node.arguments]
        if node.target is not None:
            arguments.insert(0, self.plan(node.target, scope))
        if name == "_&&_" or name == "_||_":
            return _logical([each.run for each in arguments], decides=name == "_||_")
        if name == "_?_:_":
            return reads.condition(*arguments)
        if name in ("_[_]", "_[?_]", "_?._"):
            return reads.qualified(arguments[0], arguments[1], is_optional=name != "_[_]")
        if name in ("or", "orValue") and node.overloads[0].signature.parameters[0].name == "optional_type":
            return reads.otherwise(arguments[0].run, arguments[1].run, gives_value=name == "orValue")
        if name == "@in" and len(node.overloads) == 1 and arguments[1].is_constant:
            members = arguments[1].run(NOTHING)
            if type(members) is list and node.overloads[0].name == "in_list":
                step = _member(arguments[0].run, members)
                if step is not None:
                    return step
        return self._planned_call(node, arguments)

    def _planned_call(self, node: Call, arguments: list[Step]) -> Step:
        assert node.declaration is not None
        constants = [(each.run(NOTHING),) if each.is_constant else None for each in arguments]
        caller = Caller(node, [each.run for each in arguments], constants)
        try:
            made = call(caller)
            if node.function in _CONVERSIONS and len(arguments) == 1 and arguments[0].is_constant:
                return constant(made(Run([], 2**63)))
        except CelRuntimeError as error:
            raise CelError(f"{self._source.place(node.at)}: {error}") from None
        return Step(made)

    def _fold(self, node: Fold, scope: Scope) -> Step:
        first = self.places
        self.places += 3
        start = self.plan(node.start, scope)
        over = self.plan(node.over, scope)
        outer = {**scope, node.accumulator: folds.accumulator(first, folds.initial(node, start))}
        inner = {**outer, node.variable: _value_at(first + 1)}
        if node.second:
            inner[node.second] = _value_at(first + 2)
        condition = self.plan(node.condition, inner)
        step = self.plan(node.step, inner).run
        result = self.plan(node.result, outer).run
        if condition.is_constant and not condition.run(NOTHING):  # cel.bind: a loop that is never gone through
            return Step(folds.named(first, result))
        return Step(folds.loop(first, bool(node.second), over.run, condition, step, result))


def _logical(terms: Sequence[Closure], decides: bool) -> Step:
    """`||` is decided by a true term, `&&` by a false one, whatever errors the others end in."""

    def run(run: Run) -> bool:
        failure: EvaluationError | None = None
        for term in terms:
            try:
                value = term(run)
                if type(value) is not bool:
                    failure = failure or no_such_overload()
                elif value == decides:
                    return decides
            except EvaluationError as error:
                failure = failure or error
        if failure is not None:
            raise failure
        return not decides

    return Step(run)


def _member(value: Closure, members: list[Any]) -> Step | None:
    """`in` a list of constants; None if the list holds more than plain values."""
    if not members:
        return constant(False)
    if any(type(each) not in (str, int, Uint, float, bool) for each in members):
        return None
    numbers = frozenset(each for each in members if type(each) not in (str, bool))
    texts = frozenset(each for each in members if type(each) is str)
    truths = frozenset(each for each in members if type(each) is bool)

    def run(run: Run) -> bool:
        given: Any = value(run)
        kind = type(given)
        if kind is str:
            return given in texts
        if kind is bool:
            return given in truths
        if kind is int or kind is float or kind is Uint:
            return given in numbers
        if kind is bytes or getattr(given, "is_unhashable", False):
            # Kubernetes looks such a value up in a hash table, which ends the evaluation
            raise CelRuntimeError(f"internal error: runtime error: hash of unhashable type {type_name(given)}")
        return False

    return Step(run)


def _list(node: ListLiteral, elements: list[Step]) -> Step:
    runs = [each.run for each in elements]
    if not node.optional and all(each.is_constant for each in elements):
        return constant([each(NOTHING) for each in runs])

    def run(run: Run) -> list[Any]:
        try:
            if not node.optional:
                return [each(run) for each in runs]
            made = []
            for index, each in enumerate(runs):
                value = each(run)
                if index in node.optional:
                    if type(value) is not Optional:
                        raise EvaluationError("cannot initialize optional list element from non-optional value")
                    if not value.has_value:
                        continue
                    value = value.value
                made.append(value)
            return made
        finally:
            run.cost += costs.LIST

    return Step(run)


def _map(node: MapLiteral, entries: list[tuple[Step, Step]]) -> Step:
    runs = [(key.run, value.run) for key, value in entries]

    def made(run: Run) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for index, (key_run, value_run) in enumerate(runs):
            key, value = key_run(run), value_run(run)
            if index in node.optional:
                if type(value) is not Optional:
                    raise EvaluationError(f"cannot initialize optional entry '{key}' from non-optional value")
                if not value.has_value:
                    made.pop(map_key(key), None)
                    continue
                value = value.value
            made[map_key(key)] = value
        return made

    if all(key.is_constant and value.is_constant for key, value in entries) and not node.optional:
        with suppress(EvaluationError):  # a key that cannot be one is told when the expression runs
            return constant(made(NOTHING))
    return Step(charged(made, costs.MAP))
