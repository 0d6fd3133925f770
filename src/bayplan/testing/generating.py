"""
Random clusters and pods that touch every rule: for claims that must hold whatever the input.

``agreement`` and the property tests call these with a seeded ``random.Random``, so that a failure repeats.
Names and values are few on purpose: conditions must match often, and fail often.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from bayplan.engine.cache import ClusterCache
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.node import HOSTNAME_LABEL, Node
from bayplan.objects.pod import ZONE_LABEL, Pod
from bayplan.objects.workload import Namespace
from bayplan.testing.builders import NodeBuilder, PodBuilder, node, pod
from bayplan.testing.harness import cluster

APPS = ("web", "db", "cache")
ZONES = ("a", "b", "c")
NAMESPACES = ("default", "team-a", "team-b")
DISKS = ("ssd", "hdd", "nvme")
TOPOLOGY_KEYS = (ZONE_LABEL, HOSTNAME_LABEL, "rack")
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
IMAGES = ("nginx", "registry.example/app:1", "redis:7")
GPU = "example.com/gpu"
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")

Trait: TypeAlias = "Callable[[Random, PodBuilder], PodBuilder]"


def random_cluster(rng: Random, *, nodes: int = 12, pods: int = 30) -> ClusterCache:
    """A cluster of mixed nodes, some of them full, with pods of every kind on them."""
    made = [random_node(rng, f"node-{number}") for number in range(nodes)]
    placed = [random_pod(rng, f"placed-{number}", on=rng.choice(made).name) for number in range(pods)]
    spaces = (Namespace(metadata=ObjectMeta(name=name, labels={"team": name[-1]})) for name in NAMESPACES)
    return cluster(made, placed, spaces)


def random_node(rng: Random, name: str) -> Node:
    """A node; labels, taints, room and images as it comes."""
    made = _room(rng, node(name))
    if _maybe(rng, 0.8):
        made = made.zone(rng.choice(ZONES))
    if _maybe(rng, 0.7):
        made = made.label(disk=rng.choice(DISKS), rack=f"r{rng.randrange(4)}", tier=str(rng.randrange(5)))
    for key in ("dedicated", "spare"):
        if _maybe(rng, 0.25):
            made = made.taint(key, rng.choice(APPS), rng.choice(EFFECTS))
    for image in IMAGES:
        if _maybe(rng, 0.5):
            tagged = image if ":" in image else f"{image}:latest"
            made = made.image(tagged, rng.choice(("30Mi", "300Mi", "2Gi")))
    return (made.cordoned() if _maybe(rng, 0.15) else made).build()


def random_pod(rng: Random, name: str = "pod", *, on: str = "", traits: float = 0.35) -> Pod:
    """A pod with some share of all traits; with ``on`` it runs on that node, perhaps being deleted."""
    made = pod(name).namespace(rng.choice(NAMESPACES)).label(app=rng.choice(APPS))
    for trait in TRAITS:
        if _maybe(rng, traits):
            made = trait(rng, made)
    if on:
        made = made.on(on)
        if _maybe(rng, 0.1):
            made = made.terminating()
    return made.build()


def _room(rng: Random, made: NodeBuilder) -> NodeBuilder:
    made = made.cpu(rng.choice(("0", "2", "4", "8"))).memory(rng.choice(("4Gi", "16Gi", "32Gi")))
    made = made.pods(rng.choice((2, 3, 10, 110)))
    if _maybe(rng, 0.7):
        made = made.allocatable(ephemeral_storage=rng.choice(("1Gi", "20Gi")))
    return made.scalar(GPU, rng.randrange(4)) if _maybe(rng, 0.5) else made


def _maybe(rng: Random, chance: float) -> bool:
    return rng.random() < chance


# -- traits of pods --


def _requests(rng: Random, made: PodBuilder) -> PodBuilder:
    made = made.cpu(rng.choice(("0", "100m", "1", "3", "9"))).memory(rng.choice(("10Mi", "1Gi", "8Gi")))
    return made.request(ephemeral_storage="2Gi") if _maybe(rng, 0.3) else made


def _scalars(rng: Random, made: PodBuilder) -> PodBuilder:
    return made.scalar(GPU, rng.randrange(3))


def _containers(rng: Random, made: PodBuilder) -> PodBuilder:
    made = made.init("redis:7", cpu="2").sidecar("nginx", memory="100Mi").overhead(cpu="50m")
    return made.pod_level(cpu="2") if _maybe(rng, 0.3) else made


def _tolerations(rng: Random, made: PodBuilder) -> PodBuilder:
    for key in ("dedicated", "spare"):
        if _maybe(rng, 0.6):
            value = rng.choice((*APPS, ""))
            made = made.tolerates(key, value, rng.choice((*EFFECTS, "")))
    return made.tolerates("node.kubernetes.io/unschedulable") if _maybe(rng, 0.5) else made


def _node_selector(rng: Random, made: PodBuilder) -> PodBuilder:
    return made.node_selector(disk=rng.choice(DISKS))


def _node_affinity(rng: Random, made: PodBuilder) -> PodBuilder:
    made = made.requires_node(*_condition(rng))
    if _maybe(rng, 0.5):
        made = made.requires_node("tier", rng.choice(("Gt", "Lt")), "2")
    if _maybe(rng, 0.2):
        made = made.requires_node_term([_condition(rng)], [("metadata.name", "NotIn", "node-1")])
    return made


def _preferred_nodes(rng: Random, made: PodBuilder) -> PodBuilder:
    for _ in range(rng.randrange(1, 3)):
        made = made.prefers_node(rng.randrange(1, 101), *_condition(rng))
    return made


def _ports(rng: Random, made: PodBuilder) -> PodBuilder:
    ip, protocol = rng.choice(("", "0.0.0.0", "10.0.0.1", "::")), rng.choice(("", "TCP", "UDP"))
    return made.port(rng.choice((80, 443)), ip=ip, protocol=protocol)


def _image(rng: Random, made: PodBuilder) -> PodBuilder:
    made = made.image(rng.choice(IMAGES))
    return made.image_volume("redis:7") if _maybe(rng, 0.5) else made


def _affinity(rng: Random, made: PodBuilder) -> PodBuilder:
    made = made.affinity({"app": rng.choice(APPS)}, rng.choice(TOPOLOGY_KEYS))
    more = {"namespaces": [rng.choice(NAMESPACES)]} if _maybe(rng, 0.5) else {"ns_selector": {"team": "a"}}
    weight, app, key = rng.randrange(1, 101), rng.choice(APPS), rng.choice(TOPOLOGY_KEYS)
    return made.prefers_pods(weight, {"app": app}, key, **more)


def _anti_affinity(rng: Random, made: PodBuilder) -> PodBuilder:
    made = made.anti_affinity({"app": rng.choice(APPS)}, rng.choice(TOPOLOGY_KEYS))
    return made.avoids_pods(rng.randrange(1, 101), {"app": rng.choice(APPS)}, rng.choice(TOPOLOGY_KEYS))


def _spread(rng: Random, made: PodBuilder) -> PodBuilder:
    for key in rng.sample(TOPOLOGY_KEYS, rng.randrange(1, 3)):
        made = made.spread(
            key,
            rng.randrange(1, 3),
            hard=_maybe(rng, 0.5),
            selector={"app": rng.choice(APPS)},
            node_taints_policy=rng.choice((None, "Honor")),
        )
    return made


def _condition(rng: Random) -> tuple[str, ...]:
    operator = rng.choice(OPERATORS)
    key, values = rng.choice((("disk", DISKS), (ZONE_LABEL, ZONES)))
    return (key, operator, *(rng.sample(values, 2) if operator in ("In", "NotIn") else ()))


TRAITS: tuple[Trait, ...] = (
    _requests,
    _scalars,
    _containers,
    _tolerations,
    _node_selector,
    _node_affinity,
    _preferred_nodes,
    _ports,
    _image,
    _affinity,
    _anti_affinity,
    _spread,
)
