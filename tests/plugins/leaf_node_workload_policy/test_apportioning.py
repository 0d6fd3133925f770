"""Numbers as they stand, percentages of the total, weights of the rest, and one domain for all that is left."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.objects.third_party.kosmos import DomainAllocation
from bayplan.plugins.leaf_node_workload_policy.apportioning import desired, shared


def domains(*written: Any) -> list[DomainAllocation]:
    """5: replicas, "40%": a percentage, ("weight", 2), "rest"."""
    made = []
    for number, each in enumerate(written):
        fields: dict[str, Any] = {"replicas": each}
        if isinstance(each, tuple):
            fields = {"weight": each[1]}
        elif each == "rest":
            fields = {"remainder": True}
        made.append(msgspec.convert({"name": f"d{number}", **fields}, DomainAllocation))
    return made


@pytest.mark.parametrize(
    ("written", "total", "numbers"),
    [
        ([5, 3], 0, [5, 3]),
        ([5, 3], 100, [5, 3]),
        (["50%", "50%"], 8, [4, 4]),
        (["50%", "50%"], 7, [4, 3]),
        (["25%", "75%"], 4, [1, 3]),
        (["33%", "33%", "34%"], 3, [1, 1, 1]),
        (["40%", "40%"], 10, [4, 4]),
        (["0%", "100%"], 5, [0, 5]),
        ([("weight", 1), ("weight", 1)], 5, [3, 2]),
        ([("weight", 5), ("weight", 3)], 8, [5, 3]),
        ([("weight", 5), ("weight", 3)], 16, [10, 6]),
        ([2, ("weight", 1), ("weight", 3)], 10, [2, 2, 6]),
        ([2, "50%", "rest"], 10, [2, 5, 3]),
        ([2, "50%", ("weight", 1)], 10, [2, 5, 3]),
        ([5, "rest"], 3, [5, 0]),
        ([5, ("weight", 1)], 3, [5, 0]),
        (["rest"], 7, [7]),
        ([1, "50%"], 0, [1, 0]),
    ],
)
def test_domains_get_numbers_then_percentages_then_the_rest(written: list[Any], total: int, numbers: list[int]) -> None:
    assert desired(domains(*written), total) == numbers


weights = st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any)


@given(weights, st.integers(0, 500))
def test_parts_add_up_and_none_falls_when_the_total_grows(given_weights: list[int], total: int) -> None:
    parts = shared(total, given_weights)
    more = shared(total + 1, given_weights)

    assert sum(parts) == total
    assert all(after >= before for before, after in zip(parts, more, strict=True))
    assert all(part == 0 for part, weight in zip(parts, given_weights, strict=True) if weight == 0)


def by_hand(total: int, given_weights: list[int]) -> list[int]:
    """One after the other to whoever has the most of his share coming, as the method is told in books."""
    parts = [0] * len(given_weights)
    for _ in range(total):
        owed = [weight / (2 * part + 1) for part, weight in zip(parts, given_weights, strict=True)]
        parts[owed.index(max(owed))] += 1
    return parts


@given(st.lists(st.integers(0, 7), min_size=1, max_size=5).filter(any), st.integers(0, 40))
def test_the_quick_way_gives_what_the_slow_way_gives(given_weights: list[int], total: int) -> None:
    assert shared(total, given_weights) == by_hand(total, given_weights)


def test_a_total_of_millions_is_shared_at_once() -> None:
    assert shared(10_000_000, [1, 2, 7]) == [1_000_000, 2_000_000, 7_000_000]
