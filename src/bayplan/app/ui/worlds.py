"""
Files and simulations to look at: a world, read anew when its files change, or one in which time passes.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import structlog

from bayplan.app.ui.picture import Attempts
from bayplan.app.ui.placements import Placements
from bayplan.app.ui.rights import Rights
from bayplan.errors import BayplanError
from bayplan.simulator import simulation
from bayplan.simulator.explain.explanation import explain
from bayplan.simulator.rebalance_plan import observed_of, plan_world
from bayplan.simulator.world import World
from bayplan.view.documents import Origin
from bayplan.view.pod_view import pod_view
from bayplan.view.policies import moves_of, policies_of, policy_of
from bayplan.view.simulation_view import simulation_view
from bayplan.view.texts import shown
from bayplan.view.world_view import attempts as attempts_in

log = structlog.get_logger()

LOOK_EVERY_S = 1.0
TURN_S = 0.001
"""How long a run stands aside for somebody who wants to look."""

Read = Callable[[], World]


class _Worlds:
    """A world, and how it is shown."""

    name = ""

    def __init__(self, world: World, command: str) -> None:
        self.world = world
        self.revision = 0
        self.problem = ""
        self._command = command

    def namespaces(self) -> Collection[str]:
        return {record.pod.namespace for record in list(self.world.cluster.records.values())}

    def pod(self, rights: Rights, key: str, attempts: Attempts) -> dict[str, Any] | None:
        with self._standing_still():
            world = self.world
            pod = world.cluster.pod(key)
            if pod is None or pod.scheduler_name not in world.scheduler.profiles:
                return None
            command = shown(f"{self._explaining()} pod {pod.name} -n {pod.namespace}")
            document = explain(world.scheduler, pod)
            owner = world.workloads.owner(pod) or ""
            tried = attempts_in(world, pod.uid)
            nodes = world.scheduler.cache.nodes
            policy = policy_of(pod, partial(observed_of, world))
            return pod_view(document, pod, nodes, owner=owner, command=command, attempts=tried, policy=policy)

    def _explaining(self) -> str:
        return "bayplan explain"

    def _standing_still(self) -> AbstractContextManager[Any]:
        """Nothing happens in the world meanwhile."""
        return nullcontext()


class FileCluster(_Worlds):
    """A ``Source`` of files that are read again when they change."""

    name = "files"

    def __init__(self, read: Read, files: Sequence[str], command: str) -> None:
        super().__init__(read(), command)
        self._read = read
        self._files = files
        self._seen = self._stamps()

    def view(self, rights: Rights) -> dict[str, Any]:
        document = simulation_view(self.world, Origin(self.name, self._command))
        plan = plan_world(self.world)
        moves = [{**move, "namespace": each["namespace"]} for each in plan["policies"] for move in each["moves"]]
        policies = policies_of(plan["policies"], self.world.scheduler)
        facts, placements = Placements(self.world.scheduler.cache.objects).shown(self.world.clock.now(), rights)
        facts = [*document["facts"], *facts]
        return {**document, "facts": facts, "placements": placements, "policies": policies, "moves": moves_of(moves)}

    async def run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            stamps = await asyncio.to_thread(self._stamps)
            if stamps != self._seen:
                self._seen = stamps
                await self._reread()

    async def _reread(self) -> None:
        try:
            self.world = await asyncio.to_thread(self._read)
            self.problem = ""
        except BayplanError as error:
            log.warning("files not read", error=str(error))
            self.problem = f"this is how the files were before: {error}"
        self.revision += 1

    def _stamps(self) -> list[tuple[str, int, int]]:
        """Of every file, and of those in folders."""
        found = []
        for name in self._files:
            inside = [os.path.join(above, each) for above, _, files in os.walk(name) for each in files]
            for path in sorted(inside) or [name]:
                try:
                    told = os.stat(path)
                    found.append((path, told.st_mtime_ns, told.st_size))
                except OSError:
                    found.append((path, 0, 0))
        return found


class RunningSimulation(_Worlds):
    """A ``Source`` of a simulation in a thread of its own, whose time passes as fast as ``speed`` says."""

    name = "simulate"

    def __init__(self, world: World, command: str, speed: float, run_for_s: float | None = None) -> None:
        super().__init__(world, command)
        self._speed = speed
        self._run_for_s = run_for_s
        self._still = threading.Lock()
        """Held by whoever looks at the world or lets something happen in it."""
        self._wanted = 0
        self._ended = threading.Event()

    def view(self, rights: Rights) -> dict[str, Any]:
        with self._standing_still():
            return simulation_view(self.world, Origin(self.name, self._command))

    async def run(self) -> None:
        """To its end; then what came of it can be looked at for ever."""
        try:
            stopped = await asyncio.to_thread(self._run)
        except BayplanError as error:
            stopped = str(error)
        finally:
            self._ended.set()
        self.problem = f"the simulation stopped: {stopped}" if stopped else ""
        self.revision += 1
        log.info("the simulation is over", stopped=stopped)
        await asyncio.Event().wait()

    def _run(self) -> str:
        with self._still:
            return simulation.run(self.world, self._run_for_s, self._tried, pace=self._pass)

    def _tried(self, tried: int, total: int) -> None:
        self.revision += 1
        if self._ended.is_set():
            raise _EndedError("nobody looks any more")
        if self._wanted:
            self._still.release()
            time.sleep(TURN_S)
            self._still.acquire()

    def _pass(self, seconds: float) -> None:
        """Virtual time is about to pass: take as much of real time as the speed says."""
        self._still.release()
        try:
            if self._ended.wait(seconds / self._speed):
                raise _EndedError("nobody looks any more")
        finally:
            self._still.acquire()
        self.revision += 1

    def _standing_still(self) -> AbstractContextManager[Any]:
        return _Look(self)

    def _explaining(self) -> str:
        return f"{self._command} --explain  # and, of the files as they are: bayplan explain"


class _Look:
    """Looks at a simulation while it stands still."""

    def __init__(self, run: RunningSimulation) -> None:
        self._run = run

    def __enter__(self) -> None:
        self._run._wanted += 1
        self._run._still.acquire()

    def __exit__(self, *_: object) -> None:
        self._run._wanted -= 1
        self._run._still.release()


class _EndedError(BayplanError):
    """The process ends while a simulation runs."""
