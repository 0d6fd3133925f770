"""Lists taken as sets."""

from __future__ import annotations

from typing import Any

from bayplan.cel import costs
from bayplan.cel.functions import function
from bayplan.cel.values import equal


def _contains(values: list[Any], part: list[Any]) -> bool:
    return all(any(equal(each, other) for other in values) for each in part)


def _equivalent(left: list[Any], right: list[Any]) -> bool:
    return _contains(left, right) and _contains(right, left)


def _intersects(left: list[Any], right: list[Any]) -> bool:
    return any(equal(each, other) for each in left for other in right)


FUNCTIONS = (
    function("sets.contains", ("list_sets_contains_list", "(list<A>, list<A>) -> bool", _contains, costs.product(1))),
    function(
        "sets.equivalent", ("list_sets_equivalent_list", "(list<A>, list<A>) -> bool", _equivalent, costs.product(2))
    ),
    function(
        "sets.intersects", ("list_sets_intersects_list", "(list<A>, list<A>) -> bool", _intersects, costs.product(1))
    ),
)
