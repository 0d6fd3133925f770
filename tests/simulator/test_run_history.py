"""What is noted of a run: moments, attempts, and the scores of the choice that was made."""

from __future__ import annotations

from tests.simulator.support import Manifest, node, pod, workload
from tests.view.support import ran

CLUSTER: list[Manifest] = [
    *(node(f"n{n}", str(4 + n)) for n in range(5)),
    workload("Deployment", "web", "500m", replicas=12),
    pod("big", "99"),
]


def test_decisions_are_the_same_with_and_without_a_history() -> None:
    kept, without = ran(*CLUSTER), ran(*CLUSTER, keeps_history=False)
    assert [p.node_name for p in kept.cluster.living()] == [p.node_name for p in without.cluster.living()]
    assert without.history is None


def test_every_choice_has_its_scores_beside_those_of_the_runner_up() -> None:
    world = ran(*CLUSTER)
    assert world.history is not None
    bound = [p for p in world.cluster.living() if p.node_name]
    assert len(bound) == 12
    for each in bound:
        scored = world.history.scored[each.uid]
        assert scored.node == each.node_name != scored.runner_up
        assert sum(scored.scores.values()) == scored.total >= scored.runner_up_total
        assert sum(scored.runner_up_scores.values()) == scored.runner_up_total
        assert (scored.ties > 1) == (scored.total == scored.runner_up_total)


def test_moments_count_from_the_beginning() -> None:
    world = ran(*CLUSTER)
    assert world.history is not None
    first, *_, last = world.history.moments
    assert (first.bound, last.bound, last.failed, last.waiting) == (0, 12, 1, 1)


def test_victims_are_counted_and_attempts_remembered() -> None:
    later = {"annotations": {"simulation.bayplan.io/arrives": "10s"}}
    world = ran(node("n1"), pod("low", "3"), pod("high", "3", priority=5, meta=later))
    assert world.history is not None
    high = world.cluster.pod("default/high")
    assert high is not None
    failed, bound = world.history.attempts(high.uid)
    assert world.history.moments[-1].preempted == 1
    assert "Insufficient cpu" in failed.message
    assert (bound.node, bound.message) == ("n1", "")
    assert 10 <= failed.at <= bound.at
