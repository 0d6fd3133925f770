"""
The live scheduler: informers, engine and writer wired together in one asyncio loop.

Wiring, and only wiring: decisions are the engine's, requests are ``kube``'s.  Started by ``app.service``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from bayplan.app.evicting import Evictions
from bayplan.app.executing import Executor
from bayplan.app.extending import make_extenders
from bayplan.app.following import Following, kinds_for
from bayplan.app.measuring import Measuring
from bayplan.app.metrics import PrometheusMetrics
from bayplan.clock import SystemClock
from bayplan.engine.events import Event, Tick
from bayplan.engine.intents import Bind, Intent, PatchStatus
from bayplan.engine.scheduler import MakeProfiles, Scheduler
from bayplan.errors import LeadershipLostError
from bayplan.framework.config_model import SchedulerConfig
from bayplan.framework.decision import Decision
from bayplan.kube.client import Client
from bayplan.kube.informer import SILENCE_S
from bayplan.kube.leader_election import LeaderElection
from bayplan.kube.recorder import Recorder
from bayplan.kube.writer import ApiWriter

log = structlog.get_logger()

# Scheduling yields after this long, so that watches are read and binds are answered on time.
SLICE_S = 0.01
# With this many binds not answered yet, scheduling more only piles them up in memory.
MAX_UNANSWERED = 1000
# Events wait while there are more binds than this.
FEW_BINDS = 8
SHUTDOWN_S = 5.0
LAST_EVENTS_S = 3.0


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
        silence_s: float = SILENCE_S,
        when_synced: Callable[[], None] = lambda: None,
    ) -> None:
        clock = SystemClock()
        self._clock = clock
        self._election = election
        self._is_delayed = election is not None and config.delay_cache_until_active
        self._when_synced = when_synced
        self.metrics = PrometheusMetrics()
        self._writer = ApiWriter(client, self._may_write)
        self._recorder = Recorder(client, clock, busy=lambda: self._writer.binding > FEW_BINDS)
        self._extenders, originals = make_extenders(config)
        self.engine = Scheduler(
            make_profiles,
            clock=clock,
            writer=self._writer,
            events=self._recorder,
            metrics=self.metrics,
            extenders=self._extenders,
            seed=time.time_ns() if seed is None else seed,
            initial_backoff_s=config.pod_initial_backoff_seconds,
            max_backoff_s=config.pod_max_backoff_seconds,
        )
        self.engine.on_decision = self._note
        self._measuring = Measuring(self.metrics, self.engine.profiles, clock)
        evictions = Evictions(self._writer, self._recorder, self.engine.waiting, self.metrics, clock)
        self._executor = Executor(
            self.engine, self._writer, self._recorder, self._measuring, evictions, clock, self._carry_out
        )
        following = Following(client, self._tell, self.metrics, silence_s, originals)
        self.informers = [following.informer(kind) for kind in kinds_for(self.engine.profiles.values())]
        self.is_scheduling = False
        self.is_stopping = False
        self._decision: Decision | None = None
        self._decided_at = 0.0
        self._tasks: list[asyncio.Task[None]] = []
        self._broken: asyncio.Future[None] | None = None

    # -- for the outside --

    async def run(self) -> None:
        """Until cancelled, or until the lease is lost, or a part that should run for ever breaks."""
        self._broken = asyncio.get_running_loop().create_future()
        work = asyncio.ensure_future(self._work())
        lost = False
        try:
            await asyncio.wait({work, self._broken}, return_when=asyncio.FIRST_COMPLETED)
            (work if work.done() else self._broken).result()
        except LeadershipLostError:
            lost = True
            raise
        finally:
            await self._stop(work, lost)

    def is_synced(self) -> bool:
        return all(informer.synced.is_set() for informer in self.informers)

    def is_ready(self) -> bool:
        """Has it seen the whole cluster?  With delayCacheUntilActive a replica that waits for its turn need not."""
        return self.is_synced() or (self._is_delayed and not self._may_write())

    def is_leading(self) -> bool:
        return self._may_write()

    def refusals(self) -> list[str]:
        """Kinds the API server does not let us read, with what would help."""
        return [informer.refused for informer in self.informers if informer.refused]

    def render_metrics(self) -> bytes:
        """The metrics page, with gauges as they are now."""
        gauge, cache = self.metrics.gauge, self.engine.cache
        self.engine.queue.publish_gauges()
        self._measuring.publish()
        gauge("cache_size", len(cache.nodes), type="nodes")
        gauge("cache_size", cache.pod_count, type="pods")
        gauge("cache_size", cache.assumed_count, type="assumed_pods")
        gauge("goroutines", self._executor.binding_cycles, operation="binding")
        gauge("bayplan_events_dropped", self._recorder.dropped)
        gauge("bayplan_events_waiting", self._recorder.waiting)
        if self._election is not None:
            gauge("leader_election_master_status", float(self.is_leading()), name=self._election.name)
        for informer in self.informers:
            kind = informer.kind.name
            gauge("bayplan_bad_objects", informer.bad_objects, kind=kind)
            gauge("bayplan_unreadable_kinds", float(bool(informer.refused)), kind=kind)
            gauge("bayplan_lists", informer.lists, kind=kind)
            gauge("bayplan_watches", informer.watches, kind=kind)
        return self.metrics.render()

    # -- running --

    async def _work(self) -> None:
        self._keep_running(self._recorder.run())
        if not self._is_delayed:
            await self._sync()
        if self._election is None:
            await self._schedule()
        else:
            await self._lead(self._election)

    async def _sync(self) -> None:
        for informer in self.informers:
            self._keep_running(informer.run())
        await asyncio.gather(*(informer.synced.wait() for informer in self.informers))
        log.info("synced", nodes=len(self.engine.cache.nodes), pods=self.engine.cache.pod_count)
        self._when_synced()

    async def _lead(self, election: LeaderElection) -> None:
        await election.acquire()
        self._keep_running(election.hold())
        if self._is_delayed:
            await self._sync()
        await self._schedule()

    def _keep_running(self, work: Coroutine[Any, Any, None]) -> None:
        """A task that must not end: if it does, all of us ends, and the cluster starts us anew."""
        task = asyncio.ensure_future(work)
        self._tasks.append(task)
        task.add_done_callback(self._task_ended)

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or self._broken is None or self._broken.done():
            return
        self._broken.set_exception(task.exception() or RuntimeError(f"{task.get_coro()} ended"))

    async def _stop(self, work: asyncio.Future[None], lost: bool) -> None:
        """Binds under way may end, then events; the lease goes last, when nothing of ours writes any more."""
        self.is_stopping, self.is_scheduling = True, False
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await self._writer.close(0.0 if lost else SHUTDOWN_S)
        await self._executor.cancel()
        await self._recorder.drain(0.0 if lost else LAST_EVENTS_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        assert self._broken is not None
        self._broken.cancel()
        await asyncio.gather(*(extender.close() for extender in self._extenders))
        if self._election is not None:
            await self._election.release()

    # -- scheduling --

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
            try:
                # Not wait_for: until Python 3.12 it forgets a cancellation that comes together with the news.
                async with asyncio.timeout(self._until_wakeup()):
                    await woken.wait()
            except TimeoutError:
                continue

    def _slice(self) -> bool:
        """Schedule for a few milliseconds; false when there was nothing to do."""
        started = time.perf_counter()
        ends = started + SLICE_S
        while self._writer.binding < MAX_UNANSWERED and self._may_write():
            intents = self.engine.schedule_one()
            if intents is None:
                return False
            self._carry_out(intents, started)
            started = time.perf_counter()
            if started >= ends:
                return True
        return False

    def _carry_out(self, intents: list[Intent], started: float) -> None:
        decision, self._decision = self._decision, None
        if decision is not None:
            self._measuring.decided(decision, self._decided_at - started)
            if any(isinstance(intent, Bind) for intent in intents):
                self._measuring.committed(decision)
            else:
                reason = next((i.reason for i in intents if isinstance(i, PatchStatus)), "")
                self._measuring.attempt_failed(decision, reason, started)
        self._executor.carry_out(intents, started)

    def _note(self, decision: Decision) -> None:
        self._decision, self._decided_at = decision, time.perf_counter()

    def _until_wakeup(self) -> float | None:
        if not self._may_write():
            # The lease could not be renewed for a while; if it can again, nothing tells us.
            return 0.5
        at = self.engine.queue.next_wakeup()
        return None if at is None else max(0.001, at - self._clock.now())

    def _may_write(self) -> bool:
        return self._election is None or self._election.is_leader()

    def _tell(self, event: Event) -> None:
        self._executor.carry_out(self.engine.handle(event))
        self._executor.woken.set()
