"""
With the class cache on or off, the same seed gives the same decisions, pod by pod.

Two schedulers see the same random events: nodes that come, go, change labels and taints, pods of a few templates
that arrive in any order, pods that are deleted, priorities that preempt.  One carries classes over, the other
looks at every node for every pod.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest

from bayplan.clock import VirtualClock
from bayplan.engine.class_cache import ClassCache
from bayplan.engine.events import Bound, NodeAdded, NodeChanged, NodeDeleted, PodAdded, PodChanged, PodDeleted, Tick
from bayplan.engine.intents import Bind, Evict, Intent
from bayplan.engine.scheduler import Scheduler
from bayplan.framework.config_model import SchedulerConfig
from bayplan.objects.pod import Pod
from bayplan.plugins.registering import make_profiles, registry
from bayplan.testing.generating import random_node, random_pod
from bayplan.testing.harness import Recorder

TEMPLATES = 4


class World:
    """One scheduler and the cluster it lives in."""

    def __init__(self, *, remember: bool, seed: int) -> None:
        self.clock = VirtualClock(1_000_000_000.0)
        known, _ = registry(discover=False)
        self.scheduler = Scheduler(
            make_profiles(SchedulerConfig(), known),
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
            intents = self.scheduler.schedule_one()
            if intents is None:
                return
            for intent in intents:
                self._carry_out(intent)

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


def story(seed: int, world: World) -> list[str]:
    rng = Random(seed)
    nodes = {f"node-{i}": random_node(rng, f"node-{i}") for i in range(rng.randint(3, 14))}
    for node in nodes.values():
        world.scheduler.handle(NodeAdded(node))
    templates = [random_pod(rng, f"template-{i}", traits=0.2) for i in range(TEMPLATES)]
    for step in range(40):
        for _ in range(rng.randint(1, 4)):
            # Some are the only ones of their kind.
            template = rng.choice(templates) if rng.random() < 0.7 else random_pod(rng, "alone", traits=0.1)
            world.scheduler.handle(PodAdded(template_pod(template, f"pod-{step}-{rng.random():.6f}")))
        world.run()
        choice = rng.random()
        if choice < 0.15:
            name = f"node-{step}-new"
            nodes[name] = random_node(rng, name)
            world.scheduler.handle(NodeAdded(nodes[name]))
        elif choice < 0.25 and len(nodes) > 2:
            gone = nodes.pop(rng.choice(sorted(nodes)))
            world.scheduler.handle(NodeDeleted(gone))
        elif choice < 0.45:
            name = rng.choice(sorted(nodes))
            changed = random_node(rng, name)
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


def test_the_cache_is_really_used(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = []
    real = ClassCache.decide

    def counting(self: ClassCache, pod: Pod, seed: int, cycle: int) -> Any:
        decision = real(self, pod, seed, cycle)
        answered.append(decision is not None)
        return decision

    monkeypatch.setattr(ClassCache, "decide", counting)
    bound = [line for line in story(3, World(remember=True, seed=3)) if " -> " in line]

    assert sum(answered) > len(bound) / 2
