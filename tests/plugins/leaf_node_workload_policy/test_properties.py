"""Whatever the cluster: both forms agree, kept counts equal a recount, and remembering classes changes no decision."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from bayplan.engine.events import NodeAdded, NodeChanged, ObjectAdded, ObjectChanged, PodAdded, PodDeleted
from bayplan.engine.scheduler import Scheduler
from bayplan.framework.config.model import SchedulerConfig
from bayplan.objects.pod import ZONE_LABEL, Pod
from bayplan.objects.third_party.kosmos import WorkloadPolicy
from bayplan.plugins.defaults import OWN_PLUGINS
from bayplan.plugins.leaf_node_workload_policy.allocating import STATE
from bayplan.plugins.plugin_set import make_profiles, registry
from bayplan.testing import assert_forms_agree, pod
from bayplan.testing.generating import random_node
from bayplan.testing.harness import Recorder
from tests.plugins.kosmos import APP, asking, numbers, policy
from tests.plugins.leaf_node_workload_policy.support import Bench
from tests.properties.test_kept_answers_agree import World

ZONES = ("a", "b", "c", "nowhere")
REVISIONS = ("r1", "r2")


def random_policy(rng: Random) -> WorkloadPolicy:
    kind = rng.randrange(4)
    zones = rng.sample(ZONES, rng.randrange(1, 4))
    if kind == 0:
        domains = [{"name": zone, "weight": rng.randrange(1, 5)} for zone in zones]
    elif kind == 1:
        domains = [{"name": zone, "replicas": f"{100 // len(zones)}%"} for zone in zones]
    else:
        domains = numbers(**{zone: rng.randrange(6) for zone in zones})
        if kind == 2:
            domains[-1] = {"name": zones[-1], "remainder": True}
    return policy(
        *domains,
        topologyKey=ZONE_LABEL,
        allocationType=rng.choice(("Required", "Preferred")),
        allocationMethod=rng.choice(("Balance", "Fill")),
        unlistedDomains=rng.choice(("Deny", "Allow")),
        matchLabelKeys=rng.choice((["rev"], [])),
    )


def random_member(rng: Random, name: str, on: str = "") -> Any:
    made = pod(name).label({**APP, "rev": rng.choice(REVISIONS)})
    made = made if not on else made.on(on)
    return made.terminating() if on and rng.random() < 0.2 else made


@pytest.mark.parametrize("seed", range(40))
def test_both_forms_agree_and_counts_equal_a_recount(seed: int) -> None:
    rng = Random(seed)
    nodes = [random_node(rng, f"n{number}") for number in range(rng.randrange(1, 9))]
    there = [random_member(rng, f"p{number}", rng.choice(nodes).name) for number in range(rng.randrange(20))]
    bench = Bench(nodes, there, [random_policy(rng)])
    asked = asking().label(rev="r1")
    assert_forms_agree(bench.plugin, [asked], bench.cache)

    state = bench.prepared(asked)[STATE]
    zones = {each.name: each.labels.get(ZONE_LABEL) for each in nodes}
    counted = Counter(
        zones[each.node_name]
        for each in (builder.build() for builder in there)
        if not each.is_terminating and state.selector.matches(each.labels)
    )
    for zone, count in zip(state.values, state.counts, strict=False):
        assert count == counted[zone]


class PolicyWorld(World):
    """A world whose scheduler reads policies."""

    def __init__(self, *, remember: bool, seed: int) -> None:
        super().__init__(remember=remember, seed=seed)
        known, _ = registry(discover=False)
        self.scheduler = Scheduler(
            make_profiles(SchedulerConfig(), known, OWN_PLUGINS),
            clock=self.clock,
            writer=Recorder(),
            events=Recorder(),
            seed=seed,
            remember_classes=remember,
        )


def story(seed: int, world: World) -> list[str]:
    rng = Random(seed)
    nodes = {f"n{number}": random_node(rng, f"n{number}") for number in range(6)}
    made = random_policy(rng)
    world.scheduler.handle(ObjectAdded("WorkloadPolicy", made))
    for node in nodes.values():
        world.scheduler.handle(NodeAdded(node))
    for step in range(40):
        for _ in range(rng.randrange(1, 4)):
            world.scheduler.handle(PodAdded(newcomer(rng, f"p{step}-{rng.random():.6f}")))
        world.run()
        choice = rng.random()
        if choice < 0.2:
            changed = random_policy(rng)
            world.scheduler.handle(ObjectChanged("WorkloadPolicy", made, changed))
            made = changed
        elif choice < 0.4:
            name = rng.choice(sorted(nodes))
            moved = random_node(rng, name)
            world.scheduler.handle(NodeChanged(nodes[name], moved))
            nodes[name] = moved
        elif choice < 0.7 and world.placed:
            world.scheduler.handle(PodDeleted(world.placed.pop(rng.choice(sorted(world.placed)))))
        world.clock.advance(rng.choice([0.0, 1.0, 5.0]))
    return world.log


def newcomer(rng: Random, name: str) -> Pod:
    made = asking(name) if rng.random() < 0.7 else pod(name)
    return made.label(rev=rng.choice(REVISIONS)).tolerates().build()


@pytest.mark.parametrize("seed", range(12))
def test_remembering_classes_changes_no_decision_under_policies(seed: int) -> None:
    expected = story(seed, PolicyWorld(remember=False, seed=seed))
    assert story(seed, PolicyWorld(remember=True, seed=seed)) == expected
    assert len(expected) > 10
