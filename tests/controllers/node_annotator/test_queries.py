"""How often a metric is asked for: often enough for every node's turn, never more often than it is of use."""

from __future__ import annotations

import pytest

from bayplan.controllers.node_annotator.node_index import Loads
from bayplan.controllers.node_annotator.queries import pause_s
from bayplan.controllers.node_annotator.readings import Reading


@pytest.mark.parametrize(("period", "pause"), [(1, 1), (10, 5), (180, 18), (900, 60), (10800, 60)])
def test_a_metric_is_asked_for_ten_times_a_period_within_reason(period: float, pause: float) -> None:
    assert pause_s(period) == pause


def test_after_a_failure_it_is_asked_again_soon_and_then_less_often() -> None:
    reading = Reading("cpu", 900)
    pauses = []
    for _ in range(6):
        reading.fail("down")
        pauses.append(reading.pause_s)
    assert pauses == [2, 4, 8, 16, 30, 30]
    reading.succeed(Loads({"n": 0.5}), 100.0)
    assert (reading.pause_s, reading.problem) == (60, "")


def test_a_value_is_given_only_if_it_is_news() -> None:
    reading = Reading("cpu", 180)
    assert reading.value("n", float("-inf")) is None
    reading.succeed(Loads({"n": 0.5}), 100.0)
    assert reading.value("n", 99.0) == 0.5
    assert reading.value("n", 100.0) is None
    assert reading.value("other", 0.0) is None
