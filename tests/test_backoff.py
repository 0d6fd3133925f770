"""Waits double with every failure in a row, up to a limit, and begin anew after a success."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.backoff import Backoff, backoff_s


def test_waits_double_up_to_the_limit_and_begin_anew_after_a_success() -> None:
    backoff = Backoff(0.5, 3.0)
    assert [backoff.failed() for _ in range(5)] == [0.5, 1.0, 2.0, 3.0, 3.0]
    backoff.succeeded()
    assert backoff.failures == 0
    assert backoff.failed() == 0.5


@pytest.mark.parametrize(("failures", "wait"), [(0, 0.0), (1, 1.0), (2, 2.0), (4, 8.0), (5, 10.0), (10**9, 10.0)])
def test_the_wait_follows_from_the_number_of_failures(failures: int, wait: float) -> None:
    assert backoff_s(failures, 1.0, 10.0) == wait


@given(st.integers(1, 10**6), st.floats(0.001, 1e6), st.floats(0.001, 1e9))
def test_no_wait_is_shorter_than_the_one_before_or_longer_than_the_limit(
    failures: int, first_s: float, longest_s: float
) -> None:
    wait = backoff_s(failures, first_s, longest_s)
    assert 0.0 < wait <= longest_s
    assert wait <= backoff_s(failures + 1, first_s, longest_s)
