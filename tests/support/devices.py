"""Devices on a real API server, and claims and pods that want them. Tests of ``app/`` and ``e2e/`` use it."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.support.api import Object
from tests.support.live import Cluster

DRIVER = "gpu.example.com"


SHARED = {"name": "gpu-0", "capacity": {"memory": {"value": "8Gi"}}, "allowMultipleAllocations": True}
COUNTERS = {"sharedCounters": [{"name": "card", "counters": {"slots": {"value": "3"}}}]}


def part(name: str) -> Object:
    """Two of the three slots of the card."""
    takes = [{"counterSet": "card", "counters": {"slots": {"value": "2"}}}]
    return {"name": name, "attributes": {"name": {"string": name}}, "consumesCounters": takes}


async def set_up(cluster: Cluster, *devices: str | Object) -> None:
    await cluster.node()
    await publish(cluster, *devices)


async def publish(cluster: Cluster, *devices: str | Object) -> None:
    """A class, and devices of it on the node n1; those that take counters come with them."""
    made = [{"name": each} if isinstance(each, str) else each for each in devices]
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    if any("consumesCounters" in each for each in made):
        pool["resourceSliceCount"] = 2
        spec = {"driver": DRIVER, "nodeName": "n1", "pool": pool, **COUNTERS}
        await create(cluster, "ResourceSlice", "n1-counters", spec)
    selector = {"cel": {"expression": f'device.driver == "{DRIVER}"'}}
    await create(cluster, "DeviceClass", "gpu", {"selectors": [selector], "extendedResourceName": "example.com/gpu"})
    spec = {"driver": DRIVER, "nodeName": "n1", "pool": pool, "devices": made}
    await create(cluster, "ResourceSlice", "n1-gpus", spec)


async def create(cluster: Cluster, kind: str, name: str, spec: Object, **metadata: Any) -> None:
    meta = {"name": name, **metadata}
    await cluster.create({"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": meta, "spec": spec})


async def claim(cluster: Cluster, name: str, **more: Any) -> None:
    request = {"name": "r0", "exactly": {"deviceClassName": "gpu", **more}}
    await create(cluster, "ResourceClaim", name, {"devices": {"requests": [request]}}, namespace=cluster.namespace)


def named(device: str) -> Object:
    return {"selectors": [{"cel": {"expression": f'device.attributes["{DRIVER}"].name == "{device}"'}}]}


async def pod_with(cluster: Cluster, name: str, claim_name: str, **spec: Any) -> None:
    await cluster.pod(name, resourceClaims=[{"name": "c", "resourceClaimName": claim_name}], **spec)


async def stored(cluster: Cluster, name: str) -> dict[str, Any]:
    return await asyncio.to_thread(cluster.api.get, "ResourceClaim", name, cluster.namespace)


def devices(one: dict[str, Any]) -> list[str]:
    allocation = one.get("status", {}).get("allocation", {})
    return [result["device"] for result in allocation.get("devices", {}).get("results", ())]
