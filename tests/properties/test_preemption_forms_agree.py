"""
Preemption over columns says what preemption node by node says: the same candidates, victims, choice and words.

Random clusters with priorities, budgets, start times in the past and the future, extended resources, pods that are
nominated, pods that are leaving, full and tainted nodes.  Things change between questions, since answers are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from bayplan.engine.events import NodeAdded, NodeDeleted, ObjectAdded, PodDeleted
from bayplan.engine.filtering import FEW_NODES
from bayplan.engine.node_filters import NodeFilters
from bayplan.framework.decision import Decision
from bayplan.framework.preemption.dry_run import RowsDryRun
from bayplan.framework.preemption.ranked_pods import RankedPods
from bayplan.framework.preemption.victims import Candidate, DryRun, cost
from bayplan.framework.results import PostFilterResult
from bayplan.framework.status import Code, Status
from bayplan.objects.meta import LabelSelector, ObjectMeta
from bayplan.objects.pod import Pod
from bayplan.objects.policy import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from bayplan.plugins import IN_TREE
from bayplan.plugins.default_preemption import DefaultPreemption, hash_of
from bayplan.plugins.defaults import DEFAULT_PLUGINS
from bayplan.testing import NodeBuilder, PodBuilder, node, pod
from tests.engine.support import START, World

SEEDS = range(60)
GPU = "example.com/gpu"
APPS = ("db", "web", "batch")
PRIORITIES = (-10, 0, 0, 5, 5, 100)


def moment(after_s: float) -> str:
    return datetime.fromtimestamp(START + after_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def a_node(rng: Random, name: str) -> NodeBuilder:
    made = node(name).cpu(rng.choice((2, 4, 8))).memory("8Gi").pods(rng.choice((3, 6, 110))).zone(rng.choice("ab"))
    if rng.random() < 0.3:
        made = made.scalar(GPU, rng.randint(1, 4))
    if rng.random() < 0.1:
        made = made.taint("odd")
    return made


def a_pod(rng: Random, name: str) -> PodBuilder:
    made = pod(name).priority(rng.choice(PRIORITIES)).memory(rng.choice(("128Mi", "1Gi", "3Gi")))
    made = made.cpu(rng.choice(("500m", 1, 2, 3)))
    if rng.random() < 0.8:
        made = made.label(app=rng.choice(APPS))
    if rng.random() < 0.2:
        made = made.scalar(GPU, rng.randint(1, 2))
    if rng.random() < 0.2:
        made = made.overhead(cpu="100m", memory="64Mi")
    if rng.random() < 0.6:
        made = made.started(moment(rng.choice((-100, -100, -50, 0, 50))))
    return made.terminating() if rng.random() < 0.1 else made


def a_preemptor(rng: Random, name: str, nodes: list[str], looks_at_pods: bool) -> Pod:
    made = pod(name).priority(rng.choice((0, 5, 6, 100, 1000))).cpu(rng.choice((1, 2, 4, 9))).memory("1Gi")
    if rng.random() < 0.2:
        made = made.scalar(GPU, rng.randint(1, 3))
    if rng.random() < 0.2:
        made = made.node_selector({"topology.kubernetes.io/zone": "a"})
    if rng.random() < 0.2 and len(nodes) > FEW_NODES:
        # PreFilter narrows the search to these.
        for each in nodes[: FEW_NODES + 1]:
            made = made.requires_node_term(fields=[("metadata.name", "In", each)])
    if looks_at_pods:
        made = made.label(app="db").anti_affinity({"app": "db"}, "kubernetes.io/hostname")
    return made.build()


def a_budget(rng: Random, name: str) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace="default", uid=name),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"app": rng.choice(APPS)})),
        status=PodDisruptionBudgetStatus(disruptions_allowed=rng.randint(0, 2)),
    )


class Story:
    """A world that changes, and preemptors that come."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        classes = {cls.name: cls for cls in IN_TREE}
        self.world = World(*(classes[each.name] for each in DEFAULT_PLUGINS), seed=seed)
        self.nodes = [f"n{number}" for number in range(self.rng.randint(2, 9))]
        self.pods: list[Pod] = []
        for name in self.nodes:
            self.world.scheduler.handle(NodeAdded(a_node(self.rng, name).build()))
        for number in range(self.rng.randint(4, 40)):
            self.add_pod(f"first-{number}")
        if self.rng.random() < 0.6:
            self.add_budget("some")
        plugin = self.world.plugin("DefaultPreemption")
        plugin.args = plugin.args.model_copy(
            update={"min_candidate_nodes_absolute": self.rng.choice((1, 2, 100)), "min_candidate_nodes_percentage": 0}
        )

    def add_pod(self, name: str) -> None:
        made = a_pod(self.rng, name).on(self.rng.choice(self.nodes)).build()
        self.pods.append(made)
        self.world.add(made)

    def add_budget(self, name: str) -> None:
        self.world.scheduler.handle(ObjectAdded("PodDisruptionBudget", a_budget(self.rng, name)))

    def preemptors(self) -> Iterator[Pod]:
        """Each is to be asked about at once; then the next thing happens."""
        for step in range(12):
            boss = a_preemptor(self.rng, f"boss-{step}", self.nodes, looks_at_pods=self.rng.random() < 0.1)
            if self.rng.random() < 0.2:
                # It has preempted before, and must not be in its own way.
                self.world.queue.nominations.nominate(boss, self.rng.choice(self.nodes))
            yield boss
            self.world.queue.nominations.remove(boss.uid)
            self.happen(step)

    def happen(self, step: int) -> None:
        rng, world = self.rng, self.world
        match rng.randrange(6):
            case 0 if self.pods:
                world.scheduler.handle(PodDeleted(self.pods.pop(rng.randrange(len(self.pods)))))
            case 1:
                self.add_pod(f"later-{step}")
            case 2:
                self.add_budget(rng.choice(("some", "other")))
            case 3 if len(self.nodes) > 2:
                name = self.nodes.pop(rng.randrange(len(self.nodes)))
                row = world.cache.nodes.row_of(name)
                assert row is not None
                world.scheduler.handle(NodeDeleted(world.cache.nodes.object_at(row)))
            case 4:
                world.scheduler.handle(NodeAdded(a_node(rng, rng.choice(self.nodes)).build()))
            case _:
                expected = a_pod(rng, f"expected-{step}").priority(rng.choice((0, 100, 1000))).build()
                world.queue.nominations.nominate(expected, rng.choice(self.nodes))
        world.clock.advance(rng.choice((0.0, 0.0, 60.0)))


def asked(world: World, boss: Pod) -> tuple[Decision, Any]:
    decision = world.scheduler.decide(boss)
    if decision.node is not None:
        return decision, None
    assert decision.diagnosis is not None
    plugin: DefaultPreemption = world.plugin("DefaultPreemption")
    return decision, plugin.post_filter(decision.state, boss, decision.diagnosis)


def told(decision: Decision, result: Any) -> dict[str, Any]:
    """All that anybody can see of it."""
    diagnosis = decision.diagnosis
    assert diagnosis is not None
    return {
        "node": decision.node,
        "message": decision.message,
        "nomination": decision.nomination,
        "victims": [each.name for each in decision.victims],
        "nos": [diagnosis.status_of(row) for row in range(len(diagnosis.nodes))],
        "candidates": [*result.candidates] if isinstance(result, PostFilterResult) else result,
    }


def by_hand(world: World, boss: Pod, decision: Decision) -> list[Candidate]:
    """The rule as it is written down, one node after the other."""
    plugin: DefaultPreemption = world.plugin("DefaultPreemption")
    assert plugin.handle is not None
    assert decision.diagnosis is not None
    rows = decision.diagnosis.rows_with(Code.UNSCHEDULABLE).tolist()
    dry_run = DryRun(boss, decision.state, plugin.handle.filters, plugin._budgets(), world.clock.now())
    clean: list[Candidate] = []
    violating: list[Candidate] = []
    start, enough = (hash_of(boss.uid) + world.scheduler.seed) % max(1, len(rows)), plugin.how_many(len(rows))
    for row in [*rows[start:], *rows[:start]]:
        if clean and len(clean) + len(violating) >= enough:
            break
        found = dry_run.victims_on(decision.diagnosis.nodes.node(row))
        if not isinstance(found, Status):
            (violating if found.pdb_violations else clean).append(found)
    return clean[:enough] + violating[:enough]


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_say_what_node_by_node_says(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(seed)
    for boss in story.preemptors():
        decision, result = asked(story.world, boss)
        actual = told(decision, result)
        with monkeypatch.context() as patch:
            patch.setattr(NodeFilters, "goes_by_columns", lambda self, state, calls: False)
            patch.setattr(RankedPods, "with_lower", lambda self, nodes, rows, priority: rows)
            expected = told(*asked(story.world, boss))
        assert actual == expected
        if decision.node is None:
            candidates = by_hand(story.world, boss, decision)
            assert actual["candidates"] == candidates or not candidates
            if candidates:
                chosen = min(candidates, key=lambda each: cost(each, story.world.clock.now()))
                assert result.nomination.node_name == chosen.node_name
                assert result.victims == chosen.victims


def test_both_forms_are_really_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """And candidates that break a budget, several victims on one node, and expected pods are among the cases."""
    by_columns: list[bool] = []
    seen: list[Candidate] = []
    run = RowsDryRun.run

    def spied(self: RowsDryRun, *about: Any) -> Any:
        found = run(self, *about)
        by_columns.append(found is not None)
        if found is not None:
            seen.extend(found.candidates)
            assert found.costs.tolist() == [[*cost(each, self._now)] for each in found.candidates]
        return found

    monkeypatch.setattr(RowsDryRun, "run", spied)
    for seed in SEEDS:
        story = Story(seed)
        for boss in story.preemptors():
            asked(story.world, boss)
    assert by_columns.count(True) > 200
    assert by_columns.count(False) > 20
    assert sum(each.pdb_violations > 0 for each in seen) > 100
    assert sum(len(each.victims) > 1 for each in seen) > 200
    assert sum(each.pdb_violations == 0 for each in seen) > 200
