"""Nodes: labels that are sometimes missing, taints of every effect, odd sizes, images."""

from __future__ import annotations

from random import Random

from tests.parity.generating.cluster import Object, chance, some
from tests.parity.generating.style import Style

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
ZONES = ["z1", "z2", "z3"]
RACKS = ["r1", "r2", "r3", "r4"]
TAINT_KEYS = ["dedicated", "maintenance", "spot"]
TAINT_VALUES = ["", "red", "blue"]
EFFECTS = ["NoSchedule", "NoExecute", "PreferNoSchedule"]
MIB = 1024 * 1024
# The name as a pod writes it, the name as a node reports it, its size in MiB.
IMAGES = [
    ("web:1", "web:1", 40),
    ("web:2", "web:2", 320),
    ("db", "db:latest", 900),
    ("registry.example/team/app:3", "registry.example/team/app:3", 150),
    ("registry.example:5000/app", "registry.example:5000/app:latest", 610),
    ("huge:1", "huge:1", 2600),
    ("small:1", "small:1", 9),
]
# How much a node has, as written and roughly in the unit that pods are sized in.
CPU_MILLI = {"1": 1000, "1500m": 1500, "2": 2000, "4": 4000, "8": 8000, "3920m": 3920}
MEMORY_MIB = {"2Gi": 2048, "3900000Ki": 3808, "4Gi": 4096, "8Gi": 8192, "8000M": 7629, "1.5Gi": 1536, "16Gi": 16384}


def make_nodes(rng: Random, style: Style) -> list[Object]:
    count = rng.randint(*style.nodes)
    uniform = _pick_size(rng) if chance(rng, style.uniform) else None
    return [_make_node(rng, style, f"node-{index:02}", uniform) for index in range(count)]


def _make_node(rng: Random, style: Style, name: str, uniform: tuple[str, str] | None) -> Object:
    cpu, memory = uniform or _pick_size(rng)
    taints = _make_taints(rng) if chance(rng, style.tainted) else []
    cordoned = chance(rng, style.cordoned)
    if cordoned and chance(rng, 0.5):
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    capacity = {"cpu": cpu, "memory": memory, "pods": rng.choice(["4", "6", "10", "110", "110"])}
    capacity |= _extra_capacity(rng)
    # The server copies capacity to allocatable when the latter is missing.
    sizes = {"capacity": capacity} if chance(rng, 0.2) else {"capacity": capacity, "allocatable": dict(capacity)}
    spec: Object = {"taints": taints} if taints else {}
    if cordoned:
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": _make_labels(rng, style, name)},
        "spec": spec,
        "status": sizes | {"images": _make_images(rng), "declaredFeatures": _make_features(rng)},
    }


def _pick_size(rng: Random) -> tuple[str, str]:
    return rng.choice(list(CPU_MILLI)), rng.choice(list(MEMORY_MIB))


def _make_labels(rng: Random, style: Style, name: str) -> dict[str, str]:
    zone = rng.choice(ZONES)
    labels = {
        HOSTNAME: name,
        ZONE: zone,
        REGION: "north" if zone == "z1" else "south",
        "rack": rng.choice(RACKS),
        "disk": rng.choice(["ssd", "hdd"]),
        "gen": rng.choice(["1", "2", "3", "10", "x"]),
    }
    if chance(rng, 0.3):
        labels["gpu"] = ""
    return {key: value for key, value in labels.items() if not chance(rng, style.unlabelled)}


def _make_taints(rng: Random) -> list[Object]:
    taints = []
    for key in some(rng, TAINT_KEYS, 1, 2):
        for effect in some(rng, EFFECTS, 1, 2):
            taint = {"key": key, "effect": effect}
            if value := rng.choice(TAINT_VALUES):
                taint["value"] = value
            taints.append(taint)
    return taints


def _extra_capacity(rng: Random) -> dict[str, str]:
    extra = {"ephemeral-storage": rng.choice(["5Gi", "20Gi", "100Gi"])} if chance(rng, 0.8) else {}
    if chance(rng, 0.4):
        extra["example.com/gpu"] = rng.choice(["1", "2", "4"])
    if chance(rng, 0.2):
        extra["example.com/fpga"] = "1"
    if chance(rng, 0.3):
        extra["hugepages-2Mi"] = rng.choice(["64Mi", "256Mi"])
    return extra


def _make_features(rng: Random) -> list[str]:
    return ["RestartAllContainersOnContainerExits"] if chance(rng, 0.4) else []


def _make_images(rng: Random) -> list[Object]:
    images = []
    for _, name, size_mib in IMAGES:
        if chance(rng, 0.35):
            digest = f"{name.rsplit(':', 1)[0]}@sha256:{size_mib:064x}"
            images.append({"names": [digest, name], "sizeBytes": size_mib * MIB})
    return images
