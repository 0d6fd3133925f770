"""
With answers kept or not, the same seed gives the same decisions, pod by pod.

Two schedulers see the same random events: nodes that come, go, change labels and taints, pods of a few templates
that arrive in any order, pods that are deleted, priorities that preempt.  One carries classes over, pod by pod or in
runs, the other looks at every node for every pod.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import msgspec
import pytest

from bayplan.clock import VirtualClock
from bayplan.engine.batch import Batch
from bayplan.engine.evaluation import Evaluator
from bayplan.engine.events import (
    Bound,
    NodeAdded,
    NodeChanged,
    NodeDeleted,
    ObjectAdded,
    PodAdded,
    PodChanged,
    PodDeleted,
    Tick,
)
from bayplan.engine.intents import Bind, Evict, Intent
from bayplan.engine.scheduler import Scheduler
from bayplan.framework.config.model import SchedulerConfig
from bayplan.framework.snapshot import COLUMNS
from bayplan.objects.node import HOSTNAME_LABEL, Node
from bayplan.objects.pod import ZONE_LABEL, Pod
from bayplan.plugins.plugin_set import make_profiles, registry
from bayplan.testing.builders import api_object, node, pod
from bayplan.testing.generating import random_node, random_pod
from bayplan.testing.harness import Recorder

TEMPLATES = 4
SERVICE = api_object("Service", "web", spec={"selector": {"app": "web"}}).build()
REPLICA_SET = api_object("ReplicaSet", "web", spec={"selector": {"matchLabels": {"app": "web"}}}).build()


class World:
    """One scheduler and the cluster it lives in."""

    def __init__(
        self,
        *,
        remember: bool,
        seed: int,
        most: int = 1,
        sizes: Iterable[int] = (),
        config: SchedulerConfig | None = None,
    ) -> None:
        self.most = most
        self.sizes: list[int] = []
        """How many pods were scheduled before anything was done about them, each time."""
        self._given = iter(sizes)
        self.clock = VirtualClock(1_000_000_000.0)
        known, _ = registry(discover=False)
        self.scheduler = Scheduler(
            make_profiles(config or SchedulerConfig(), known),
            clock=self.clock,
            writer=Recorder(),
            events=Recorder(),
            seed=seed,
            remember_classes=remember,
        )
        self.log: list[str] = []
        self.placed: dict[str, Pod] = {}

    def run(self) -> None:
        """Schedule until nothing can be scheduled; binds and evictions succeed at once."""
        for _ in range(300):
            self.scheduler.handle(Tick())
            intents = self._some()
            if intents is None:
                return
            for intent in intents:
                self._carry_out(intent)

    def _some(self) -> list[Intent] | None:
        if self.most == 1:
            outcomes = self.scheduler.schedule(1)
            for _ in range(0 if outcomes is None else next(self._given, 1) - 1):
                outcomes = [*(outcomes or ()), *(self.scheduler.schedule(1) or ())]
        else:
            outcomes = self.scheduler.schedule(self.most)
            if outcomes is not None:
                self.sizes.append(len(outcomes))
        return None if outcomes is None else [intent for outcome in outcomes for intent in outcome.intents]

    def _carry_out(self, intent: Intent) -> None:
        match intent:
            case Bind(queued, decision):
                self.log.append(f"{decision.pod.name} -> {decision.node}, {decision.ties} tied")
                assert decision.node is not None
                self.scheduler.queue.done(decision.pod.uid)
                self.scheduler.handle(Bound(queued, decision))
                placed = decision.pod.assigned_to(decision.node)
                self.scheduler.handle(PodChanged(decision.pod, placed))
                self.placed[placed.uid] = placed
            case Evict(preemptor, node_name, victims):
                names = sorted(victim.name for victim in victims)
                self.log.append(f"{preemptor.name} evicts {names} from {node_name}")


def template_pod(template: Pod, name: str) -> Pod:
    meta = msgspec.structs.replace(template.metadata, name=name, uid=f"uid-{name}")
    return template.evolve(metadata=meta)


def plain_node(rng: Random, name: str) -> Node:
    """Nodes of which many are alike."""
    return (
        node(name).cpu(rng.choice(("2", "4"))).memory("16Gi").pods(rng.choice((8, 110))).zone(rng.choice("ab")).build()
    )


def random_templates(rng: Random, traits: float) -> list[Pod]:
    return [random_pod(rng, f"template-{i}", traits=traits) for i in range(TEMPLATES)]


def deployments(rng: Random, traits: float) -> list[Pod]:
    """The usual pods: of a ReplicaSet, spread by default or by what they write, beside or away from one another."""
    web, db = {"app": "web"}, {"app": "db"}
    plain = pod("web").label(web).owned_by("ReplicaSet", "web").cpu(rng.choice(("50m", "200m"))).memory("64Mi")
    kinds = [
        plain,
        pod("db").label(db).cpu("100m"),
        plain.spread(ZONE_LABEL, rng.choice((1, 2)), selector=web),
        plain.spread(ZONE_LABEL, 1, selector=web, hard=False),
        plain.spread(HOSTNAME_LABEL, 2, selector=web).spread(ZONE_LABEL, 3, selector=web),
        plain.anti_affinity(web, HOSTNAME_LABEL),
        plain.affinity(rng.choice((web, db)), ZONE_LABEL),
        plain.prefers_pods(5, web, ZONE_LABEL),
        plain.avoids_pods(5, db, HOSTNAME_LABEL),
    ]
    return [each.build() for each in rng.sample(kinds, TEMPLATES)] + [plain.build()]


def story(
    seed: int,
    world: World,
    traits: float = 0.2,
    arrivals: int = 4,
    make_node: Callable[[Random, str], Node] = random_node,
    make_templates: Callable[[Random, float], list[Pod]] = random_templates,
) -> list[str]:
    rng = Random(seed)
    for kind, thing in (("Service", SERVICE), ("ReplicaSet", REPLICA_SET)):
        world.scheduler.handle(ObjectAdded(kind, thing))
    nodes = {f"node-{i}": make_node(rng, f"node-{i}") for i in range(rng.randint(3, 14))}
    for each in nodes.values():
        world.scheduler.handle(NodeAdded(each))
    templates = make_templates(rng, traits)
    for step in range(40):
        template = rng.choice(templates)
        for _ in range(rng.randint(1, arrivals)):
            # Some are the only ones of their kind, and some follow others of theirs.
            if rng.random() < 0.5:
                template = rng.choice(templates) if rng.random() < 0.7 else random_pod(rng, "alone", traits=traits / 2)
            world.scheduler.handle(PodAdded(template_pod(template, f"pod-{step}-{rng.random():.6f}")))
        world.run()
        choice = rng.random()
        if choice < 0.15:
            name = f"node-{step}-new"
            nodes[name] = make_node(rng, name)
            world.scheduler.handle(NodeAdded(nodes[name]))
        elif choice < 0.25 and len(nodes) > 2:
            gone = nodes.pop(rng.choice(sorted(nodes)))
            world.scheduler.handle(NodeDeleted(gone))
        elif choice < 0.45:
            name = rng.choice(sorted(nodes))
            changed = make_node(rng, name)
            world.scheduler.handle(NodeChanged(nodes[name], changed))
            nodes[name] = changed
        elif choice < 0.65 and world.placed:
            uid = rng.choice(sorted(world.placed))
            world.scheduler.handle(PodDeleted(world.placed.pop(uid)))
        world.clock.advance(rng.choice([0.0, 1.0, 5.0]))
    return world.log


@pytest.mark.parametrize("seed", range(40))
def test_remembering_classes_changes_no_decision(seed: int) -> None:
    expected = story(seed, World(remember=False, seed=seed))

    actual = story(seed, World(remember=True, seed=seed))

    assert actual == expected
    assert expected, "a story in which nothing is placed proves nothing"


@pytest.mark.parametrize("seed", range(100, 160))
def test_placing_pods_in_runs_changes_neither_decisions_nor_columns(seed: int) -> None:
    in_runs = World(remember=True, seed=seed, most=Random(seed).randint(2, 9))
    actual = story(seed, in_runs, 0.06, 12, plain_node)
    one_by_one = World(remember=False, seed=seed, sizes=in_runs.sizes)

    assert story(seed, one_by_one, 0.06, 12, plain_node) == actual
    assert columns(in_runs) == columns(one_by_one)


@pytest.mark.parametrize("seed", range(300, 340))
def test_deployments_are_placed_in_one_go_as_one_pod_at_a_time(seed: int) -> None:
    in_batches = World(remember=True, seed=seed, most=Random(seed).randint(2, 30))
    actual = story(seed, in_batches, 0.0, 14, plain_node, deployments)
    one_by_one = World(remember=False, seed=seed, sizes=in_batches.sizes)

    assert story(seed, one_by_one, 0.0, 14, plain_node, deployments) == actual
    assert columns(in_batches) == columns(one_by_one)
    assert max(in_batches.sizes) > 1


def test_of_a_hundred_pods_of_a_deployment_nearly_all_go_in_one_go() -> None:
    world = World(remember=True, seed=1, most=128)
    for kind, thing in (("Service", SERVICE), ("ReplicaSet", REPLICA_SET)):
        world.scheduler.handle(ObjectAdded(kind, thing))
    for number in range(20):
        world.scheduler.handle(NodeAdded(node(f"n{number}").cpu("8").memory("32Gi").zone("abc"[number % 3]).build()))
    template = pod("web").label(app="web").owned_by("ReplicaSet", "web").cpu("100m").build()
    for number in range(100):
        world.scheduler.handle(PodAdded(template_pod(template, f"web-{number}")))
    world.run()

    assert len(world.log) == 100
    assert max(world.sizes) >= 95
    evaluators = world.scheduler._evaluators.values()
    assert any(each._last is not None and each._last[1].left.alone.all for each in evaluators), "spread is asked about"


def columns(world: World) -> dict[str, Any]:
    """What is kept of every node."""
    nodes = world.scheduler.cache.nodes
    sums = {name: getattr(nodes, name).tolist() for name in COLUMNS}
    return {"names": list(nodes.names), "pods": [list(pods) for pods in nodes.pods], **sums}


def test_the_cache_is_really_used(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = []
    real = Evaluator._from_memory

    def counting(self: Evaluator, pod: Pod, settings: Any) -> Any:
        decision = real(self, pod, settings)
        answered.append(decision is not None)
        return decision

    monkeypatch.setattr(Evaluator, "_from_memory", counting)
    bound = [line for line in story(3, World(remember=True, seed=3)) if " -> " in line]

    assert sum(answered) > len(bound) / 2


def test_runs_are_really_made(monkeypatch: pytest.MonkeyPatch) -> None:
    placed = []
    real = Batch.place

    def counting(self: Batch, pod: Pod, number: int) -> Any:
        placed.append(pod.name)
        return real(self, pod, number)

    monkeypatch.setattr(Batch, "place", counting)
    bound = [
        line
        for seed in range(100, 110)
        for line in story(seed, World(remember=True, seed=seed, most=8), 0.06, 12, plain_node)
        if " -> " in line
    ]

    assert len(placed) > len(bound) / 10
