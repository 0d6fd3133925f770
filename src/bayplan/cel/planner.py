"""A checked tree to Python closures that work out the value and count the cost on the way.

`environment` calls `plan` once for an expression. Each closure takes the `Run` it belongs to. Kubernetes counts on
the plan of cel-go, so the plan is the same in what matters for the count: constants are free, lists and conversions
of constants are constants, a chain of fields costs one for each field and one for the whole, a condition is free and
so is the name that stands alone in a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from bayplan.cel import costs
from bayplan.cel.calls import Caller, call
from bayplan.cel.errors import CelError, CelRuntimeError, CostLimitError, EvaluationError, no_such_overload
from bayplan.cel.syntax import Call, Expr, Fold, Ident, ListLiteral, Literal, MapLiteral, Select, Source
from bayplan.cel.values import (
    MAPS,
    NONE,
    Growing,
    GrowingMap,
    Optional,
    Uint,
    find,
    keys,
    map_key,
    missing,
    type_name,
)

_UNSET: Final = object()
_CONVERSIONS = frozenset(["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"])


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
                    return _constant(node.names_type)
                return _read(scope[node.name])
            case Literal():
                return _constant(node.value)
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
            return _tested(operand, node.name)
        return _qualified(operand, _constant(node.name), is_optional=False)

    def _call(self, node: Call, scope: Scope) -> Step:
        name = node.function
        arguments = [self.plan(each, scope) for each in node.arguments]
        if node.target is not None:
            arguments.insert(0, self.plan(node.target, scope))
        if name == "_&&_" or name == "_||_":
            return _logical([each.run for each in arguments], decides=name == "_||_")
        if name == "_?_:_":
            return _condition(*arguments)
        if name in ("_[_]", "_[?_]", "_?._"):
            return _qualified(arguments[0], arguments[1], is_optional=name != "_[_]")
        if name in ("or", "orValue") and node.overloads[0].signature.parameters[0].name == "optional_type":
            return _otherwise(arguments[0].run, arguments[1].run, gives_value=name == "orValue")
        if name == "@in" and len(node.overloads) == 1 and arguments[1].is_constant:
            members = arguments[1].run(_NOTHING)
            if type(members) is list and node.overloads[0].name == "in_list":
                step = _member(arguments[0].run, members)
                if step is not None:
                    return step
        return self._planned_call(node, arguments)

    def _planned_call(self, node: Call, arguments: list[Step]) -> Step:
        assert node.declaration is not None
        constants = [each.run(_NOTHING) if each.is_constant else _UNSET for each in arguments]
        caller = Caller(node, [each.run for each in arguments], [None if c is _UNSET else (c,) for c in constants])
        try:
            made = call(caller)
            if node.function in _CONVERSIONS and len(arguments) == 1 and arguments[0].is_constant:
                return _constant(made(Run([], 2**63)))
        except CelRuntimeError as error:
            raise CelError(f"{self._source.place(node.at)}: {error}") from None
        return Step(made)

    def _fold(self, node: Fold, scope: Scope) -> Step:
        first = self.places
        self.places += 3
        start = self.plan(node.start, scope)
        over = self.plan(node.over, scope)
        outer = {**scope, node.accumulator: _accumulator(first, _initial(node, start))}
        inner = {**outer, node.variable: _value_at(first + 1)}
        if node.second:
            inner[node.second] = _value_at(first + 2)
        condition = self.plan(node.condition, inner)
        step = self.plan(node.step, inner).run
        result = self.plan(node.result, outer).run
        if condition.is_constant and not condition.run(_NOTHING):  # cel.bind: a loop that is never gone through
            return Step(_named(first, over.run, result))
        return Step(_loop(first, bool(node.second), over.run, condition, step, result))


_NOTHING: Final = Run([], 0)


def _constant(value: Any) -> Step:
    return Step(lambda run: value, is_constant=True)


def _charged(resolve: Closure, amount: int) -> Closure:
    def run(run: Run) -> Any:
        try:
            return resolve(run)
        finally:
            run.cost += amount

    return run


def _read(resolve: Closure) -> Step:
    return Step(_charged(resolve, costs.READ), resolve=resolve)


def _qualified(operand: Step, index: Step, is_optional: bool) -> Step:
    """A field or an index of what was read."""
    base = operand.resolve or operand.run
    if index.is_constant:
        resolve = _constant_key(base, index.run(_NOTHING), is_optional)
    else:
        resolve = _computed_key(base, index.resolve or index.run, is_optional)
    if operand.is_condition:
        return Step(resolve, resolve=resolve, is_condition=True)
    return Step(_charged(resolve, costs.READ), resolve=resolve)


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


def _tested(operand: Step, name: str) -> Step:
    """`has`: the test costs as much as the field, the chain itself is free."""
    base = operand.resolve or operand.run

    def resolve(run: Run) -> bool:
        value = base(run)
        if type(value) is Optional:
            return _optional(run, value, name).has_value
        run.cost += 1
        return find(value, name)[1]

    if operand.is_condition:
        return Step(_charged(resolve, -costs.READ), resolve=resolve, is_condition=True)
    return Step(resolve, resolve=resolve)


def _condition(asked: Step, truthy: Step, falsy: Step) -> Step:
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


def _otherwise(first: Closure, second: Closure, gives_value: bool) -> Step:
    """`or` and `orValue`: the second is worked out only if the first has no value."""

    def run(run: Run) -> Any:
        value = first(run)
        if type(value) is not Optional:
            return value
        if value.has_value:
            return value.value if gives_value else value
        return second(run)

    return Step(run)


def _member(value: Closure, members: list[Any]) -> Step | None:
    """`in` a list of constants; None if the list holds more than plain values."""
    if not members:
        return _constant(False)
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
        return _constant([each(_NOTHING) for each in runs])

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
        return _constant(made(_NOTHING))
    return Step(_charged(made, costs.MAP))


def _initial(node: Fold, start: Step) -> Closure:
    """What the accumulator begins with; an empty list or map of a comprehension is one that may grow."""
    if node.accumulator.startswith("@result"):
        if isinstance(node.start, ListLiteral) and not node.start.elements:
            return lambda run: Growing()
        if isinstance(node.start, MapLiteral) and not node.start.entries:
            return lambda run: GrowingMap()
    return start.run


def _accumulator(place: int, initial: Closure) -> Closure:
    """Worked out when it is first read, and an error is kept like a value."""

    def resolve(run: Run) -> Any:
        value = run.places[place]
        if value is _UNSET:
            try:
                value = initial(run)
            except EvaluationError as error:
                value = error
            run.places[place] = value
        if isinstance(value, EvaluationError):
            raise EvaluationError(*value.args)
        return value

    return resolve


def _named(place: int, over: Closure, result: Closure) -> Closure:
    def run(run: Run) -> Any:
        run.places[place] = _UNSET
        return result(run)

    return run


def _loop(place: int, is_double: bool, over: Closure, condition: Step, step: Closure, result: Closure) -> Closure:
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
