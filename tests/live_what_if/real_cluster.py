"""
A cluster in which things really happen: kube-apiserver, kube-controller-manager, kubelets that are played, and Bayplan's
live scheduler.  ``drains`` and ``fits`` use it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client
from hack.dev_cluster.kubelets import Kubelets
from tests.parity.resetting import reset
from tests.support.api import Api, Object
from tests.support.control_plane import ControlPlane
from tests.support.live import running, scheduled_condition

CONTROLLERS = "deployment,replicaset,statefulset,daemonset,disruption,garbagecollector"
QUIET_S = 2.5
"""When nothing has changed for so long, nothing will."""
PATIENCE_S = 90.0

Owners = Counter[str]


class RealCluster:
    """One case at a time, on one control plane."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.plane = plane
        self.namespace = namespace
        self.api: Api = plane.api()

    async def begin(self, objects: Sequence[Object]) -> None:
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        for each in (space, *objects):
            await asyncio.to_thread(self.api.create, each)
        await self.at_rest()

    async def pods(self) -> list[Object]:
        return await asyncio.to_thread(self.api.list, "Pod", self.namespace)

    async def at_rest(self) -> list[Object]:
        """The pods when each is on a node and runs, or has been told that it cannot, and nothing changes any more."""
        ends_at, since, last = time.monotonic() + PATIENCE_S, time.monotonic(), None
        while True:
            pods = await self.pods()
            now = sorted(
                (each["metadata"]["uid"], each["spec"].get("nodeName"), each["status"].get("phase")) for each in pods
            )
            if now != last or not all(map(_is_settled, pods)) or not await self._is_complete(pods):
                last, since = now, time.monotonic()
            elif time.monotonic() - since > QUIET_S:
                return pods
            if time.monotonic() > ends_at:
                raise TimeoutError(f"not at rest: {[_shown(each) for each in pods if not _is_settled(each)]}")
            await asyncio.sleep(0.25)

    async def _is_complete(self, pods: Sequence[Object]) -> bool:
        """Controllers have made what they want to make, and budgets have been counted."""
        for kind in ("Deployment", "StatefulSet", "PodDisruptionBudget"):
            for each in await asyncio.to_thread(self.api.list, kind, self.namespace):
                if each.get("status", {}).get("observedGeneration", 0) < each["metadata"].get("generation", 0):
                    return False
                if kind == "Deployment" and each.get("status", {}).get("replicas", 0) != each["spec"]["replicas"]:
                    return False
        return True

    async def bayplan(self, *arguments: str) -> tuple[int, Any]:
        """The command as a person types it, with JSON for an answer."""
        return await asyncio.to_thread(_bayplan, *arguments)

    def live(self) -> list[str]:
        return [f"--kubeconfig={self.plane.kubeconfig()}"]


@asynccontextmanager
async def real_cluster(plane: ControlPlane, namespace: str) -> AsyncIterator[RealCluster]:
    """An empty cluster with everything at work, from here to the end of the block."""
    cluster = RealCluster(plane, namespace)
    await asyncio.to_thread(_emptied, cluster.api)
    client = Client(Credentials(str(plane.kubeconfig())))
    with plane.start_controller_manager(CONTROLLERS):
        kubelets = asyncio.ensure_future(Kubelets(client, 0).run(lambda: None))
        try:
            async with running(plane):
                yield cluster
        finally:
            kubelets.cancel()
            await asyncio.gather(kubelets, return_exceptions=True)
            await client.close()


def _emptied(api: Api) -> None:
    """Workloads first: while their controllers are away nobody makes their pods again."""
    for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"):
        for each in api.list(kind):
            api.delete(kind, each["metadata"]["name"], each["metadata"]["namespace"])
    reset(api)


def _is_settled(pod: Object) -> bool:
    if pod["metadata"].get("deletionTimestamp"):
        return False
    if pod["spec"].get("nodeName"):
        return bool(pod["status"].get("phase") == "Running")
    condition = scheduled_condition(pod)
    return condition is not None and condition["status"] == "False" and not pod["status"].get("nominatedNodeName")


def _shown(pod: Object) -> str:
    return f"{pod['metadata']['name']} {pod['spec'].get('nodeName')} {pod['status'].get('phase')}"


def _bayplan(*arguments: str) -> tuple[int, Any]:
    command = [sys.executable, "-m", "bayplan", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode in (0, 1), ended.stderr
    return ended.returncode, json.loads(ended.stdout) if ended.stdout else None


def pending(pods: Sequence[Object]) -> Owners:
    """How many pods of each workload have no node."""
    return Counter(owner(each) for each in pods if not each["spec"].get("nodeName"))


def owner(pod: Object) -> str:
    owners = pod["metadata"].get("ownerReferences")
    if not owners:
        return str(pod["metadata"]["name"])
    kind, name = owners[0]["kind"], owners[0]["name"]
    return f"Deployment/{name.rpartition('-')[0]}" if kind == "ReplicaSet" else f"{kind}/{name}"


def write(folder: Path, name: str, document: Object) -> str:
    path = folder / name
    path.write_text(json.dumps(document))
    return str(path)
