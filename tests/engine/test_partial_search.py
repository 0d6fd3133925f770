"""A search that stops early: how many feasible nodes are enough, and what such a search has not seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.engine.partial_search import how_many


@pytest.mark.parametrize(
    ("total", "percentage", "enough"),
    [
        (99, 10, 99),
        (100, 0, 100),
        (1000, 0, 420),
        (5000, 0, 500),
        (10000, 0, 500),
        (1000, 50, 500),
        (1000, 1, 100),
        (1000, 100, 1000),
    ],
)
def test_how_many_are_enough_is_kube_schedulers_rule(total: int, percentage: int, enough: int) -> None:
    assert how_many(total, percentage) == enough


@given(st.integers(0, 100_000), st.integers(0, 100))
def test_never_more_than_there_are_and_never_fewer_than_a_hundred(total: int, percentage: int) -> None:
    enough = how_many(total, percentage)
    assert min(total, 100) <= enough <= total
