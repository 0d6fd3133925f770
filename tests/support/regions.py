"""Workloads with a WorkloadPolicy on the real API server: manifests, real controllers, kubelets, and where pods are."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from bayplan.framework.config.loading import load_config
from bayplan.framework.config.model import SchedulerConfig
from tests.support.api import ApiError, Object
from tests.support.control_plane import ControlPlane
from tests.support.kosmos import example
from tests.support.live import Cluster, node_manifest, scheduled_condition, until

NAMESPACE = "workload-test"
KEY = "workload-test"
LABEL = "workload-policy/kosmos.io"
APP = "clusterlink-floater-mix"
CONTROLLERS = "deployment-controller,replicaset-controller,statefulset-controller,disruption-controller"


@asynccontextmanager
async def of_examples(cluster: Cluster) -> AsyncIterator[None]:
    """The cluster with the namespace of the examples; nothing is left of it afterwards."""
    cluster.namespace = NAMESPACE
    await cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    yield
    for kind in ("Deployment", "StatefulSet", "WorkloadPolicy", "PodDisruptionBudget"):
        for one in await asyncio.to_thread(cluster.api.list, kind, NAMESPACE):
            await asyncio.to_thread(cluster.api.delete, kind, one["metadata"]["name"], NAMESPACE)


def as_printed() -> SchedulerConfig:
    return load_config(example("scheduler-config.yaml"), "scheduler-config.yaml")[0]


@asynccontextmanager
async def controllers(plane: ControlPlane) -> AsyncIterator[None]:
    started = await asyncio.to_thread(plane.start_controller_manager, CONTROLLERS)
    try:
        yield
    finally:
        await asyncio.to_thread(started.stop)


@asynccontextmanager
async def kubelets(cluster: Cluster) -> AsyncIterator[None]:
    """Pods on nodes become ready, and those that are being deleted go."""

    async def work() -> None:
        while True:
            for pod in await cluster.list():
                name = pod["metadata"]["name"]
                with suppress(ApiError):
                    if "deletionTimestamp" in pod["metadata"]:
                        await cluster.delete(name)
                    elif pod["spec"].get("nodeName") and pod["status"]["phase"] == "Pending":
                        ready = [{"type": each, "status": "True"} for each in ("Ready", "ContainersReady")]
                        status = {"phase": "Running", "conditions": [*pod["status"].get("conditions", ()), *ready]}
                        await asyncio.to_thread(cluster.api.patch, "Pod", name, {"status": status}, NAMESPACE, "status")
            await asyncio.sleep(0.05)

    task = asyncio.ensure_future(work())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def is_placed(pod: Object) -> bool:
    return bool(pod["spec"].get("nodeName"))


async def domains(cluster: Cluster, key: str = KEY) -> dict[str, int]:
    """Pods by the domain of their node; those without one are under ""."""
    nodes = await asyncio.to_thread(cluster.api.list, "Node")
    values = {one["metadata"]["name"]: one["metadata"]["labels"].get(key, "?") for one in nodes}
    pods = [one for one in await cluster.list() if "deletionTimestamp" not in one["metadata"]]
    return dict(Counter(values[one["spec"]["nodeName"]] if is_placed(one) else "" for one in pods))


async def settled(cluster: Cluster, placed: int, pending: int, timeout_s: float = 30.0) -> list[Object]:
    """Wait until so many pods are placed, and so many have been told that they cannot be."""

    async def told() -> tuple[list[Object]] | None:
        pods = await cluster.list()
        waiting = [one for one in pods if not is_placed(one) and scheduled_condition(one)]
        return (waiting,) if sum(map(is_placed, pods)) == placed and len(waiting) == pending else None

    found: list[Object]
    (found,) = await until(told, f"{placed} pods placed and {pending} pending", timeout_s)
    return found


def policy(domains: dict[str, Any], key: str = "region", **spec: Any) -> Object:
    listed = [{"name": name, "replicas": number} for name, number in domains.items()]
    return {
        "apiVersion": "kosmos.io/v1alpha1",
        "kind": "WorkloadPolicy",
        "metadata": {"name": "regions", "namespace": NAMESPACE},
        "spec": {
            "topologyKey": key,
            "labelSelector": {"matchLabels": {"app": "web"}},
            "allocationPolicy": listed,
            "allocationType": "Required",
            **spec,
        },
    }


def labels(**more: str) -> dict[str, str]:
    return {"app": "web", LABEL: "regions", **more}


def workload(kind: str, replicas: int, **spec: Any) -> Object:
    container = {"name": "c", "image": "web:1"}
    template = {
        "metadata": {"labels": labels()},
        "spec": {"schedulerName": "kosmos-scheduler", "containers": [container]},
    }
    given = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template, **spec}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web", "namespace": NAMESPACE},
        "spec": given | ({"serviceName": "web"} if kind == "StatefulSet" else {}),
    }


def region_node(name: str, region: str, *, is_leaf: bool = False) -> Object:
    taints = [{"key": "kosmos.io/node", "value": "true", "effect": "NoSchedule"}] if is_leaf else []
    made = node_manifest(name, taints=taints)
    made["metadata"]["labels"]["region"] = region
    if is_leaf:
        made["metadata"]["labels"]["kosmos.io/node"] = "true"
        made["metadata"]["annotations"] = {"leafNodeMode": "one2cluster", "kosmos-io/owned-by-cluster": region}
    return made
