"""
The live scheduler: informers, engine and writer wired together in one asyncio loop.

Wiring, and only wiring: decisions are the engine's, requests are ``kube``'s.  Started by ``bayplan scheduler``.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Iterable
from typing import Any

import structlog

from bayplan.app.executing import Executor
from bayplan.app.metrics import PrometheusMetrics
from bayplan.clock import SystemClock
from bayplan.engine.events import (
    NodeAdded,
    NodeChanged,
    NodeDeleted,
    ObjectAdded,
    ObjectChanged,
    ObjectDeleted,
    PodAdded,
    PodChanged,
    PodDeleted,
    Tick,
)
from bayplan.engine.scheduler import MakeProfiles, Scheduler
from bayplan.framework.config_model import SchedulerConfig
from bayplan.kube.client import Client
from bayplan.kube.informer import Informer
from bayplan.kube.leader_election import LeaderElection
from bayplan.kube.recorder import Recorder
from bayplan.kube.writer import ApiWriter
from bayplan.objects.kinds import Kind, all_kinds

log = structlog.get_logger()

LIVE_PODS = "status.phase!=Succeeded,status.phase!=Failed"
ALWAYS_READ = ("Namespace", "Node", "Pod")
# Scheduling yields after this long, so that watches are read and binds are answered on time.
SLICE_S = 0.01
# With this many pods on their way, scheduling more only piles them up in memory.
MAX_IN_FLIGHT = 1000
SHUTDOWN_S = 5.0


class LiveScheduler:
    """One scheduler process."""

    def __init__(
        self,
        client: Client,
        config: SchedulerConfig,
        make_profiles: MakeProfiles,
        *,
        election: LeaderElection | None = None,
        seed: int | None = None,
    ) -> None:
        self._client = client
        self._election = election
        self._clock = SystemClock()
        self.metrics = PrometheusMetrics()
        self._writer = ApiWriter(client, self._may_write)
        self._recorder = Recorder(client, self._clock, busy=lambda: self._executor.in_flight > 8)
        self.engine = Scheduler(
            make_profiles,
            clock=self._clock,
            writer=self._writer,
            events=self._recorder,
            metrics=self.metrics,
            seed=time.time_ns() if seed is None else seed,
            initial_backoff_s=config.pod_initial_backoff_seconds,
            max_backoff_s=config.pod_max_backoff_seconds,
        )
        self._executor = Executor(self.engine, self._writer, self._recorder, self._clock)
        self.informers = [self._informer(kind) for kind in self._kinds()]
        self.is_scheduling = False

    # -- running --

    async def run(self) -> None:
        """Until cancelled or until the lease is lost."""
        following = [asyncio.ensure_future(informer.run()) for informer in self.informers]
        recording = asyncio.ensure_future(self._recorder.run())
        try:
            await self.wait_for_sync()
            # The first list makes a million objects that live long; the collector need not visit them again.
            gc.collect()
            gc.freeze()
            if self._election is None:
                await self._schedule()
            else:
                await self._lead(self._election)
        finally:
            await self._stop([*following, recording])

    async def wait_for_sync(self) -> None:
        await asyncio.gather(*(informer.synced.wait() for informer in self.informers))
        log.info("synced", nodes=len(self.engine.cache.nodes), pods=self.engine.cache.pod_count)

    def is_ready(self) -> bool:
        return all(informer.synced.is_set() for informer in self.informers)

    def refusals(self) -> list[str]:
        """Kinds the API server does not let us read."""
        return [informer.refused for informer in self.informers if informer.refused]

    def render_metrics(self) -> bytes:
        """The metrics page, with gauges as they are now."""
        cache = self.engine.cache
        self.engine.queue.publish_gauges()
        sizes = {"nodes": len(cache.nodes), "pods": cache.pod_count, "assumed_pods": cache.assumed_count}
        for kind, count in sizes.items():
            self.metrics.gauge("cache_size", count, type=kind)
        self.metrics.gauge("dropped_events", self._recorder.dropped)
        for informer in self.informers:
            self.metrics.gauge("bad_objects", informer.bad_objects, kind=informer.kind.name)
        return self.metrics.render()

    async def _lead(self, election: LeaderElection) -> None:
        await election.acquire()
        holding = asyncio.ensure_future(election.hold())
        scheduling = asyncio.ensure_future(self._schedule())
        try:
            done, _ = await asyncio.wait({holding, scheduling}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            scheduling.cancel()
            holding.cancel()
            await asyncio.gather(scheduling, holding, return_exceptions=True)

    async def _stop(self, tasks: list[asyncio.Future[None]]) -> None:
        """Binds under way may end, then events; the lease goes last, when nothing of ours writes any more."""
        self.is_scheduling = False
        await self._executor.finish(SHUTDOWN_S)
        await self._recorder.drain(1.0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._election is not None:
            await self._election.release()

    async def _schedule(self) -> None:
        """Schedule in slices; sleep when there is nothing to do until something happens or a backoff ends."""
        self.is_scheduling = True
        woken = self._executor.woken
        while True:
            self.engine.handle(Tick())
            if self._slice():
                await asyncio.sleep(0)
                continue
            woken.clear()
            timeout = self._until_wakeup()
            if timeout is None or timeout > 0:
                try:
                    await asyncio.wait_for(woken.wait(), timeout)
                except TimeoutError:
                    pass

    def _slice(self) -> bool:
        """Schedule for a few milliseconds; false when there was nothing to do."""
        ends = time.perf_counter() + SLICE_S
        while self._executor.in_flight < MAX_IN_FLIGHT and self._may_write():
            intents = self.engine.schedule_one()
            if intents is None:
                return False
            self._executor.carry_out(intents)
            if time.perf_counter() >= ends:
                return True
        return False

    def _until_wakeup(self) -> float | None:
        at = self.engine.queue.next_wakeup()
        return None if at is None else max(0.0, at - self._clock.now())

    def _may_write(self) -> bool:
        return self._election is None or self._election.is_leader()

    # -- informers --

    def _kinds(self) -> Iterable[Kind]:
        """The kinds that the enabled plugins read or wait for, and no others."""
        wanted = set(ALWAYS_READ)
        for profile in self.engine.profiles.values():
            for plugin in profile.instances.values():
                wanted.update(plugin.reads)
        return [kind for kind in all_kinds() if kind.name in wanted]

    def _informer(self, kind: Kind) -> Informer[Any]:
        if kind.name == "Pod":
            return self._watch(kind, PodAdded, PodChanged, PodDeleted, LIVE_PODS)
        if kind.name == "Node":
            return self._watch(kind, NodeAdded, NodeChanged, NodeDeleted)
        name = kind.name
        return self._watch(
            kind,
            lambda value: ObjectAdded(name, value),
            lambda old, new: ObjectChanged(name, old, new),
            lambda value: ObjectDeleted(name, value),
        )

    def _watch(
        self,
        kind: Kind,
        added: Callable[..., Any],
        changed: Callable[..., Any],
        deleted: Callable[..., Any],
        field_selector: str = "",
    ) -> Informer[Any]:
        def tell(event: Any) -> None:
            self._executor.carry_out(self.engine.handle(event))
            self._executor.woken.set()

        return Informer(
            self._client,
            kind,
            added=lambda value: tell(added(value)),
            changed=lambda old, new: tell(changed(old, new)),
            deleted=lambda value: tell(deleted(value)),
            field_selector=field_selector,
            essential=kind.name in ("Node", "Pod"),
        )
