"""The time line: counts by when, thinned where there are many."""

from __future__ import annotations

from bayplan.view.timeline import MOST_POINTS, timeline
from tests.simulator.support import node, pod, workload
from tests.view.support import ran


def test_a_run_of_one_moment_goes_by_attempts() -> None:
    told = timeline(ran(node("n1"), workload("Deployment", "web", replicas=3), pod("big", "99")))
    assert told is not None
    series = {each["name"]: each["values"] for each in told["series"]}
    assert told["unit"] == "attempts"
    assert told["at"] == [0, 1, 2, 3, 4]
    assert series["bound"] == [0, 1, 2, 3, 3]
    assert series["waiting"] == [4, 3, 2, 1, 1]
    assert series["failed attempts"] == [0, 0, 0, 0, 1]
    assert "preempted" not in series


def test_a_run_that_takes_time_goes_by_seconds() -> None:
    told = timeline(ran(node("n1"), pod("a"), run_for_s=60.0))
    assert told is not None
    assert told["unit"] == "s"
    assert told["at"] == [0, 0, 60]
    assert told["series"][1] == {"name": "bound", "values": [0, 1, 1]}


def test_many_moments_are_thinned_and_the_last_is_there() -> None:
    world = ran(
        node("n1", "200"), node("n2", "200"), workload("ReplicaSet", "web", "1m", replicas=3 * MOST_POINTS // 2)
    )
    told = timeline(world)
    assert told is not None
    assert len(told["at"]) <= MOST_POINTS + 1
    bound = next(each["values"] for each in told["series"] if each["name"] == "bound")
    assert bound == sorted(bound)
    assert bound[-1] == sum(bool(each.node_name) for each in world.cluster.living())


def test_nothing_was_tried() -> None:
    assert timeline(ran(node("n1"))) is None
