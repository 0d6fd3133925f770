"""
Fake kubelets: nodes that are Ready, and whose pods become Running and end in order when they are deleted.

Every Node of the cluster is played, also those that a person adds with kubectl.  Pods that restart always run for
ever; others succeed after a few seconds.  What a kubelet reads is in ``played``, what it writes in ``statuses``.
``supervising`` runs it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from bayplan.errors import BayplanError, ConflictError, NotFoundError
from bayplan.kube.client import STRATEGIC_PATCH, Client
from bayplan.kube.informer import Informer
from hack.dev_cluster import statuses
from hack.dev_cluster.played import NODES, PODS, PlayedNode, PlayedPod

log = structlog.get_logger()

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
RENEW_S = 10.0
RUN_S = 5.0
AT_ONCE = 16
ZONES = "abc"


class Kubelets:
    """All nodes of the cluster, in one process."""

    def __init__(self, client: Client, nodes: int) -> None:
        self._client = client
        self._wanted = nodes
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending: dict[str, float] = {}
        """Pods that are about to end, and how long they were given."""
        self._addresses: dict[str, str] = {}
        self._nodes: Informer[PlayedNode] = Informer(
            client, NODES, added=self._play, changed=lambda _, node: self._play(node), deleted=lambda _: None
        )
        self._pods: Informer[PlayedPod] = Informer(
            client,
            PODS,
            added=self._look,
            changed=lambda _, pod: self._look(pod),
            deleted=lambda pod: self._ending.pop(pod.uid, None),
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
            status = statuses.node_status(name, self._address(name), {})
            await self._client.patch(f"/api/v1/nodes/{name}/status", status, STRATEGIC_PATCH)

    def _play(self, node: PlayedNode) -> None:
        """Write what a kubelet would find wrong in the node's status."""
        if node.is_terminating:
            return
        if node.internal_ip:
            self._addresses[node.name] = node.internal_ip
        address = self._address(node.name)
        stale = node.stale_allocatable
        if not node.is_ready:
            status = statuses.node_status(node.name, address, node.status.allocatable or {})
        elif not node.internal_ip:
            status = {"status": {"addresses": statuses.addresses(node.name, address)}}
        elif stale:
            status = {"status": {"allocatable": stale}}
        else:
            return
        self._start(self._client.patch(f"/api/v1/nodes/{node.name}/status", status, STRATEGIC_PATCH))

    def _address(self, name: str) -> str:
        """The node's own address, always the same."""
        if name not in self._addresses:
            taken = set(self._addresses.values())
            free = (f"172.18.{number >> 8}.{number & 255}" for number in range(2, 1 << 16))
            self._addresses[name] = next(each for each in free if each not in taken)
        return self._addresses[name]

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

    def _look(self, pod: PlayedPod) -> None:
        phase = pod.status.phase
        if pod.is_terminating:
            # A second request may give it less time than the first, never more.
            if pod.stop_s < self._ending.get(pod.uid, float("inf")):
                self._ending[pod.uid] = pod.stop_s
                self._start(self._stop(pod), after_s=pod.stop_s)
        elif phase in ("", "Pending"):
            status = statuses.running(pod, self._address(pod.spec.node_name))
            self._start(self._client.patch(f"{_path(pod)}/status", status, STRATEGIC_PATCH))
        elif phase == "Running" and pod.spec.restart_policy != "Always" and pod.uid not in self._ending:
            self._ending[pod.uid] = float("inf")
            self._start(self._succeed(pod), after_s=RUN_S)

    async def _stop(self, pod: PlayedPod) -> None:
        """As the API server wants it: the containers have ended first, then the pod goes."""
        await self._succeed(pod)
        await self._client.delete(_path(pod), {"gracePeriodSeconds": 0, "preconditions": {"uid": pod.uid}})

    async def _succeed(self, pod: PlayedPod) -> None:
        await self._client.patch(f"{_path(pod)}/status", statuses.succeeded(pod), STRATEGIC_PATCH)

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


def _path(pod: PlayedPod) -> str:
    return f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
