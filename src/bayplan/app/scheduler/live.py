"""
The live scheduler: informers, engine and writer wired together in one asyncio loop.

Wiring, and only wiring: decisions are the engine's, requests are ``kube``'s.  Started by ``app.scheduler.process``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog

from bayplan.app.scheduler import decision_log
from bayplan.app.scheduler.decision_log import DecisionLog
from bayplan.app.scheduler.evictions import Evictions
from bayplan.app.scheduler.executor import Executor
from bayplan.app.scheduler.extenders import make_extenders
from bayplan.app.scheduler.informers import EngineInformers, kinds_for
from bayplan.app.scheduler.pod_metrics import PodMetrics
from bayplan.app.shell.http_server import Listing
from bayplan.app.shell.metrics import PrometheusMetrics
from bayplan.app.shell.service import Service
from bayplan.clock import SystemClock, wait_at_most
from bayplan.engine.events import BindFailed, Bound, Event, Tick
from bayplan.engine.intents import Outcome
from bayplan.engine.scheduler import MakeProfiles, Scheduler
from bayplan.framework.config.model import SchedulerConfig
from bayplan.kube.client import Client
from bayplan.kube.informer import SILENCE_S
from bayplan.kube.leader_election import LeaderElection
from bayplan.kube.recorder import Recorder
from bayplan.kube.writer import ApiWriter
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import WorkloadPolicy
from bayplan.plugins.leaf_node_workload_policy.noticing import Overlooked, advice

log = structlog.get_logger()

# Scheduling yields after this long, so that watches are read and binds are answered on time.
SLICE_S = 0.01
# With this many binds not answered yet, scheduling more only piles them up in memory.
MAX_UNANSWERED = 1000
# With that many there is no need to look after every single answer.
FULL_PAUSE_S = 0.02
# Events wait while there is more to write than this that pods wait for.
FEW_WRITES = 8
SHUTDOWN_S = 5.0
LAST_EVENTS_S = 3.0


class LiveScheduler(Service):
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
        keep_decisions: int = decision_log.MOST,
        when_synced: Callable[[], None] = lambda: None,
        when_idle: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(election, PrometheusMetrics())
        clock = SystemClock()
        self._clock = clock
        self._may_write = self.supervisor.may_write
        self._is_delayed = election is not None and config.delay_cache_until_active
        self._when_synced = when_synced
        self._when_idle = when_idle
        self._writer = ApiWriter(client, self.supervisor.check_lead)
        self._recorder = Recorder(client, clock, busy=self._is_busy)
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
        self._overlooked = Overlooked(self.engine.cache.objects, _warn_of_no_say)
        self._measuring = PodMetrics(self.metrics, self.engine.profiles, clock)
        self.decisions = DecisionLog(clock, keep_decisions)
        self.listings = (Listing("/decisions", self.decisions.render),)
        evictions = Evictions(self._writer, self._recorder, self.engine.waiting, self.metrics, clock)
        self._executor = Executor(
            self.engine, self._writer, self._recorder, evictions, clock, self._carry_out, self._binding_ended
        )
        following = EngineInformers(client, self._tell, self.metrics, silence_s, originals)
        self.informers = [following.informer(kind) for kind in kinds_for(self.engine.profiles.values())]

    # -- for the outside --

    def is_ready(self) -> bool:
        """Has it seen the whole cluster?  With delayCacheUntilActive a replica that waits for its turn need not."""
        return self.is_synced() or (self._is_delayed and not self._may_write())

    def refusals(self) -> list[str]:
        """Kinds the API server does not let us read, with what would help."""
        return [informer.refused for informer in self.informers if informer.refused]

    def publish(self) -> None:
        gauge, cache = self.metrics.gauge, self.engine.cache
        self.engine.queue.publish_gauges()
        self._measuring.publish()
        gauge("cache_size", len(cache.nodes), type="nodes")
        gauge("cache_size", cache.pod_count, type="pods")
        gauge("cache_size", cache.assumed_count, type="assumed_pods")
        gauge("goroutines", self._executor.binding_cycles, operation="binding")
        gauge("bayplan_events_dropped", self._recorder.dropped)
        gauge("bayplan_events_waiting", self._recorder.waiting)

    def _is_busy(self) -> bool:
        return self._writer.binding + self._executor.saying > FEW_WRITES

    # -- running --

    async def prepare(self) -> None:
        log.info("configured", profiles=",".join(self.engine.profiles))
        self.supervisor.keep_running(self._recorder.run())
        if not self._is_delayed:
            await self.sync()

    async def work(self) -> None:
        if self._is_delayed:
            await self.sync()
        await self._schedule()

    async def sync(self) -> None:
        await super().sync()
        log.info("synced", nodes=len(self.engine.cache.nodes), pods=self.engine.cache.pod_count)
        self._when_synced()

    async def stop(self, lost: bool) -> None:
        """Binds under way may end, then events; the lease goes last, when nothing of ours writes any more."""
        await self._writer.close(0.0 if lost else SHUTDOWN_S)
        await self._executor.cancel()
        await self._recorder.drain(0.0 if lost else LAST_EVENTS_S)
        await asyncio.gather(*(extender.close() for extender in self._extenders))

    # -- scheduling --

    async def _schedule(self) -> None:
        """Schedule in slices; sleep when there is nothing to do until something happens or a backoff ends."""
        self._executor.beside(work for _, work in self.engine.background())
        await asyncio.sleep(0)
        woken = self._executor.woken
        while True:
            self.engine.handle(Tick())
            if self._slice():
                await asyncio.sleep(0)
                continue
            if self._writer.binding >= MAX_UNANSWERED:
                await asyncio.sleep(FULL_PAUSE_S)
                continue
            woken.clear()
            if not self._writer.binding:
                self._when_idle()
            await wait_at_most(woken, self._until_wakeup())

    def _slice(self) -> bool:
        """Schedule for a few milliseconds; false when there was nothing to do."""
        started = time.perf_counter()
        ends = started + SLICE_S
        while self._writer.binding < MAX_UNANSWERED and self._may_write():
            outcomes = self.engine.schedule(is_enough=lambda: time.perf_counter() >= ends)
            if outcomes is None:
                return False
            now = time.perf_counter()
            for outcome in outcomes:
                self._carry_out(outcome, started, (now - started) / len(outcomes))
            if now >= ends:
                self._complain_if_blocked(now - started, outcomes)
                return True
            started = now
        return False

    def _complain_if_blocked(self, seconds: float, outcomes: list[Outcome]) -> None:
        """Nothing else runs while plugins are asked, the renewal of the lease included."""
        election = self.supervisor.election
        if election is None or seconds < election.renew_deadline_s:
            return
        decisions = [outcome.decision for outcome in outcomes if outcome.decision is not None]
        slow = {name: took for decision in decisions for name, took in decision.slow_plugins.items()}
        log.error(
            "the lease could not be renewed in time: scheduling one pod took too long",
            pod=",".join(decision.pod.key for decision in decisions),
            seconds=round(seconds, 1),
            renew_deadline_s=election.renew_deadline_s,
            plugin=max(slow, key=lambda name: slow[name], default="unknown"),
        )

    def _carry_out(self, outcome: Outcome, started: float, took_s: float) -> None:
        """Pods that were decided together began together, and each took its share of the time."""
        if outcome.decision is not None:
            self._measuring.decided(outcome, started, took_s)
            self.decisions.decided(outcome)
            self._overlooked.look(outcome.decision.pod)
        self._executor.carry_out(outcome.intents, started)

    def _binding_ended(self, event: Bound | BindFailed, started: float) -> None:
        self._measuring.binding_ended(event, started)
        self.decisions.binding_ended(event)

    def _until_wakeup(self) -> float | None:
        if not self._may_write():
            # The lease could not be renewed for a while; if it can again, nothing tells us.
            return 0.5
        at = self.engine.queue.next_wakeup()
        return None if at is None else max(0.001, at - self._clock.now())

    def _tell(self, event: Event) -> None:
        self._executor.carry_out(self.engine.handle(event))
        self._executor.woken.set()


def _warn_of_no_say(policy: WorkloadPolicy, pod: Pod) -> None:
    log.warning(
        "pods match a WorkloadPolicy without naming it, so it has no say there",
        policy=policy.key,
        pod=pod.key,
        fix=advice(policy),
    )
