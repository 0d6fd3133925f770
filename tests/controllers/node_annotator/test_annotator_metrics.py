"""The annotator's own metrics and its advice."""

from __future__ import annotations

import pytest

from bayplan.controllers.node_annotator import annotator_metrics
from bayplan.controllers.node_annotator.node_index import Loads
from bayplan.controllers.node_annotator.readings import Reading
from bayplan.controllers.node_annotator.sync_plan import SyncPlan
from tests.controllers.node_annotator.faking import Numbers


@pytest.mark.parametrize(
    ("loads", "said"),
    [
        (Loads(), "no series; check that the recording rules are loaded"),
        (Loads(unmatched=7), "7 series, none with a node's InternalIP or name in the label instance"),
        (Loads(unusable=3), "3 series, none with a number from 0 on"),
    ],
)
def test_a_metric_that_helps_nobody_comes_with_advice(loads: Loads, said: str) -> None:
    assert annotator_metrics.advice(Reading("cpu", 180, loads=loads)).startswith(said)


def test_gauges_tell_what_is_known_and_what_is_not() -> None:
    plan, numbers = SyncPlan({"cpu": 180.0, "mem": 180.0}), Numbers()
    plan.observe("a", {"cpu": 1000.0}, 1000.0)
    plan.observe("b", {"cpu": 100.0}, 1000.0)
    asked = Reading("cpu", 180)
    asked.succeed(Loads({"a": 0.5}, matched=2, duplicate=1, unmatched=4, unusable=3), 990.0)
    failed = Reading("mem", 180)
    failed.fail("down")
    annotator_metrics.publish(numbers, [asked, failed], plan, ["a", "b"], 1000.0)
    assert numbers.gauges == {
        ("nodes",): 2,
        ("reading_age_seconds", "cpu"): 10,
        ("prometheus_up", "cpu"): 1,
        ("prometheus_up", "mem"): 0,
        ("series", "cpu", "matched"): 2,
        ("series", "cpu", "duplicate"): 1,
        ("series", "cpu", "unmatched"): 4,
        ("series", "cpu", "unusable"): 3,
        **{("series", "mem", state): 0 for state in ("matched", "duplicate", "unmatched", "unusable")},
        ("nodes_without_value", "cpu"): 1,
        ("nodes_without_value", "mem"): 2,
        ("stale_nodes", "cpu"): 1,
        ("stale_nodes", "mem"): 2,
    }
