"""
With answers about devices kept or not, the same seed gives the same nodes and the same devices, pod by pod.

Two schedulers see the same random events: slices that come, change and go, devices that others take and free, classes
and taint rules that change, binds that fail before or after claims are written.  Most pods are of a few templates and
get claims of their own, most of which ask for the same.
"""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest

from bayplan.engine.evaluation import Evaluator
from bayplan.engine.events import (
    BindFailed,
    Bound,
    NodeAdded,
    NodeChanged,
    ObjectAdded,
    ObjectChanged,
    ObjectDeleted,
    PodAdded,
    PodChanged,
    PodDeleted,
)
from bayplan.engine.intents import Bind, Intent
from bayplan.framework.config.loading import load_config
from bayplan.framework.status import failed
from bayplan.objects.devices.device_class import DeviceTaintRule
from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.plugins.dynamic_resources.plugin import RESERVED
from bayplan.testing.builders import node, pod
from tests.plugins.dynamic_resources.device_building import asks, claim, device, device_class, request, slice_of
from tests.properties.test_kept_answers_agree import World

DOMAIN = "gpu.example.com"
EXTENDED = "example.com/gpu"
LARGE, SMALL = (f'device.attributes["{DOMAIN}"].model == "{model}"' for model in ("large", "small"))

ASKED: tuple[tuple[Any, ...], ...] = (
    ((request(),), ()),
    ((request("r0", LARGE),), ()),
    ((request("r0", SMALL, count=2),), ()),
    ((request("r0", count=2),), ({"matchAttribute": f"{DOMAIN}/numa"},)),
    (({"name": "r0", "firstAvailable": [{"name": "two", **asks(LARGE, count=2)}, {"name": "one", **asks()}]},), ()),
    ((request("r0", SMALL), request("r1", LARGE)), ()),
    ((request("r0", capacity={"requests": {"memory": "2Gi"}}),), ()),
)


class DeviceWorld(World):
    """A scheduler, its cluster, and the claims of its pods."""

    claims: dict[str, list[ResourceClaim]]

    def tell(self, old: Any, new: Any) -> None:
        kind = type(old or new).__name__
        if old is None:
            self.scheduler.handle(ObjectAdded(kind, new))
        else:
            self.scheduler.handle(ObjectDeleted(kind, old) if new is None else ObjectChanged(kind, old, new))

    def _carry_out(self, intent: Intent) -> None:
        if not isinstance(intent, Bind):
            super()._carry_out(intent)
            return
        decision = intent.decision
        reserved, name = decision.state.get(RESERVED), decision.pod.name
        taken = [] if reserved is None else reserved.taken
        given = [
            [f"{each.pool}/{each.device}" for each in (one.allocation or one.claim.status.allocation).devices.results]
            for one in taken
        ]
        self.log.append(f"{name} -> {decision.node} with {given}, {decision.ties} tied")
        fate = Random(name + str(decision.node)).random()
        if fate > 0.1:
            self._write(decision.pod, taken)
        self.scheduler.queue.done(decision.pod.uid)
        if fate < 0.2:
            self.scheduler.handle(BindFailed(intent.queued, decision, failed("the network is down")))
            return
        assert decision.node is not None
        placed = decision.pod.assigned_to(decision.node)
        self.scheduler.handle(Bound(intent.queued, decision))
        self.scheduler.handle(PodChanged(decision.pod, placed))
        self.placed[placed.uid] = placed

    def _write(self, bound: Pod, taken: list[Any]) -> None:
        for number, one in enumerate(taken):
            if one.allocation is not None and one.extended is None:
                written = one.claim.evolve(status=msgspec.structs.replace(one.claim.status, allocation=one.allocation))
                self.tell(one.claim, written)
                self.claims[bound.uid][number] = written


def devices(rng: Random) -> list[dict[str, Any]]:
    found = []
    for number in range(rng.randint(1, 4)):
        more: dict[str, Any] = {}
        if rng.random() < 0.2:
            more["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
        if rng.random() < 0.3:
            more |= {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "4Gi"}}}
        said = {"model": rng.choice(("large", "small")), "numa": rng.choice((0, 1)), "uuid": f"{rng.random()}"}
        found.append(device(f"gpu-{number}", said, **more))
    return found


def partitions(rng: Random, name: str) -> list[Any]:
    """A pool in which devices share counters."""
    sets = [{"name": "memory", "counters": {"gi": {"value": "4"}}}]
    takes = [{"counterSet": "memory", "counters": {"gi": {"value": "3"}}}]
    parts = [device(f"part-{number}", {"model": "large", "numa": 0}, consumesCounters=takes) for number in range(2)]
    return [
        slice_of(None, pool=f"{name}-parts", name=f"{name}-parts-counters", count=2, sharedCounters=sets),
        slice_of(name, parts, pool=f"{name}-parts", name=f"{name}-parts-devices", count=2),
    ]


def plain_node(rng: Random, name: str) -> Node:
    made = node(name).cpu(rng.choice(("2", "4"))).memory("16Gi").pods(20).zone(rng.choice("ab"))
    return (made.scalar(EXTENDED, "2") if rng.random() < 0.2 else made).build()


def arriving(rng: Random, name: str, template: Pod, asked: int, world: DeviceWorld) -> None:
    """A pod, with its claims; now and then one that asks for something else than those of its like."""
    wanted = template.spec.resource_claims or ()
    made = []
    for number, _ in enumerate(wanted):
        requests, constraints = ASKED[rng.randrange(len(ASKED)) if rng.random() < 0.1 else asked]
        one: ResourceClaim = claim(f"{name}-{number}", *requests, constraints=constraints)
        owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": f"uid-{name}", "controller": True}
        meta = msgspec.to_builtins(one.metadata) | {"ownerReferences": [owner]}
        made.append(one.evolve(metadata=msgspec.convert(meta, type(one.metadata))))
        world.tell(None, made[-1])
    world.claims[f"uid-{name}"] = made
    statuses = [{"name": each.name, "resourceClaimName": f"{name}-{number}"} for number, each in enumerate(wanted)]
    status = msgspec.convert({"phase": "Pending", "resourceClaimStatuses": statuses}, type(template.status))
    meta = msgspec.structs.replace(template.metadata, name=name, uid=f"uid-{name}")
    world.scheduler.handle(PodAdded(template.evolve(metadata=meta, status=status).like(template.template)))


def templates(rng: Random) -> list[Pod]:
    def wanting(name: str, count: int) -> Pod:
        wanted = [{"name": f"c{number}", "resourceClaimTemplateName": "any"} for number in range(count)]
        built = pod(name).label(app=name).cpu("100m").memory("64Mi").build()
        return built.evolve(
            spec=msgspec.convert(msgspec.to_builtins(built.spec) | {"resourceClaims": wanted}, type(built.spec))
        )

    return [
        wanting("one", 1),
        wanting("same", 1),
        wanting("two", 2),
        pod("old").cpu("100m").scalar(EXTENDED, "1").build(),
    ]


def story(seed: int, world: DeviceWorld, steps: int = 30) -> list[str]:
    rng = Random(seed)
    world.claims = {}
    slices: dict[str, Any] = {}
    gpu = device_class(extendedResourceName=EXTENDED)
    world.tell(None, gpu)
    nodes = {f"node-{number}": plain_node(rng, f"node-{number}") for number in range(rng.randint(3, 12))}
    for each in nodes.values():
        world.scheduler.handle(NodeAdded(each))
        slices[each.name] = slice_of(each.name, devices(rng))
        if rng.random() < 0.2:
            slices |= {one.name: one for one in partitions(rng, each.name)}
    for one in slices.values():
        world.tell(None, one)
    others: list[ResourceClaim] = []
    kinds, rule = templates(rng), None
    asked = [rng.randrange(len(ASKED)) for _ in kinds]
    for step in range(steps):
        which = rng.randrange(len(kinds))
        for number in range(rng.randint(1, 6)):
            arriving(rng, f"pod-{step}-{number}", kinds[which], asked[which], world)
        world.run()
        choice = rng.random()
        name = rng.choice(sorted(nodes))
        if choice < 0.15:
            changed = slice_of(name, devices(rng), generation=step + 2)
            world.tell(slices.get(name), changed)
            slices[name] = changed
        elif choice < 0.22 and name in slices:
            world.tell(slices.pop(name), None)
        elif choice < 0.32 and name in slices:
            held = {"request": "r0", "driver": DOMAIN, "pool": name, "device": "gpu-0"}
            one = claim(f"other-{step}", request())
            status = {"allocation": {"devices": {"results": [held]}}}
            others.append(one.evolve(status=msgspec.convert(status, type(one.status))))
            world.tell(None, others[-1])
        elif choice < 0.42 and others:
            world.tell(others.pop(rng.randrange(len(others))), None)
        elif choice < 0.5:
            now = None if rule else msgspec.convert(
                {"metadata": {"name": "rule"}, "spec": {
                    "deviceSelector": {"pool": name}, "taint": {"key": "k", "effect": "NoSchedule"}}},
                DeviceTaintRule,
            )  # fmt: skip
            world.tell(rule, now)
            rule = now
        elif choice < 0.55:
            changed_class = device_class("gpu", *([LARGE] if rng.random() < 0.5 else []), extendedResourceName=EXTENDED)
            world.tell(gpu, changed_class)
            gpu = changed_class
        elif choice < 0.62:
            old = slices.pop("shared", None)
            now = None if old else slice_of(None, [device("far", {"model": "large"})], name="shared", allNodes=True)
            world.tell(old, now)
            if now is not None:
                slices["shared"] = now
        elif choice < 0.7:
            relabelled = plain_node(rng, name)
            world.scheduler.handle(NodeChanged(nodes[name], relabelled))
            nodes[name] = relabelled
        elif choice < 0.95 and world.placed:
            for uid in rng.sample(sorted(world.placed), min(3, len(world.placed))):
                world.scheduler.handle(PodDeleted(world.placed.pop(uid)))
                for one in world.claims.pop(uid, ()):
                    world.tell(one, None)
        world.clock.advance(rng.choice([0.0, 1.0, 15.0]))
    return world.log


@pytest.mark.parametrize("seed", range(30))
def test_keeping_answers_about_devices_changes_neither_nodes_nor_devices(seed: int) -> None:
    expected = story(seed, DeviceWorld(remember=False, seed=seed))

    actual = story(seed, DeviceWorld(remember=True, seed=seed))

    assert actual == expected
    assert len(expected) > 5, "a story in which nothing is placed proves nothing"


RULES = (
    [{"type": "Tightest"}],
    [{"type": "Pack"}],
    [{"type": "Spread"}, {"type": "Together", "attribute": f"{DOMAIN}/numa", "weight": 2}],
)


@pytest.mark.parametrize("seed", range(24))
def test_nor_does_it_where_devices_are_chosen_by_rules(seed: int) -> None:
    written = {"name": "DynamicResources", "args": {"deviceScore": {"rules": RULES[seed % len(RULES)]}}}
    profile = {"schedulerName": "default-scheduler", "pluginConfig": [written]}
    header = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    config, _ = load_config({**header, "profiles": [profile]}, "rules")
    expected = story(seed, DeviceWorld(remember=False, seed=seed, config=config))

    actual = story(seed, DeviceWorld(remember=True, seed=seed, config=config))

    assert actual == expected
    assert len(expected) > 5, "a story in which nothing is placed proves nothing"


def test_they_are_really_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    settled = []
    real = Evaluator._with

    def counting(self: Evaluator, known: Any, calls: Any, settings: Any) -> Any:
        settled.append("DynamicResources" in known.plugins and bool(calls.pod.spec.resource_claims))
        return real(self, known, calls, settings)

    monkeypatch.setattr(Evaluator, "_with", counting)
    bound = [line for seed in range(5) for line in story(seed, DeviceWorld(remember=True, seed=seed))]

    assert sum(settled) > len(bound) / 3
