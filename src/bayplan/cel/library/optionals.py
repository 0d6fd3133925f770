"""Values that may be missing. The planner runs `or` and `orValue`: the second value is worked out only if needed."""

from __future__ import annotations

from typing import Any

from bayplan.cel.errors import EvaluationError
from bayplan.cel.functions import function
from bayplan.cel.values import NONE, Optional, shown


def _of_non_zero(value: Any) -> Optional:
    is_zero = value is None or (type(value) in (bool, int, float, str, bytes, list, dict) and not value)
    return NONE if is_zero else Optional(True, value)


def _unwrapped(values: list[Any]) -> list[Any]:
    for each in values:
        if type(each) is not Optional:
            raise EvaluationError(f"value {shown(each)} is not optional")
    return [each.value for each in values if each.has_value]


def _first_with_value(first: Optional, second: Any) -> Any:
    return first if first.has_value else second


FUNCTIONS = (
    function("optional.of", ("optional_of", "(A) -> optional<A>", lambda value: Optional(True, value))),
    function("optional.ofNonZeroValue", ("optional_ofNonZeroValue", "(A) -> optional<A>", _of_non_zero)),
    function("optional.none", ("optional_none", "() -> optional<A>", lambda: NONE)),
    function("value", ("optional_value", "optional<A>.() -> A", lambda given: given.value)),
    function("hasValue", ("optional_hasValue", "optional<A>.() -> bool", lambda given: given.has_value)),
    function("or", ("optional_or_optional", "optional<A>.(optional<A>) -> optional<A>", _first_with_value)),
    function("orValue", ("optional_orValue_value", "optional<A>.(A) -> A", _first_with_value)),
    function("optional.unwrap", ("optional_unwrap", "(list<optional<A>>) -> list<A>", _unwrapped)),
    function("unwrapOpt", ("optional_unwrapOpt", "list<optional<A>>.() -> list<A>", _unwrapped)),
)
