"""Who would have to go: victims on one node, disruption budgets, and the order candidates are compared in."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import PluginError
from bayplan.framework.cycle_state import CycleState, Key
from bayplan.framework.preemption.disruption_budgets import DisruptionBudgets
from bayplan.framework.preemption.victims import NO_VICTIMS, Candidate, DryRun, best
from bayplan.framework.preemption.what_if_rows import WhatIfRows
from bayplan.framework.snapshot import NodeView
from bayplan.framework.status import Code, Status, unschedulable
from bayplan.objects.meta import LabelSelector, ObjectMeta
from bayplan.objects.pod import Pod
from bayplan.objects.policy import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from bayplan.testing import PodBuilder, cluster, node, pod

NOW = 2_000_000_000.0
FULL = unschedulable("Insufficient cpu")
SEEN: Key[Seen] = Key("seen")


class Seen:
    """What a plugin remembers of pods that are imagined."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)

    def clone(self) -> Seen:
        return Seen(*self.names)


class ByCpu:
    """Filters by CPU alone; tells in the state which pods came and went."""

    def __init__(self, breaks_without: str = "") -> None:
        self.breaks_without = breaks_without
        self.last: Seen | None = None

    def fits(self, state: CycleState, pod: Pod, node: NodeView) -> Status:
        self.last = state[SEEN]
        if self.breaks_without and self.breaks_without not in {each.name for each in node.pods}:
            raise PluginError("Odd", "Filter", pod.key, ValueError("cannot say"))
        room = node.alloc_cpu_milli - node.req_cpu_milli
        return Status() if room >= pod.requests.cpu_milli else FULL

    def over_rows(self, state: CycleState, pod: Pod, rows: WhatIfRows) -> None:
        return None

    def add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        assert other.uid in {each.uid for each in node.pods}
        state[SEEN].names.append(f"+{other.name}")

    def remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        assert other.uid not in {each.uid for each in node.pods}
        state[SEEN].names.append(f"-{other.name}")


def budget(name: str, allowed: int, disrupted: tuple[str, ...] = (), **labels: str) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace="default", uid=f"pdb-{name}"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels=labels)),
        status=PodDisruptionBudgetStatus(
            disruptions_allowed=allowed, disrupted_pods=dict.fromkeys(disrupted, "2026-01-01T00:00:00Z")
        ),
    )


def runs(name: str, cpu: int | str = 1, priority: int = 0, **labels: str) -> PodBuilder:
    return pod(name).on("n1").cpu(cpu).priority(priority).label(labels)


def dry_run(
    preemptor: PodBuilder,
    pods: list[PodBuilder],
    budgets: tuple[PodDisruptionBudget, ...] = (),
    filters: ByCpu | None = None,
    state: CycleState | None = None,
) -> Candidate | Status:
    """On one node with four CPUs."""
    if state is None:
        state = CycleState()
        state[SEEN] = Seen()
    view = cluster([node("n1").cpu(4)], pods).nodes.node(0)
    return DryRun(preemptor.build(), state, filters or ByCpu(), DisruptionBudgets(budgets), NOW).victims_on(view)


def victims(found: Candidate | Status) -> list[str]:
    assert isinstance(found, Candidate), found
    return [each.name for each in found.victims]


BOSS = pod("boss").priority(100).cpu(2)
OLD, MIDDLE, YOUNG = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        # the least important one goes, the others are put back
        ([runs("low", 2, 1), runs("high", 2, 5)], ["low"]),
        # as few as possible: the important one goes alone only if the others are not enough
        ([runs("a", 1, 1), runs("b", 1, 2), runs("c", 2, 3)], ["b", "a"]),
        # equal priority: whoever runs longer stays
        ([runs("young", 2).started(YOUNG), runs("old", 2).started(OLD)], ["young"]),
        # without a start time it counts as started now
        ([runs("new", 2), runs("old", 2).started(YOUNG)], ["new"]),
        # terminating pods are victims like others
        ([runs("leaving", 2).terminating(), runs("stays", 2, 5)], ["leaving"]),
        # one that is too large to stay goes, however important it is
        ([runs("a", 1, 1), runs("b", "2500m", 3), runs("c", "500m", 2)], ["b"]),
        # equal or higher priority never goes
        ([runs("equal", 1, 100), runs("higher", 1, 200), runs("low", 2, 99)], ["low"]),
    ],
)
def test_victims_on_a_node(pods: list[PodBuilder], expected: list[str]) -> None:
    assert victims(dry_run(BOSS, pods)) == expected


def test_without_lower_pods_there_is_nobody_to_evict() -> None:
    found = dry_run(BOSS, [runs("equal", 4, 100)])
    assert found is NO_VICTIMS
    assert NO_VICTIMS.code is Code.UNRESOLVABLE
    assert NO_VICTIMS.message == "No preemption victims found for incoming pod"


def test_when_even_all_leaving_does_not_help_the_filters_no_is_the_answer() -> None:
    assert dry_run(BOSS.cpu(3), [runs("stays", 2, 100), runs("low", 2)]) is FULL


def test_a_node_where_nobody_has_to_go_is_an_error() -> None:
    found = dry_run(BOSS, [runs("low", 1)])
    assert found == Status(Code.ERROR, ('expected at least one victim pod on node "n1"',))


def test_those_protected_by_a_budget_are_put_back_first() -> None:
    protected, other = runs("protected", 2, 1, app="db"), runs("other", 2, 5)
    assert victims(dry_run(BOSS, [protected, other])) == ["protected"]
    found = dry_run(BOSS, [protected, other], (budget("db", 0, app="db"),))
    assert victims(found) == ["other"]
    assert isinstance(found, Candidate)
    assert found.pdb_violations == 0


def test_violations_are_counted_among_the_victims_only() -> None:
    pods = [runs("a", 1, 1, app="db"), runs("b", 1, 2, app="db"), runs("c", 2, 3, app="db")]
    found = dry_run(BOSS, pods, (budget("db", 0, app="db"),))
    assert isinstance(found, Candidate)
    assert (victims(found), found.pdb_violations) == (["b", "a"], 2)


def test_victims_are_told_most_important_first_whoever_was_tried_first() -> None:
    pods = [runs("protected", 3, 1, app="db"), runs("other", 3, 5)]
    assert victims(dry_run(BOSS, pods, (budget("db", 0, app="db"),))) == ["other", "protected"]


def test_plugins_follow_every_pod_that_is_taken_and_put_back() -> None:
    filters, state = ByCpu(), CycleState()
    state[SEEN] = Seen("start")
    dry_run(BOSS, [runs("low", 2, 1), runs("high", 2, 5)], filters=filters, state=state)
    assert filters.last is not None
    assert filters.last.names == ["start", "-low", "-high", "+high", "+low", "-low"]
    assert state[SEEN].names == ["start"]


def test_a_plugin_that_breaks_on_a_node_spoils_that_node_alone() -> None:
    found = dry_run(BOSS, [runs("low", 2, 1), runs("high", 2, 5)], filters=ByCpu(breaks_without="high"))
    assert isinstance(found, Status)
    assert found.is_error
    assert found.plugin == "Odd"
    assert found.message == "plugin Odd failed in Filter for pod default/boss: ValueError: cannot say"


# -- the best node --


def candidate(name: str, *made: PodBuilder, violations: int = 0) -> Candidate:
    pods = sorted((each.build() for each in made), key=lambda each: -each.priority)
    return Candidate(name, tuple(pods), violations)


@pytest.mark.parametrize(
    ("worse", "better"),
    [
        pytest.param(
            candidate("w", runs("a", priority=1), violations=1),
            candidate("b", runs("a", priority=9), runs("b", priority=9)),
            id="fewer broken budgets",
        ),
        pytest.param(
            candidate("w", runs("a", priority=5)),
            candidate("b", runs("a", priority=4), runs("b", priority=4), runs("c", priority=4)),
            id="a lower highest priority",
        ),
        pytest.param(
            candidate("w", runs("a", priority=5), runs("b", priority=4)),
            candidate("b", runs("a", priority=5), runs("b", priority=3)),
            id="a smaller sum of priorities",
        ),
        pytest.param(
            candidate("w", runs("a", priority=-5), runs("b", priority=-5)),
            candidate("b", runs("a", priority=-5)),
            id="fewer pods even of negative priority",
        ),
        pytest.param(
            candidate("w", runs("a").started(OLD), runs("b").started(YOUNG)),
            candidate("b", runs("a").started(MIDDLE), runs("b").started(MIDDLE)),
            id="the eldest of the highest started later",
        ),
        pytest.param(
            candidate("w", runs("a", priority=3).started(OLD), runs("b", priority=1).started(YOUNG)),
            candidate("b", runs("a", priority=3).started(MIDDLE), runs("b", priority=1).started(OLD)),
            id="only the highest priority's start counts",
        ),
        pytest.param(
            candidate("w", runs("a").started(YOUNG)), candidate("b", runs("a")), id="no start time is the latest"
        ),
    ],
)
def test_the_best_candidate_hurts_least(worse: Candidate, better: Candidate) -> None:
    assert best([worse, better], NOW) is better
    assert best([better, worse], NOW) is better


def test_the_number_of_pods_decides_when_the_sums_are_equal() -> None:
    offset = 1 << 31
    one = candidate("one", runs("a", priority=0))
    two = candidate("two", runs("a", priority=0), runs("b", priority=-offset))
    assert best([two, one], NOW) is one


def test_a_single_candidate_is_the_best() -> None:
    only: Any = candidate("only", runs("a"))
    assert best([only], NOW) is only
