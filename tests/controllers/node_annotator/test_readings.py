"""The latest answer for a metric: when it is asked for again, and which values count."""

from __future__ import annotations

from bayplan.controllers.node_annotator.node_index import Loads
from bayplan.controllers.node_annotator.readings import Reading


def test_after_failures_it_is_asked_for_sooner_at_first_and_never_later_than_usual() -> None:
    reading = Reading("cpu", 300.0)
    usual = reading.pause_s
    assert reading.is_awaited
    waits = []
    for _ in range(6):
        reading.fail("no route")
        waits.append(reading.pause_s)
    assert not reading.is_awaited
    assert waits == sorted(waits)
    assert waits[:3] == [2.0, 4.0, 8.0]
    assert waits[-1] <= min(30.0, usual)
    reading.succeed(Loads(by_node={"n": 0.5}), 100.0)
    assert (reading.problem, reading.pause_s) == ("", usual)
    reading.fail("again")
    assert reading.pause_s == 2.0


def test_a_value_counts_only_if_it_was_taken_after_the_one_before() -> None:
    reading = Reading("cpu", 60.0)
    reading.succeed(Loads(by_node={"n": 0.5}), 100.0)
    assert reading.value("n", newer_than=99.0) == 0.5
    assert reading.value("n", newer_than=100.0) is None
    assert reading.value("other", newer_than=0.0) is None


def test_a_failure_keeps_the_last_answer() -> None:
    reading = Reading("cpu", 60.0)
    reading.succeed(Loads(by_node={"n": 0.5}), 100.0)
    reading.fail("down")
    assert reading.value("n", newer_than=0.0) == 0.5
