"""Clusters about devices: nodes, classes, namespaces and taint rules.

``generate`` makes one for seeds from ``FIRST_DEVICE_SEED`` on: ``device_slices`` is what drivers publish,
``device_claims`` what is claimed, ``device_pods`` the pods that claim it.
"""

from __future__ import annotations

from random import Random

from tests.parity.generating.cluster import Cluster, Object, chance
from tests.parity.generating.device_claims import held_claims
from tests.parity.generating.device_pods import make_pods
from tests.parity.generating.device_slices import make_slices
from tests.parity.generating.device_style import (
    ADMIN_NAMESPACE,
    CLASSES,
    DRIVERS,
    FIRST_TAINT_RULE_SEED,
    PRIORITIES,
    RESOURCES,
    SETTINGS,
    STYLE,
    Traits,
)

EXPRESSIONS: dict[str, list[str]] = {
    "any": [],
    "gpu": ['device.driver == "gpu.example.com"'],
    "model-a": ['device.attributes["gpu.example.com"].?model.orValue("") == "a"'],
    "big": ['device.capacity["gpu.example.com"].?memory.orValue(quantity("0")).compareTo(quantity("8Gi")) >= 0'],
}


def generate_devices(seed: int) -> Cluster:
    """The cluster of this seed."""
    rng = Random(seed)
    traits = Traits(
        shares=chance(rng, 0.6),
        prepares=chance(rng, 0.15),
        administers=chance(rng, 0.3),
        is_crowded=chance(rng, 0.15),
        has_large_pool=chance(rng, 0.05),
    )
    nodes = [_node(rng, f"node-{number}", traits) for number in range(rng.randint(2, 5))]
    names = [node["metadata"]["name"] for node in nodes]
    slices = make_slices(rng, names, traits)
    rules = _rules(rng, slices) if seed >= FIRST_TAINT_RULE_SEED else []
    held = held_claims(rng, slices) if chance(rng, 0.4) else []
    pending, own, shared = make_pods(rng, traits, names, held)
    return Cluster(
        name=f"{seed:04}",
        style=STYLE,
        objects=[*_namespaces(), *_priorities(), *nodes, *_classes(rng), *slices, *rules, *held, *shared],
        bound=[],
        pending=pending,
        own_claims=own,
    )


def _namespaces() -> list[Object]:
    labels = {"resource.kubernetes.io/admin-access": "true"}
    return [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ADMIN_NAMESPACE, "labels": labels}}]


def _priorities() -> list[Object]:
    return [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in PRIORITIES.items()
    ]


def _node(rng: Random, name: str, traits: Traits) -> Object:
    sizes = {"cpu": "2" if traits.is_crowded else "64", "memory": "64Gi", "pods": "110"}
    for resource in RESOURCES:
        if chance(rng, 0.15):
            sizes[resource] = rng.choice(("2", "2", "0"))
    labels = {"kubernetes.io/hostname": name, "rack": rng.choice("xy")}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": sizes, "allocatable": dict(sizes)},
    }


def _classes(rng: Random) -> list[Object]:
    """Two of them may stand behind one resource."""
    behind = {"gpu": 0.6, "big": 0.5, "model-a": 0.15}
    classes = []
    for name in CLASSES:
        spec: Object = {"selectors": [{"cel": {"expression": each}} for each in EXPRESSIONS[name]]}
        if chance(rng, behind.get(name, 0.0)):
            spec["extendedResourceName"] = RESOURCES[1] if name == "big" else RESOURCES[0]
        if chance(rng, 0.3):
            spec["config"] = [{"opaque": {"driver": DRIVERS[0], "parameters": SETTINGS}}]
        classes.append(_made("resource.k8s.io/v1", "DeviceClass", name, spec))
    return classes


def _rules(rng: Random, slices: list[Object]) -> list[Object]:
    """Taints on single devices, on pools and on all of a driver."""
    published = [each["spec"] for each in slices if each["spec"].get("devices")]
    rules = []
    for number in range(rng.randint(1, 3) if published else 0):
        spec = rng.choice(published)
        chosen = {"driver": spec["driver"]}
        if chance(rng, 0.8):
            chosen["pool"] = spec["pool"]["name"]
        if chance(rng, 0.6):
            chosen["device"] = rng.choice(spec["devices"])["name"]
        taint = {"key": rng.choice(("sick", "kept")), "effect": rng.choice(("NoSchedule", "NoSchedule", "None"))}
        spec = {"deviceSelector": chosen, "taint": taint}
        rules.append(_made("resource.k8s.io/v1beta2", "DeviceTaintRule", f"rule-{number}", spec))
    return rules


def _made(version: str, kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
