"""The operators: arithmetic in 64 bits that fails on overflow, comparisons, `in`, and the logical ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from bayplan.cel import costs
from bayplan.cel.errors import EvaluationError, no_such_overload
from bayplan.cel.functions import Function, function
from bayplan.cel.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    Duration,
    Growing,
    GrowingMap,
    Timestamp,
    Uint,
    compare,
    equal,
    keys,
    map_key,
)

_NANOS = 10**9
_FIRST_SECOND, _LAST_SECOND = -62135596800, 253402300799  # the years 1 to 9999


def signed(number: int) -> int:
    if INT_MIN <= number <= INT_MAX:
        return number
    raise EvaluationError("integer overflow")


def unsigned(number: int) -> Uint:
    if 0 <= number <= UINT_MAX:
        return Uint(number)
    raise EvaluationError("unsigned integer overflow")


def duration(nanoseconds: int) -> Duration:
    if INT_MIN <= nanoseconds <= INT_MAX:
        return Duration(nanoseconds)
    raise EvaluationError("duration overflow")


def timestamp(nanoseconds: int) -> Timestamp:
    if _FIRST_SECOND <= nanoseconds // _NANOS <= _LAST_SECOND:
        return Timestamp(nanoseconds)
    raise EvaluationError("timestamp overflow")


def _divided(left: int, right: int) -> int:
    """Towards zero, as Go divides."""
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("modulus by zero")
    if left == INT_MIN and right == -1:
        raise EvaluationError("integer overflow")
    return int(math.copysign(1, left)) * (abs(left) % abs(right))


def _divided_double(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _product_double(left: float, right: float) -> float:
    return left * right


def _joined(left: list[Any], right: list[Any]) -> list[Any]:
    if type(left) is Growing:
        left.extend(right)
        return left
    return left + right


def _inserted(target: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    stored = map_key(key)
    if stored in target:
        raise EvaluationError(f"insert failed: key {key} already exists")
    return _with(target, {stored: value})


def _inserted_all(target: dict[Any, Any], entries: dict[Any, Any]) -> dict[Any, Any]:
    for each in keys(entries):
        if map_key(each) in target:
            raise EvaluationError(f"insert failed: key {each} already exists")
    return _with(target, entries)


def _with(target: dict[Any, Any], entries: dict[Any, Any]) -> dict[Any, Any]:
    if type(target) is GrowingMap:
        target.update(entries)
        return target
    return {**target, **entries}


def _equals(left: Any, right: Any) -> bool:
    """A version, an address and the like can be compared with its own kind only."""
    if hasattr(left, "cel_type") and (type(left) is not type(right) or getattr(right, "is_computed", False)):
        raise no_such_overload()
    return equal(left, right)


def _differs(left: Any, right: Any) -> bool:
    try:
        return not _equals(left, right)
    except EvaluationError:
        return True


def _in_list(value: Any, members: list[Any]) -> bool:
    return any(equal(value, each) for each in members)


def _in_map(value: Any, entries: dict[Any, Any]) -> bool:
    try:
        return map_key(value) in entries
    except EvaluationError:
        return False


def _negated(value: bool) -> bool:
    return not value


_ORDERED = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_NUMERIC = ("int", "uint", "double")


def _comparison(symbol: str, holds: Callable[[int], bool]) -> Function:
    def run(left: Any, right: Any) -> bool:
        return holds(compare(left, right))

    pairs = [(each, each) for each in _ORDERED]
    pairs += [(one, other) for one in _NUMERIC for other in _NUMERIC if one != other]
    overloads = [
        (
            f"{one}_{symbol}_{other}",
            f"({one}, {other}) -> bool",
            run,
            costs.shorter if one in ("string", "bytes") else 1,
        )
        for one, other in pairs
    ]
    return function(f"_{symbol}_", *overloads)


def _never(*arguments: Any) -> Any:
    raise AssertionError("the planner has its own way for this operator")


FUNCTIONS = (
    function("_?_:_", ("conditional", "(bool, A, A) -> A", _never)),
    function("_&&_", ("logical_and", "(bool, bool) -> bool", _never)),
    function("_||_", ("logical_or", "(bool, bool) -> bool", _never)),
    function("!_", ("logical_not", "(bool) -> bool", _negated)),
    function("@not_strictly_false", ("not_strictly_false", "(bool) -> bool", _never)),
    function("_==_", ("equals", "(A, A) -> bool", _equals, costs.equality)),
    function("_!=_", ("not_equals", "(A, A) -> bool", _differs, costs.shorter)),
    function(
        "_+_",
        ("add_bytes", "(bytes, bytes) -> bytes", lambda left, right: left + right, costs.both),
        ("add_double", "(double, double) -> double", lambda left, right: left + right),
        ("add_duration_duration", "(duration, duration) -> duration", lambda a, b: duration(int(a) + int(b))),
        ("add_duration_timestamp", "(duration, timestamp) -> timestamp", lambda a, b: timestamp(int(a) + int(b))),
        ("add_timestamp_duration", "(timestamp, duration) -> timestamp", lambda a, b: timestamp(int(a) + int(b))),
        ("add_int64", "(int, int) -> int", lambda left, right: signed(left + right)),
        ("add_list", "(list<A>, list<A>) -> list<A>", _joined),
        ("add_string", "(string, string) -> string", lambda left, right: left + right, costs.both),
        ("add_uint64", "(uint, uint) -> uint", lambda left, right: unsigned(int(left) + int(right))),
    ),
    function(
        "_-_",
        ("subtract_double", "(double, double) -> double", lambda left, right: left - right),
        ("subtract_duration_duration", "(duration, duration) -> duration", lambda a, b: duration(int(a) - int(b))),
        ("subtract_int64", "(int, int) -> int", lambda left, right: signed(left - right)),
        ("subtract_timestamp_duration", "(timestamp, duration) -> timestamp", lambda a, b: timestamp(int(a) - int(b))),
        ("subtract_timestamp_timestamp", "(timestamp, timestamp) -> duration", lambda a, b: duration(int(a) - int(b))),
        ("subtract_uint64", "(uint, uint) -> uint", lambda left, right: unsigned(int(left) - int(right))),
    ),
    function(
        "_*_",
        ("multiply_double", "(double, double) -> double", _product_double),
        ("multiply_int64", "(int, int) -> int", lambda left, right: signed(left * right)),
        ("multiply_uint64", "(uint, uint) -> uint", lambda left, right: unsigned(int(left) * int(right))),
    ),
    function(
        "_/_",
        ("divide_double", "(double, double) -> double", _divided_double),
        ("divide_int64", "(int, int) -> int", lambda left, right: signed(_divided(left, right))),
        ("divide_uint64", "(uint, uint) -> uint", lambda left, right: unsigned(_divided(int(left), int(right)))),
    ),
    function(
        "_%_",
        ("modulo_int64", "(int, int) -> int", _remainder),
        ("modulo_uint64", "(uint, uint) -> uint", lambda left, right: unsigned(_remainder(int(left), int(right)))),
    ),
    function(
        "-_",
        ("negate_double", "(double) -> double", lambda value: -value),
        ("negate_int64", "(int) -> int", lambda value: signed(-value)),
    ),
    _comparison("<", lambda order: order < 0),
    _comparison("<=", lambda order: order <= 0),
    _comparison(">", lambda order: order > 0),
    _comparison(">=", lambda order: order >= 0),
    function(
        "_[_]",
        ("index_list", "(list<A>, int) -> A", _never),
        ("index_map", "(map<A, B>, A) -> B", _never),
        ("optional_list_index_int", "(optional<list<A>>, int) -> optional<A>", _never),
        ("optional_map_index_value", "(optional<map<A, B>>, A) -> optional<B>", _never),
    ),
    function(
        "_[?_]",
        ("list_optindex_optional_int", "(list<A>, int) -> optional<A>", _never),
        ("optional_list_optindex_optional_int", "(optional<list<A>>, int) -> optional<A>", _never),
        ("map_optindex_optional_value", "(map<A, B>, A) -> optional<B>", _never),
        ("optional_map_optindex_optional_value", "(optional<map<A, B>>, A) -> optional<B>", _never),
    ),
    function(
        "@in",
        ("in_list", "(A, list<A>) -> bool", _in_list, costs.second_size),
        ("in_map", "(A, map<A, B>) -> bool", _in_map),
    ),
    function(
        "cel.@mapInsert",
        ("@mapInsert_map_key_value", "(map<A, B>, A, B) -> map<A, B>", _inserted),
        ("@mapInsert_map_map", "(map<A, B>, map<A, B>) -> map<A, B>", _inserted_all),
    ),
)
