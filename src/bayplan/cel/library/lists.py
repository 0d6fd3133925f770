"""Lists: sums and extremes, positions, slices, order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key
from typing import Any

from bayplan.cel import costs
from bayplan.cel.errors import CostLimitError, EvaluationError
from bayplan.cel.functions import Cost, Function, function
from bayplan.cel.library.operators import duration, signed, unsigned
from bayplan.cel.values import NONE, Duration, Optional, Uint, compare, equal, size

_COMPARED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_LONGEST = 1_000_000
"""A list of numbers that is longer costs more than any limit, so it is not made."""


def _is_sorted(values: list[Any]) -> bool:
    return all(compare(values[index], values[index + 1]) <= 0 for index in range(len(values) - 1))


def _extreme(values: list[Any], sign: int, name: str) -> Any:
    if not values:
        raise EvaluationError(f"{name} called on empty list")
    best = values[0]
    for each in values[1:]:
        if compare(each, best) * sign > 0:
            best = each
    return best


def _total(values: list[Any]) -> Any:
    if not values:
        return 0
    kind = type(values[0])
    if kind is float:
        return sum(values, 0.0)
    bounded = {int: signed, Uint: unsigned, Duration: duration}[kind]
    total = 0
    for each in values:
        total = int(bounded(total + int(each)))
    return bounded(total)


def _zero_total(zero: Any) -> Any:
    return lambda values: _total(values) if values else zero


def _index_of(values: list[Any], item: Any) -> int:
    return next((index for index, each in enumerate(values) if equal(each, item)), -1)


def _last_index_of(values: list[Any], item: Any) -> int:
    return next((index for index in range(len(values) - 1, -1, -1) if equal(values[index], item)), -1)


def _slice(values: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(values) < end:
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(values)}")
    return values[start:end]


def _flatten(values: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    made: list[Any] = []
    for each in values:
        if type(each) is list and depth > 0:
            made += _flatten(each, depth - 1)
        else:
            made.append(each)
    return made


def _sorted_by(values: list[Any], keys: list[Any]) -> list[Any]:
    if len(values) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            f"but got {len(values)} and {len(keys)} elements respectively"
        )
    if any(type(each) is not type(keys[0]) for each in keys):
        raise EvaluationError("list elements must have the same type")
    ordered = cmp_to_key(compare)
    order = sorted(range(len(values)), key=lambda index: ordered(keys[index]))
    return [values[index] for index in order]


def _distinct(values: list[Any]) -> list[Any]:
    made: list[Any] = []
    for each in values:
        if not any(equal(each, other) for other in made):
            made.append(each)
    return made


def _range(count: int) -> list[int]:
    if count > _LONGEST:
        raise CostLimitError
    return list(range(count))


def _first(values: list[Any]) -> Optional:
    return Optional(True, values[0]) if values else NONE


def _last(values: list[Any]) -> Optional:
    return Optional(True, values[-1]) if values else NONE


def _flattened(arguments: Sequence[Any], result: Any) -> int:
    depth = arguments[1] if len(arguments) == 2 else 1
    return int(size(arguments[0]) * float(max(0, depth))) + 1 + costs.LIST


def _self_compared(which: int) -> Any:
    def cost(arguments: Sequence[Any], result: Any) -> int:
        values = arguments[which]
        if type(values) is not list:
            return 1
        factor = 2.0 + (costs.PER_CHARACTER if values and type(values[0]) in (str, bytes) else 0)
        return int(len(values) ** 2 * factor) + 1 + costs.LIST

    return cost


def _each(name: str, overload: str, result: str, run: Any, cost: Cost = 1) -> Function:
    """The function for lists of every type that has an order."""
    made = [(overload.format(each), f"list<{each}>.() -> {result.format(each)}", run) for each in _COMPARED]
    return function(name, *made, cost=cost)


FUNCTIONS = (
    _each("isSorted", "list_{}_is_sorted_bool", "bool", _is_sorted, cost=costs.elements),
    function(
        "sum",
        ("list_int_sum_int", "list<int>.() -> int", _zero_total(0)),
        ("list_uint_sum_uint", "list<uint>.() -> uint", _zero_total(Uint(0))),
        ("list_double_sum_double", "list<double>.() -> double", _zero_total(0.0)),
        ("list_duration_sum_duration", "list<duration>.() -> duration", _zero_total(Duration(0))),
        cost=costs.elements,
    ),
    _each("max", "list_{0}_max_{0}", "{}", lambda values: _extreme(values, 1, "max"), cost=costs.elements),
    _each("min", "list_{0}_min_{0}", "{}", lambda values: _extreme(values, -1, "min"), cost=costs.elements),
    function("indexOf", ("list_a_index_of_int", "list<A>.(A) -> int", _index_of), cost=costs.elements),
    function("lastIndexOf", ("list_a_last_index_of_int", "list<A>.(A) -> int", _last_index_of), cost=costs.elements),
    function("slice", ("list_slice", "list<A>.(int, int) -> list<A>", _slice, costs.new_list)),
    function(
        "flatten",
        ("list_flatten", "list<list<A>>.() -> list<A>", _flatten, _flattened),
        ("list_flatten_int", "list<dyn>.(int) -> list<dyn>", _flatten, _flattened),
    ),
    _each("sort", "list_{}_sort", "list<{}>", lambda values: _sorted_by(values, values), _self_compared(0)),
    function(
        "@sortByAssociatedKeys",
        *[
            (f"list_{each}_sortByAssociatedKeys", f"list<A>.(list<{each}>) -> list<A>", _sorted_by, _self_compared(1))
            for each in _COMPARED
        ],
    ),
    function("lists.range", ("lists_range", "(int) -> list<int>", _range, costs.new_list)),
    function("reverse", ("list_reverse", "list<A>.() -> list<A>", lambda values: values[::-1], costs.new_list)),
    function("distinct", ("list_distinct", "list<A>.() -> list<A>", _distinct, _self_compared(0))),
    function("first", ("list_first", "list<A>.() -> optional<A>", _first)),
    function("last", ("list_last", "list<A>.() -> optional<A>", _last)),
)
