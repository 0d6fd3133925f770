"""
Fake kubelets: nodes that are Ready, and whose pods become Running and are gone when they are deleted.

Every Node of the cluster is played, also those that a person adds with kubectl.  Pods that restart always run for
ever; others succeed after a few seconds.  ``supervising`` runs it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from bayplan.errors import BayplanError, ConflictError, NotFoundError
from bayplan.kube.client import STRATEGIC_PATCH, Client
from bayplan.kube.informer import Informer
from bayplan.objects.kinds import all_kinds
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from hack.dev_cluster import statuses

log = structlog.get_logger()

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
RENEW_S = 10.0
RUN_S = 5.0
AT_ONCE = 16
ZONES = "abc"
KINDS = {kind.name: kind for kind in all_kinds()}


class Kubelets:
    """All nodes of the cluster, in one process."""

    def __init__(self, client: Client, nodes: int) -> None:
        self._client = client
        self._wanted = nodes
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending: set[str] = set()
        self._nodes: Informer[Node] = Informer(
            client, KINDS["Node"], added=self._play, changed=lambda _, node: self._play(node), deleted=lambda _: None
        )
        self._pods: Informer[Pod] = Informer(
            client,
            KINDS["Pod"],
            added=self._look,
            changed=lambda _, pod: self._look(pod),
            deleted=lambda pod: self._ending.discard(pod.uid),
            field_selector="spec.nodeName!=",
        )

    async def run(self, ready: Callable[[], None]) -> None:
        """For ever; ``ready`` is called when the nodes are there."""
        names = [f"node-{number}" for number in range(1, self._wanted + 1)]
        await asyncio.gather(*(self._create(name, ZONES[at % len(ZONES)]) for at, name in enumerate(names)))
        ready()
        await asyncio.gather(self._nodes.run(), self._pods.run(), self._renew())

    # -- nodes --

    async def _create(self, name: str, zone: str) -> None:
        labels = {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "topology.kubernetes.io/region": "dev",
            "topology.kubernetes.io/zone": f"dev-{zone}",
        }
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        async with self._slots:
            await self._client.create("/api/v1/nodes", node)
            await self._client.patch(f"/api/v1/nodes/{name}/status", statuses.node_status({}), STRATEGIC_PATCH)

    def _play(self, node: Node) -> None:
        ready = any(each.type == "Ready" and each.status == "True" for each in node.conditions)
        if not ready and not node.is_terminating:
            path = f"/api/v1/nodes/{node.name}/status"
            self._start(self._client.patch(path, statuses.node_status(dict(node.allocatable_map)), STRATEGIC_PATCH))

    async def _renew(self) -> None:
        """Nodes whose lease grows old are taken for dead."""
        while True:
            names = [node.name for node in self._nodes.objects()]
            await asyncio.gather(*(self._quietly(self._renew_one(name)) for name in names))
            await asyncio.sleep(RENEW_S)

    async def _renew_one(self, name: str) -> None:
        spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": statuses.now("%Y-%m-%dT%H:%M:%S.%fZ")}
        try:
            await self._client.patch(f"{LEASES}/{name}", {"spec": spec})
        except NotFoundError:
            meta = {"name": name, "namespace": "kube-node-lease"}
            lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}
            await self._client.create(LEASES, lease)

    # -- pods --

    def _look(self, pod: Pod) -> None:
        path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
        phase = pod.status.phase
        if pod.is_terminating:
            self._start(self._client.delete(path, {"gracePeriodSeconds": 0, "preconditions": {"uid": pod.uid}}))
        elif phase in ("", "Pending"):
            self._start(self._client.patch(f"{path}/status", statuses.running(pod), STRATEGIC_PATCH))
        elif phase == "Running" and pod.spec.restart_policy != "Always" and pod.uid not in self._ending:
            self._ending.add(pod.uid)
            ended = self._client.patch(f"{path}/status", statuses.succeeded(pod), STRATEGIC_PATCH)
            self._start(ended, after_s=RUN_S)

    def _start(self, work: Coroutine[Any, Any, Any], after_s: float = 0.0) -> None:
        task = asyncio.ensure_future(self._quietly(work, after_s))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _quietly(self, work: Coroutine[Any, Any, Any], after_s: float = 0.0) -> None:
        """Objects come and go meanwhile; what matters is told again with the next change."""
        await asyncio.sleep(after_s)
        async with self._slots:
            try:
                await work
            except (NotFoundError, ConflictError):
                return
            except BayplanError as error:
                log.warning("kubelet request failed", error=str(error))
