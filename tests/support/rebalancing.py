"""Live rebalancers inside the test's own event loop, and a witness of what they do to the pods of a policy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bayplan.app.rebalancer.live import LiveRebalancer
from bayplan.controllers.rebalancer.controller import Settings
from bayplan.framework.config.model import SchedulerConfig
from bayplan.kube.informer import Informer
from bayplan.kube.leader_election import LeaderElection
from bayplan.objects.kinds import all_kinds
from bayplan.objects.pod import Pod
from bayplan.plugins.plugin_set import make_profiles, registry
from tests.support.api import Object
from tests.support.control_plane import ControlPlane
from tests.support.live import Cluster, client_of, close, until


@asynccontextmanager
async def rebalancing(
    plane: ControlPlane,
    config: SchedulerConfig,
    *,
    settings: Settings | None = None,
    kubeconfig: Path | str | None = None,
    lease: dict[str, Any] | None = None,
) -> AsyncIterator[LiveRebalancer]:
    """A rebalancer that has looked once, to the end of the block."""
    client, _ = client_of(kubeconfig or plane.kubeconfig())
    known, _ = registry(discover=False)
    election = None if lease is None else LeaderElection(client, **lease)
    live = LiveRebalancer(client, make_profiles(config, known), election=election, settings=settings)
    task = asyncio.ensure_future(live.run())

    def has_looked() -> bool:
        if task.done():
            task.result()
        return live.steps > 0

    try:
        await until(has_looked, "the rebalancer to look")
        yield live
        if task.done():
            task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await close(client)


class PodWatch:
    """Counts, at every change, how many pods are ready and not being deleted; and which pods went."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._pods: dict[str, Pod] = {}
        self.least = 10**6
        self.gone: list[str] = []

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[PodWatch]:
        client, _ = client_of(self._cluster.plane.kubeconfig())
        (kind,) = (each for each in all_kinds() if each.name == "Pod")
        informer: Informer[Pod] = Informer(
            client, kind, added=self._see, changed=lambda _, pod: self._see(pod), deleted=self._lose
        )
        task = asyncio.ensure_future(informer.run())
        try:
            await informer.synced.wait()
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await close(client)

    def begin(self) -> None:
        """From now on it counts."""
        self.least, self.gone = self._ready(), []

    def _see(self, pod: Pod) -> None:
        if pod.namespace != self._cluster.namespace:
            return
        known = self._pods.get(pod.uid)
        self._pods[pod.uid] = pod
        if pod.is_terminating and (known is None or not known.is_terminating):
            self.gone.append(pod.name)
        self.least = min(self.least, self._ready())

    def _lose(self, pod: Pod) -> None:
        self._pods.pop(pod.uid, None)

    def _ready(self) -> int:
        ready = (pod.condition("Ready") for pod in self._pods.values() if not pod.is_terminating)
        return sum(each is not None and each.status == "True" for each in ready)


async def policy_status(cluster: Cluster, name: str = "regions") -> Object:
    found = await asyncio.to_thread(cluster.api.get, "WorkloadPolicy", name, cluster.namespace)
    status: Object = found.get("status", {})
    return status


async def condition(cluster: Cluster, kind: str, name: str = "regions") -> Object:
    status = await policy_status(cluster, name)
    return next((each for each in status.get("conditions", ()) if each["type"] == kind), {})


async def says(cluster: Cluster, kind: str, reason: str, timeout_s: float = 30.0) -> Object:
    """Wait until a condition of the policy has this reason."""

    async def told() -> Object | None:
        found = await condition(cluster, kind)
        return found if found.get("reason") == reason else None

    found: Object = await until(told, f"{kind} to say {reason}", timeout_s)
    return found
