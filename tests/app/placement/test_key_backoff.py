"""What fails is tried again later and later, each object by itself."""

from __future__ import annotations

from bayplan.app.placement.key_backoff import KeyBackoff


def test_waits_double_up_to_the_longest() -> None:
    retries = KeyBackoff(1.0, 10.0)
    waits = []
    for _ in range(6):
        waits.append(retries.failed("a", 100.0))
        assert retries.is_waiting("a", 100.0 + waits[-1] - 0.1)
        assert retries.due(100.0 + waits[-1]) == {"a"}
    assert waits == [1, 2, 4, 8, 10, 10]


def test_one_that_fails_does_not_hold_up_another() -> None:
    retries = KeyBackoff(1.0, 10.0)
    for _ in range(4):
        retries.failed("a", 0.0)
    retries.failed("b", 0.0)
    assert retries.next_at == 1.0
    assert retries.due(1.0) == {"b"}
    assert not retries.is_waiting("c", 0.0)
    assert retries.due(8.0) == {"a"}
    assert retries.next_at == float("inf")


def test_success_makes_it_start_anew() -> None:
    retries = KeyBackoff(1.0, 10.0)
    retries.failed("a", 0.0)
    retries.failed("a", 1.0)
    assert len(retries) == 1
    retries.forget("a")
    assert (len(retries), retries.next_at) == (0, float("inf"))
    assert retries.failed("a", 5.0) == 1.0


def test_a_server_that_says_when_is_heard() -> None:
    retries = KeyBackoff(1.0, 10.0)
    assert retries.failed("a", 0.0, 30.0) == 30.0
    assert retries.due(29.0) == set()
    assert retries.due(30.0) == {"a"}
    assert retries.failed("a", 30.0) == 2.0
