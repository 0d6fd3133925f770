"""
The shadow as a process: ``bayplan shadow`` calls ``run_shadow``.

Wiring, and only wiring: informers feed an engine that never schedules, through a buffer that puts events into the order
in which the API server made them; ``controllers.shadow`` judges binds with it.  Nothing is written.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from bayplan.app.scheduler.informers import EngineInformers, kinds_for
from bayplan.app.scheduler.named_clusters import warn_of_others
from bayplan.app.shell.metrics import ATTEMPT, SERVICE_GAUGES, Declared, PrometheusMetrics
from bayplan.app.shell.process import Build, ServiceOptions, run_service
from bayplan.app.shell.service import Service
from bayplan.clock import SystemClock, wait_at_most
from bayplan.controllers.shadow.event_order import Dated, EventOrder
from bayplan.controllers.shadow.judge import Judge
from bayplan.controllers.shadow.read_only import ReadOnly
from bayplan.controllers.shadow.tally import Tally
from bayplan.controllers.shadow.verdict import Verdict
from bayplan.engine import gc_tuning
from bayplan.engine.events import Event, KindRefused, PodAdded, PodChanged, PodDeleted
from bayplan.engine.scheduler import MakeProfiles, Scheduler
from bayplan.framework.config.model import SchedulerConfig
from bayplan.framework.ports import NoMetrics
from bayplan.kube.client import Client
from bayplan.kube.informer import SILENCE_S
from bayplan.kube.leader_election import LeaderElection
from bayplan.plugins.plugin_set import make_profiles, registry

log = structlog.get_logger()

SETTLE_S = 2.0
SLICE_S = 0.02
MOST_BEHIND = 20_000
"""With more events than this waiting, binds are counted and not judged: memory is bounded."""
MOST_SAMPLED = 100
"""With more nodes than this kube-scheduler looks at some of them only, unless its configuration says otherwise."""

PODS, TIPPED, SECONDS, BEHIND = (
    "bayplan_shadow_pods_total",
    "bayplan_shadow_tipped_total",
    "bayplan_shadow_decision_duration_seconds",
    "bayplan_shadow_events_waiting",
)
COUNTERS = {
    PODS: Declared("Pods that somebody else bound, by how our decision compares.", ("result",)),
    TIPPED: Declared("Pods that differ or are infeasible, by the plugin that tipped it.", ("result", "plugin")),
}
GAUGES = {BEHIND: Declared("Events that are held back or not taken in yet."), **SERVICE_GAUGES}
HISTOGRAMS = {SECONDS: Declared("Judging one bind, other orders included.", (), ATTEMPT)}

Tell = Callable[[Verdict], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowOptions:
    """What the command line says."""

    service: ServiceOptions
    config: SchedulerConfig
    profile: str = ""
    """The profile that decides for all pods, whatever scheduler they ask for."""
    plugins: Sequence[str] = field(default=())
    run_for_s: float | None = None
    settle_s: float = SETTLE_S


def run_shadow(options: ShadowOptions, tell: Tell, tally: Tally) -> int:
    """Run until stopped, or for as long as the options say; the exit code of the process itself."""
    return run_service(options.service, building(options, tell, tally))


def building(options: ShadowOptions, tell: Tell, tally: Tally) -> Build:
    known, extra = registry(options.plugins)

    def build(client: Client, election: LeaderElection | None) -> LiveShadow:
        make = make_profiles(options.config, known, extra, lambda text: log.warning("configuration", text=text))
        live = LiveShadow(client, make, tell, tally, options)
        warn_of_others(live.engine.profiles.values(), client.endpoint)
        if options.config.extenders:
            log.warning("configuration", text="extenders are not asked by the shadow, so they have no say")
        return live

    return build


class LiveShadow(Service):
    """One shadow process."""

    def __init__(
        self,
        client: Client,
        make: MakeProfiles,
        tell: Tell,
        tally: Tally,
        options: ShadowOptions,
        silence_s: float = SILENCE_S,
    ) -> None:
        super().__init__(None, PrometheusMetrics(COUNTERS, GAUGES, HISTOGRAMS))
        self._clock = SystemClock()
        nobody = ReadOnly()
        self.engine = Scheduler(make, clock=self._clock, writer=nobody, events=nobody)
        self._judge = Judge(self.engine, options.profile)
        self._order = EventOrder(options.settle_s)
        self._run_for_s = options.run_for_s
        self._tell_verdict = tell
        self.tally = tally
        following = EngineInformers(client, self._tell, NoMetrics(), silence_s)
        self.informers = [following.informer(kind) for kind in kinds_for(self.engine.profiles.values())]
        self._pods = next(each for each in self.informers if each.kind.called == "Pod")
        self._woken = asyncio.Event()
        self._is_learning = True

    def publish(self) -> None:
        self.metrics.gauge(BEHIND, len(self._order))

    async def prepare(self) -> None:
        await self.sync()
        self._is_learning = False
        gc_tuning.settle()
        nodes = len(self.engine.cache.nodes)
        log.info("synced", nodes=nodes, pods=self.engine.cache.pod_count, profiles=",".join(self.engine.profiles))
        if nodes > MOST_SAMPLED:
            text = (
                "kube-scheduler looks at some of so many nodes only, unless percentageOfNodesToScore is 100: "
                "expect differences where it did not look at the best one"
            )
            log.warning(text, nodes=nodes)

    async def work(self) -> None:
        """Take in what has settled; for ever, or for as long as was asked."""
        ends = float("inf") if self._run_for_s is None else self._clock.now() + self._run_for_s
        while self._clock.now() < ends:
            if self._slice():
                await asyncio.sleep(0)
                continue
            self._woken.clear()
            await wait_at_most(self._woken, min(self._order.next_at(), ends) - self._clock.now())

    async def stop(self, lost: bool) -> None:
        """What is held back is judged as well, unless it is too much."""
        while (dated := self._order.take(float("inf"))) is not None:
            self._take(dated)

    def _slice(self) -> bool:
        """Judge for a few milliseconds; false when nothing has settled."""
        ends = time.perf_counter() + SLICE_S
        while time.perf_counter() < ends:
            dated = self._order.take(self._clock.now())
            if dated is None:
                return False
            self._take(dated)
        return True

    def _take(self, dated: Dated) -> None:
        started = time.perf_counter()
        try:
            verdict = self._judge.take(dated, self._order.ahead, in_time=len(self._order) < MOST_BEHIND)
        except Exception as error:  # what one object upsets must not end it for all others
            log.error("event refused", event_type=type(dated.event).__name__, error=repr(error), exc_info=True)
            return
        if verdict is None:
            return
        self.metrics.observe(SECONDS, time.perf_counter() - started)
        self.metrics.counter(PODS, result=verdict.finding.value)
        if verdict.is_different:
            self.metrics.counter(TIPPED, result=verdict.finding.value, plugin=verdict.plugin)
        self.tally.add(verdict)
        self._tell_verdict(verdict)

    def _tell(self, event: Event) -> None:
        if self._is_learning:
            self._judge.learn(event)
        elif isinstance(event, KindRefused):
            self.engine.handle(event)
        else:
            is_late = isinstance(event, PodAdded | PodChanged | PodDeleted) and self._pods.is_listing
            self._order.put(Dated(self._clock.now(), event, is_late))
            self._woken.set()
