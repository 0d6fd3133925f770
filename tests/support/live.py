"""Live schedulers inside the test's own event loop, on the real control plane. Tests of ``app/`` use it.

``Cluster`` is one test's part of the control plane: a namespace of its own, async calls, and what the real cluster's
kubelets would do. ``running`` starts a ``LiveScheduler`` whose requests go through a ``FaultyTransport``.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayplan.app.scheduler.live import LiveScheduler
from bayplan.framework import Plugin
from bayplan.framework.config.loading import load_config
from bayplan.framework.config.model import SchedulerConfig
from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client
from bayplan.kube.informer import SILENCE_S
from bayplan.kube.leader_election import LeaderElection
from bayplan.kube.transport import HttpTransport
from bayplan.plugins.plugin_set import make_profiles, registry
from tests.parity.resetting import reset
from tests.support.api import Api, Object
from tests.support.control_plane import ControlPlane
from tests.support.faults import FaultyTransport

Objects = list[Object]
_numbers = itertools.count(1)
POLL_S = 0.01


class Cluster:
    """One test's cluster: emptied before use, with a namespace of its own."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.api: Api = plane.api()
        self.namespace = f"live-{next(_numbers)}"

    async def start(self) -> None:
        await asyncio.to_thread(reset, self.api)
        await self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})

    async def create(self, manifest: Object) -> Object:
        return await asyncio.to_thread(self.api.create, manifest)

    async def node(self, name: str = "n1", *, cpu: str = "4", pods: int = 110, **spec: Any) -> Object:
        return await self.create(node_manifest(name, cpu=cpu, pods=pods, **spec))

    async def nodes(self, count: int, **spec: Any) -> None:
        await asyncio.gather(*(self.node(f"n{number}", **spec) for number in range(1, count + 1)))

    async def pod(self, name: str = "p1", *, cpu: str = "100m", **spec: Any) -> Object:
        return await self.create(self.pod_manifest(name, cpu=cpu, **spec))

    async def pods(self, count: int, prefix: str = "p", **spec: Any) -> None:
        await asyncio.gather(*(self.pod(f"{prefix}{number}", **spec) for number in range(1, count + 1)))

    def pod_manifest(self, name: str, *, cpu: str = "100m", **spec: Any) -> Object:
        metadata = {"name": name, "namespace": self.namespace, **spec.pop("metadata", {})}
        container = {"name": "c", "image": "web:1", "resources": {"requests": {"cpu": cpu, "memory": "16Mi"}}}
        given = {"schedulerName": "bayplan", "containers": [container], **spec}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": given}

    # -- reading --

    async def get(self, name: str) -> Object:
        return await asyncio.to_thread(self.api.get, "Pod", name, self.namespace)

    async def find(self, name: str) -> Object | None:
        return await asyncio.to_thread(self.api.find, "Pod", name, self.namespace)

    async def list(self) -> Objects:
        return await asyncio.to_thread(self.api.list, "Pod", self.namespace)

    async def events(self, name: str, reason: str) -> Objects:
        """Events about a pod, oldest first."""
        found = await asyncio.to_thread(self.api.list, "Event", self.namespace)
        about = [one for one in found if one["involvedObject"]["name"] == name and one["reason"] == reason]
        return sorted(about, key=lambda one: one.get("eventTime") or "")

    # -- waiting --

    async def bound(self, name: str = "p1", timeout_s: float = 10.0) -> str:
        """Wait until the pod has a node; gives its name."""

        async def node_name() -> str | None:
            pod = await self.find(name)
            return pod["spec"].get("nodeName") if pod else None

        found: str = await until(node_name, f"pod {name} to be bound", timeout_s)
        return found

    async def all_bound(self, count: int, timeout_s: float = 30.0) -> Objects:
        """Wait until so many pods of the namespace have a node."""

        async def enough() -> Objects | None:
            found = [pod for pod in await self.list() if pod["spec"].get("nodeName")]
            return found if len(found) >= count else None

        found: Objects = await until(enough, f"{count} pods to be bound", timeout_s)
        return found

    async def unschedulable(self, name: str = "p1", timeout_s: float = 10.0) -> Object:
        """Wait until the pod's status says that it was not scheduled; gives the condition."""

        async def condition() -> Object | None:
            pod = await self.find(name)
            found = scheduled_condition(pod) if pod else None
            return found if found and found["status"] == "False" else None

        found: Object = await until(condition, f"pod {name} to be called unschedulable", timeout_s)
        return found

    async def event(self, name: str, reason: str, timeout_s: float = 10.0) -> Object:
        """Wait for the first event of that reason about a pod."""

        async def first() -> Object | None:
            found = await self.events(name, reason)
            return found[0] if found else None

        found: Object = await until(first, f"an event {reason} about {name}", timeout_s)
        return found

    # -- changing --

    async def delete(self, name: str, kind: str = "Pod") -> None:
        """At once: nobody runs a kubelet here that would end a pod."""
        namespace = self.namespace if kind == "Pod" else None
        await asyncio.to_thread(self.api.delete, kind, name, namespace, 0)

    async def bind(self, name: str, node: str) -> None:
        """As another scheduler would."""
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        path = f"/api/v1/namespaces/{self.namespace}/pods/{name}/binding"
        await asyncio.to_thread(self.api.call, "POST", path, body)


def node_manifest(name: str, *, cpu: str = "4", pods: int = 110, **spec: Any) -> Object:
    sizes = {"cpu": cpu, "memory": "8Gi", "pods": str(pods)}
    labels = {"kubernetes.io/hostname": name}
    metadata = {"name": name, "labels": labels}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": {"allocatable": sizes, "capacity": sizes},
    }


def scheduled_condition(pod: Object) -> Object | None:
    return next((one for one in pod["status"].get("conditions", ()) if one["type"] == "PodScheduled"), None)


async def until(ask: Callable[[], Any], described: str, timeout_s: float = 10.0) -> Any:
    """Ask (a function or a coroutine function) until the answer is true, or anything but empty."""
    deadline = time.monotonic() + timeout_s
    while True:
        answer = ask()
        if asyncio.iscoroutine(answer):
            answer = await answer
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {timeout_s:g} s for {described}")
        await asyncio.sleep(POLL_S)


# -- running --


@dataclass(slots=True)
class Running:
    """A scheduler that runs."""

    live: LiveScheduler
    faults: FaultyTransport
    task: asyncio.Task[None]

    async def scheduling(self, timeout_s: float = 10.0) -> None:
        """Wait until it has seen the cluster and may bind."""

        def is_scheduling() -> bool:
            if self.task.done():
                self.task.result()
            return self.live.is_working() and self.live.is_synced()

        await until(is_scheduling, "the scheduler to start", timeout_s)

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


def config_of(**settings: Any) -> SchedulerConfig:
    """A configuration with the given top-level fields, as they stand in a file."""
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "bayplan"}],
        "podInitialBackoffSeconds": 1,
        **settings,
    }
    return load_config(document, "test")[0]


def client_of(kubeconfig: Path | str) -> tuple[Client, FaultyTransport]:
    credentials = Credentials(str(kubeconfig))
    faults = FaultyTransport(HttpTransport(credentials.endpoint()))
    return Client(credentials, faults), faults


async def close(client: Client) -> None:
    """Close, and let the other end of connections that were left in the middle say good-bye."""
    await client.close()
    await asyncio.sleep(0.02)


@asynccontextmanager
async def running(
    plane: ControlPlane,
    *,
    config: SchedulerConfig | None = None,
    plugins: Sequence[type[Plugin]] = (),
    kubeconfig: Path | str | None = None,
    lease: dict[str, Any] | None = None,
    silence_s: float = SILENCE_S,
    prepare: Callable[[FaultyTransport], None] = lambda faults: None,
    wait: bool = True,
) -> AsyncIterator[Running]:
    """A scheduler, from the moment it schedules (unless ``wait`` is false) to the end of the block."""
    client, faults = client_of(kubeconfig or plane.kubeconfig())
    prepare(faults)
    settings = config or config_of()
    known, _ = registry(discover=False)
    for plugin in plugins:
        known.register(plugin)
    election = None if lease is None else LeaderElection(client, **lease)
    make = make_profiles(settings, known, [plugin.name for plugin in plugins])
    live = LiveScheduler(client, settings, make, election=election, silence_s=silence_s)
    started = Running(live, faults, asyncio.ensure_future(live.run()))
    try:
        if wait:
            await started.scheduling()
        yield started
    finally:
        await started.stop()
        await close(client)


async def knows_the_cluster(run: Running, cluster: Cluster) -> None:
    """The scheduler's picture of nodes and of pods on them equals the API server's."""

    async def equal() -> bool:
        cache = run.live.engine.cache
        nodes = {node["metadata"]["name"] for node in await asyncio.to_thread(cluster.api.list, "Node")}
        pods = {
            (pod["metadata"]["uid"], pod["spec"]["nodeName"])
            for pod in await asyncio.to_thread(cluster.api.list, "Pod")
            if pod["spec"].get("nodeName")
        }
        known = {(pod.uid, pod.node_name) for pod in cache.pods() if not cache.is_assumed(pod.uid)}
        return set(cache.nodes.names) == nodes and known == pods

    await until(equal, "the scheduler to know the cluster")
