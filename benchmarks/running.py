"""
A workload file run on a real API server, for one contender: make everything, start it, wait for the binds, tidy up.

``live`` makes one ``LiveRun`` for a control plane and calls it for every workload and contender in turn.  Nodes stay
where the next run has the same ones; all else is removed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from typing import Any

from bayplan.errors import NotFoundError
from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client
from bayplan.simulator.benchmarks import workload_rendering as rendering
from bayplan.simulator.benchmarks.workload_file import (
    Action,
    Barrier,
    Churn,
    CreateNodes,
    CreateObjects,
    CreatePods,
    Delete,
    Manifest,
    Measure,
    Sizes,
    Workload,
)
from benchmarks import claiming
from benchmarks.contenders import Contenders
from benchmarks.spending import cpu_s, resident_bytes, say, settled
from benchmarks.watching import BindWatch
from tests.support.api import path_of
from tests.support.control_plane import ControlPlane

AT_ONCE = 32
PLANE_FLAGS = (
    "--delete-collection-workers=8",
    # Nobody here would take back the finalizers it adds to claims and volumes.
    "--disable-admission-plugins=StorageObjectInUseProtection",
)
AT_ONCE_GONE = {"gracePeriodSeconds": 0}
KEPT = ("Node", "Pod")
"""Kinds that are not removed one by one."""


class LiveRun:
    """One control plane, and what the workload under way has put there."""

    def __init__(self, plane: ControlPlane) -> None:
        self._client = Client(Credentials(str(plane.kubeconfig("admin"))))
        self._contenders = Contenders(plane)
        self._nodes: list[Manifest] = []
        self._others: list[Manifest] = []
        self._made: dict[str, list[str]] = {}
        self._awaited: set[str] = set()
        self._recurring: list[Churn | Delete] = []
        self._recurred: set[asyncio.Task[None]] = set()
        self._idle: dict[tuple[str, int], tuple[float, int]] = {}

    async def close(self) -> None:
        self._contenders.close()
        await self._client.close()

    async def measure(self, workload: Workload, sizes: Sizes, contender: str) -> dict[str, Any]:
        """The numbers of one contender."""
        say(f"{workload.name}: {contender}: making what it needs")
        result: dict[str, Any] = {}
        try:
            for action in workload.actions:
                if isinstance(action, Barrier):
                    await self._let_run(contender)
                elif isinstance(action, Measure):
                    result = await self._measured(workload, sizes, contender)
                else:
                    await self._prepare(action, sizes)
        finally:
            await self._tidy_up()
        return result

    # -- before --

    async def _prepare(self, action: Action, sizes: Sizes) -> None:
        match action:
            case CreateNodes():
                await self._have_nodes(list(rendering.nodes(action, sizes)))
            case CreateObjects():
                made = list(rendering.objects(action, sizes))
                self._others += made
                await self._create(made)
            case CreatePods():
                made = list(rendering.pods(action, sizes))
                self._made[action.name] = [each["metadata"]["name"] for each in made]
                if not action.pending:
                    self._awaited.update(_name(each) for each in made if not each["spec"].get("nodeName"))
                templates = [each for each in self._others if each["kind"] == "ResourceClaimTemplate"]
                await _in_parallel(self._create_pod(each, templates) for each in made)
            case Delete(everyPods=None):
                gone = self._made[action.name]
                self._awaited -= set(gone)
                await _in_parallel(self._delete(path_of("Pod", "default", name)) for name in gone)
            case Churn() | Delete():
                self._recurring.append(action)

    async def _have_nodes(self, wanted: list[Manifest]) -> None:
        """Those of the run before will do if they are the same."""
        if wanted == self._nodes:
            return
        await self._client.delete(path_of("Node"), AT_ONCE_GONE)
        await self._create(wanted)
        self._nodes = wanted

    async def _create(self, manifests: Iterable[Manifest]) -> None:
        await _in_parallel(self._client.create(_collection(each), each) for each in manifests)

    async def _create_pod(self, manifest: Manifest, templates: list[Manifest]) -> None:
        """
        A pod, with the claims that it wants from templates.

        They are there before a scheduler starts, for all contenders alike: the controller that makes them is not
        measured, and takes nobody's CPU.
        """
        made = await self._client.create(_collection(manifest), manifest)
        claims = claiming.claims_for(made, templates)
        if not claims:
            return
        for claim in claims:
            await self._client.create(_collection(claim), claim)
        self._others += claims
        await self._client.patch(f"{_path(manifest)}/status", {"status": claiming.status_with(claims)})

    async def _delete(self, path: str) -> None:
        try:
            await self._client.delete(path, AT_ONCE_GONE)
        except NotFoundError:
            return

    async def _remove(self, manifest: Manifest) -> None:
        """Nobody here takes the finalizer off a claim that has devices."""
        if manifest["kind"] == "ResourceClaim":
            try:
                await self._client.patch(_path(manifest), {"metadata": {"finalizers": None}})
            except NotFoundError:
                return
        await self._delete(_path(manifest))

    # -- running --

    async def _let_run(self, contender: str) -> None:
        watch = BindWatch(self._client, self._awaited, lambda bound: None)
        await watch.open()
        with self._contenders.start(contender) as server:
            await watch.until_all(server.check)

    async def _measured(self, workload: Workload, sizes: Sizes, contender: str) -> dict[str, Any]:
        idle_cpu, idle_bytes = self._idle.get((contender, sizes.nodes), (0.0, 0))
        wanted = len(self._awaited)
        watch = BindWatch(self._client, self._awaited, lambda bound: self._happen(bound, sizes))
        await watch.open()
        load = os.getloadavg()[0]
        say(f"{workload.name}: {contender}: {wanted} pods to be bound")
        with self._contenders.start(contender) as server:
            await watch.until_all(server.check)
            cpu, resident = cpu_s(server.pid) - idle_cpu, resident_bytes(server.pid)
        speed = watch.pods_per_second
        return {
            "pods": wanted,
            "bound": watch.bound,
            "podsPerSecond": None if speed is None else round(speed, 1),
            "cpuMillisecondsPerPod": round(max(0.0, cpu) / max(1, watch.bound) * 1000, 2),
            "kilobytesPerPod": round((resident - idle_bytes) / max(1, watch.bound) / 1024, 1),
            "residentMegabytes": round(resident / 1e6),
            "machineLoad": round(load, 1),
        }

    async def look_idle(self, workload: Workload, sizes: Sizes, contender: str) -> None:
        """What a contender has spent when it knows the nodes and has nothing to do, which is not the pods' doing."""
        if (contender, sizes.nodes) in self._idle:
            return
        for action in workload.actions:
            if isinstance(action, CreateNodes):
                await self._have_nodes(list(rendering.nodes(action, sizes)))
        with self._contenders.start(contender) as server:
            self._idle[contender, sizes.nodes] = await asyncio.to_thread(settled, server.pid)

    def _happen(self, bound: int, sizes: Sizes) -> None:
        """A pod was bound: what recurs may be due."""
        for action in self._recurring:
            assert action.everyPods is not None
            if bound % action.everyPods == 0:
                task = asyncio.ensure_future(self._recur(action, bound // action.everyPods - 1, sizes))
                self._recurred.add(task)
                task.add_done_callback(self._recurred.discard)

    async def _recur(self, action: Churn | Delete, number: int, sizes: Sizes) -> None:
        if isinstance(action, Delete):
            if number < len(self._made[action.name]):
                await self._delete(path_of("Pod", "default", self._made[action.name][number]))
            return
        manifest = rendering.churned(action, number, sizes)
        if manifest["kind"] not in KEPT:
            self._others.append(manifest)
        await self._client.create(_collection(manifest), manifest)
        if action.recreate and number:
            await self._delete(_path(rendering.churned(action, number - 1, sizes)))

    # -- after --

    async def _tidy_up(self) -> None:
        await asyncio.gather(*self._recurred, return_exceptions=True)
        await self._client.delete(path_of("Pod", "default"), AT_ONCE_GONE)
        await self._client.delete(path_of("Event", "default"), AT_ONCE_GONE)
        await _in_parallel(self._remove(each) for each in self._others)
        self._others, self._made, self._recurring = [], {}, []
        self._awaited.clear()


def _name(manifest: Manifest) -> str:
    name: str = manifest["metadata"]["name"]
    return name


def _collection(manifest: Manifest) -> str:
    return path_of(manifest["kind"], manifest["metadata"].get("namespace", "default"))


def _path(manifest: Manifest) -> str:
    return path_of(manifest["kind"], manifest["metadata"].get("namespace", "default"), _name(manifest))


async def _in_parallel(work: Iterable[Any]) -> None:
    """Do it all, some at once."""
    rest: Iterator[Any] = iter(work)

    async def some() -> None:
        for each in rest:
            await each

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
