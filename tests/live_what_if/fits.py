"""
A cluster is filled up pod by pod, and as many fit as ``fit`` said, with the same word for the next.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.live_what_if.generating import SCHEDULER, Generator, priority_classes
from tests.live_what_if.real_cluster import RealCluster, real_cluster, write
from tests.support.control_plane import ControlPlane
from tests.support.live import scheduled_condition


@dataclass(frozen=True)
class Filled:
    """What was said and what happened."""

    seed: int
    said: tuple[int, str]
    happened: tuple[int, str]

    @property
    def agrees(self) -> bool:
        return self.said == self.happened

    def __str__(self) -> str:
        verdict = "agrees" if self.agrees else f"DIFFERS: said {self.said}, happened {self.happened}"
        return f"seed {self.seed}: {self.happened[0]} pods fit: {verdict}"


async def fill(plane: ControlPlane, seed: int) -> Filled:
    """One random cluster and one random kind of pod."""
    space = f"fit-{seed}"
    case = Generator(seed, space).case()
    pod = _pod(random.Random(seed), space)
    async with real_cluster(plane, space) as cluster:
        await cluster.begin([*priority_classes(), *case.nodes, *case.objects])
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder), "pod.json", pod)
            _, told = await cluster.bayplan("fit", *cluster.live(), "--pod", path, "-o", "json")
        happened = await _filled(cluster, pod)
    return Filled(seed, (told["fits"], told["limit"]), happened)


async def _filled(cluster: RealCluster, pod: dict[str, Any]) -> tuple[int, str]:
    number = 0
    while True:
        name = f"more-{number}"
        cluster.api.create({**pod, "metadata": {**pod["metadata"], "name": name}})
        mine = next(each for each in await _judged(cluster, name) if each["metadata"]["name"] == name)
        if not mine["spec"].get("nodeName"):
            condition = scheduled_condition(mine)
            assert condition is not None, "it has been judged"
            return number, condition["message"]
        number += 1


async def _judged(cluster: RealCluster, name: str) -> list[dict[str, Any]]:
    """Until the pod has a node or has been told why not."""
    while True:
        pods = await cluster.pods()
        mine = next(each for each in pods if each["metadata"]["name"] == name)
        if mine["spec"].get("nodeName") or scheduled_condition(mine) is not None:
            return pods
        await asyncio.sleep(0.02)


def _pod(rng: random.Random, space: str) -> dict[str, Any]:
    asks = rng.choice(({"cpu": "20"}, {"cpu": "9", "memory": "40Gi"}, {"memory": "100Gi"}))
    spec: dict[str, Any] = {
        "schedulerName": SCHEDULER,
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "c", "image": "web:1", "resources": {"requests": asks}}],
    }
    labels = {"app": "more"}
    kind = rng.choice(("plain", "hosts", "zones", "pinned"))
    if kind == "hosts":
        term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    elif kind == "zones":
        constraint = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [{**constraint, "labelSelector": {"matchLabels": labels}}]
    elif kind == "pinned":
        spec["nodeSelector"] = {"topology.kubernetes.io/zone": "a"}
    meta = {"name": "more", "namespace": space, "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
