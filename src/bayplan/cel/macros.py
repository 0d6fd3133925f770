"""Calls that are rewritten while parsing: `has`, the comprehensions, `cel.bind`, `optMap` and `sortBy`.

Each comprehension becomes a `Fold`. The steps are those of cel-go, because the cost of an expression is counted on
what a macro expands to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from bayplan.cel.errors import CelError
from bayplan.cel.syntax import Call, Expr, Fold, Ident, ListLiteral, Literal, MapLiteral, Select

Problem: TypeAlias = Callable[[int, str], CelError]

ACCUMULATOR = "@result"
_SORTED = "@sortBy_input"
_UNUSED = "#unused"


def expand(call: Call, problem: Problem) -> Expr:
    """The call itself, if it is not a macro."""
    count = len(call.arguments)
    if call.target is None:
        return _has(call, problem) if call.function == "has" and count == 1 else call
    if call.function == "bind" and count == 3 and isinstance(call.target, Ident) and call.target.name == "cel":
        return _bind(call, problem)
    macro = _MACROS.get((call.function, count))
    return macro(call, call.target, problem) if macro is not None else call


def _has(call: Call, problem: Problem) -> Expr:
    (asked,) = call.arguments
    if not isinstance(asked, Select) or asked.is_test:
        raise problem(asked.at, "invalid argument to has() macro")
    return Select(asked.operand, asked.name, call.at, is_test=True)


def _variable(given: Expr, problem: Problem) -> str:
    if not isinstance(given, Ident):
        raise problem(given.at, "argument must be a simple name")
    if given.name in (ACCUMULATOR, "__result__"):
        raise problem(given.at, "iteration variable overwrites accumulator variable")
    return given.name


def _let(name: str, value: Expr, result: Expr, at: int) -> Fold:
    """A name for a value: a fold over nothing. The value is not worked out before it is used."""
    never = Literal(False, at)
    return Fold(ListLiteral([], at), _UNUSED, "", name, value, never, Ident(name, at), result, at)


def _bind(call: Call, problem: Problem) -> Expr:
    variable, value, result = call.arguments
    if not isinstance(variable, Ident):
        raise problem(variable.at, "cel.bind() variable names must be simple identifiers")
    return _let(variable.name, value, result, call.at)


class _Loop:
    """The parts that the comprehension macros are put together from."""

    def __init__(self, call: Call, over: Expr, variables: int, problem: Problem) -> None:
        self._at, self._over = call.at, over
        names = [_variable(each, problem) for each in call.arguments[:variables]]
        if len(set(names)) < len(names):
            raise problem(call.arguments[1].at, f"duplicate variable name: {names[0]}")
        self.first, self.second = names[0], names[1] if variables == 2 else ""

    @property
    def result(self) -> Ident:
        return Ident(ACCUMULATOR, self._at)

    def call(self, function: str, *arguments: Expr) -> Call:
        return Call(function, None, list(arguments), self._at)

    def literal(self, value: object) -> Literal:
        return Literal(value, self._at)

    def fold(self, start: Expr, condition: Expr, step: Expr, result: Expr | None = None) -> Fold:
        end = self.result if result is None else result
        return Fold(self._over, self.first, self.second, ACCUMULATOR, start, condition, step, end, self._at)

    def collect(self, start: Expr, step: Expr, condition: Expr | None) -> Fold:
        if condition is not None:
            step = self.call("_?_:_", condition, step, self.result)
        return self.fold(start, self.literal(True), step)

    def empty_list(self) -> Expr:
        return ListLiteral([], self._at)

    def appended(self, value: Expr) -> Expr:
        return self.call("_+_", self.result, ListLiteral([value], self._at))


def _all(variables: int) -> Callable[[Call, Expr, Problem], Expr]:
    def made(call: Call, over: Expr, problem: Problem) -> Expr:
        loop = _Loop(call, over, variables, problem)
        step = loop.call("_&&_", loop.result, call.arguments[-1])
        return loop.fold(loop.literal(True), loop.call("@not_strictly_false", loop.result), step)

    return made


def _exists(variables: int) -> Callable[[Call, Expr, Problem], Expr]:
    def made(call: Call, over: Expr, problem: Problem) -> Expr:
        loop = _Loop(call, over, variables, problem)
        step = loop.call("_||_", loop.result, call.arguments[-1])
        condition = loop.call("@not_strictly_false", loop.call("!_", loop.result))
        return loop.fold(loop.literal(False), condition, step)

    return made


def _exists_one(variables: int) -> Callable[[Call, Expr, Problem], Expr]:
    def made(call: Call, over: Expr, problem: Problem) -> Expr:
        loop = _Loop(call, over, variables, problem)
        step = loop.call("_?_:_", call.arguments[-1], loop.call("_+_", loop.result, loop.literal(1)), loop.result)
        result = loop.call("_==_", loop.result, loop.literal(1))
        return loop.fold(loop.literal(0), loop.literal(True), step, result)

    return made


def _transform(variables: int) -> Callable[[Call, Expr, Problem], Expr]:
    """`map` and `transformList`, with or without a condition before the new value."""

    def made(call: Call, over: Expr, problem: Problem) -> Expr:
        loop = _Loop(call, over, variables, problem)
        value, condition = _value_and_condition(call.arguments[variables:])
        return loop.collect(loop.empty_list(), loop.appended(value), condition)

    return made


def _value_and_condition(rest: Sequence[Expr]) -> tuple[Expr, Expr | None]:
    return rest[-1], rest[0] if len(rest) == 2 else None


def _filter(call: Call, over: Expr, problem: Problem) -> Expr:
    loop = _Loop(call, over, 1, problem)
    return loop.collect(loop.empty_list(), loop.appended(Ident(loop.first, call.at)), call.arguments[1])


def _transform_map(call: Call, over: Expr, problem: Problem) -> Expr:
    loop = _Loop(call, over, 2, problem)
    value, condition = _value_and_condition(call.arguments[2:])
    step = loop.call("cel.@mapInsert", loop.result, Ident(loop.first, call.at), value)
    return loop.collect(MapLiteral([], call.at), step, condition)


def _transform_map_entry(call: Call, over: Expr, problem: Problem) -> Expr:
    loop = _Loop(call, over, 2, problem)
    entries, condition = _value_and_condition(call.arguments[2:])
    step = loop.call("cel.@mapInsert", loop.result, entries)
    return loop.collect(MapLiteral([], call.at), step, condition)


def _optional_map(wrapped: bool) -> Callable[[Call, Expr, Problem], Expr]:
    def made(call: Call, target: Expr, problem: Problem) -> Expr:
        variable, value = call.arguments
        if not isinstance(variable, Ident):
            raise problem(variable.at, f"{call.function}() variable name must be a simple identifier")
        result: Expr = _let(variable.name, Call("value", target, [], call.at), value, call.at)
        if wrapped:
            result = Call("optional.of", None, [result], call.at)
        has_value = Call("hasValue", target, [], call.at)
        return Call("_?_:_", None, [has_value, result, Call("optional.none", None, [], call.at)], call.at)

    return made


def _sort_by(call: Call, target: Expr, problem: Problem) -> Expr:
    if isinstance(target, (Literal, MapLiteral)):
        raise problem(
            target.at, "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        )
    items = Ident(_SORTED, call.at)
    keys = _transform(1)(call, items, problem)
    return _let(_SORTED, target, Call("@sortByAssociatedKeys", items, [keys], call.at), call.at)


_MACROS: dict[tuple[str, int], Callable[[Call, Expr, Problem], Expr]] = {
    ("all", 2): _all(1),
    ("all", 3): _all(2),
    ("exists", 2): _exists(1),
    ("exists", 3): _exists(2),
    ("exists_one", 2): _exists_one(1),
    ("existsOne", 2): _exists_one(1),
    ("existsOne", 3): _exists_one(2),
    ("map", 2): _transform(1),
    ("map", 3): _transform(1),
    ("filter", 2): _filter,
    ("transformList", 3): _transform(2),
    ("transformList", 4): _transform(2),
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
    ("optMap", 2): _optional_map(wrapped=True),
    ("optFlatMap", 2): _optional_map(wrapped=False),
    ("sortBy", 2): _sort_by,
}
