"""
The rebalancer as a process: ``bayplan rebalancer`` calls ``run_rebalancer``.

Wiring, and only wiring: informers feed an engine that never schedules and ``controllers.rebalancer``, which plans with
it; what that wants done goes through the API writer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from bayplan.app.scheduler.informers import EngineInformers, kinds_for, publish
from bayplan.app.scheduler.named_clusters import warn_of_others
from bayplan.app.shell.lifecycle import Supervisor
from bayplan.app.shell.metrics import SERVICE_GAUGES, Declared, PrometheusMetrics
from bayplan.app.shell.process import Build, ServiceOptions, run_controller
from bayplan.clock import SystemClock
from bayplan.controllers.rebalancer.controller import MOVES, Rebalancer, Settings
from bayplan.controllers.rebalancer.observed import POLICY, Observed
from bayplan.engine.events import Event
from bayplan.engine.scheduler import MakeProfiles, Scheduler
from bayplan.errors import ConflictError, UnprocessableError
from bayplan.framework.config.model import SchedulerConfig
from bayplan.framework.ports import NoMetrics
from bayplan.kube.client import Client
from bayplan.kube.informer import SILENCE_S
from bayplan.kube.leader_election import LeaderElection
from bayplan.kube.recorder import Recorder
from bayplan.kube.writer import ApiWriter
from bayplan.objects.kinds import Kind, those
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import WorkloadPolicy
from bayplan.plugins.defaults import OWN_PLUGINS
from bayplan.plugins.leaf_node_workload_policy.reading import WORKLOADS
from bayplan.plugins.plugin_set import make_profiles, registry

log = structlog.get_logger()

# News come in bursts; looking once at all of them is enough.
PAUSE_S = 0.2
SHUTDOWN_S = 5.0
LAST_EVENTS_S = 3.0
READS = (POLICY, *WORKLOADS)

COUNTERS = {
    MOVES: Declared("Moves of pods, by what became of them: begun, refused, moved, bounced.", ("result",)),
}
GAUGES = {"bayplan_rebalancer_moving": Declared("Pods on the move."), **SERVICE_GAUGES}


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalancerOptions:
    """What the command line says."""

    service: ServiceOptions
    config: SchedulerConfig
    has_config: bool
    """Was a configuration given?  Without one, Bayplan's own plugins join the profile."""
    plugins: Sequence[str] = field(default=())
    settings: Settings = field(default_factory=Settings)


def run_rebalancer(options: RebalancerOptions) -> int:
    """Run until stopped; the exit code."""
    return run_controller(options.service, building(options))


def building(options: RebalancerOptions) -> Build:
    known, extra = registry(options.plugins)
    names = extra if options.has_config else (*OWN_PLUGINS, *extra)

    def build(client: Client, election: LeaderElection | None) -> LiveRebalancer:
        make = make_profiles(options.config, known, names, lambda text: log.warning("configuration", text=text))
        live = LiveRebalancer(client, make, election=election, settings=options.settings)
        warn_of_others(live.engine.profiles.values(), client.endpoint)
        log.info("configured", profiles=",".join(live.engine.profiles))
        return live

    return build


class LiveRebalancer:
    """One rebalancer process."""

    def __init__(
        self,
        client: Client,
        make: MakeProfiles,
        *,
        election: LeaderElection | None = None,
        settings: Settings | None = None,
        silence_s: float = SILENCE_S,
    ) -> None:
        clock = SystemClock()
        self._clock = clock
        self._supervisor = Supervisor(election)
        self._writer = ApiWriter(client, self._supervisor.may_write)
        self._recorder = Recorder(client, clock)
        self.metrics = PrometheusMetrics(COUNTERS, GAUGES, {})
        self.engine = Scheduler(make, clock=clock, writer=self._writer, events=self._recorder)
        self._observed = Observed(self.engine)
        self.rebalancer = Rebalancer(
            self._observed, PolicyWriter(self._writer), self._recorder, clock, settings, self.metrics
        )
        following = EngineInformers(client, self._tell, NoMetrics(), silence_s)
        self.informers = [following.informer(kind) for kind in self._kinds()]
        self._woken = asyncio.Event()
        self.steps = 0
        """How often it looked."""

    async def run(self) -> None:
        """Until cancelled, or until the lease is lost, or a part that should run for ever breaks."""
        await self._supervisor.run(self._work(), self._stop)

    @property
    def is_stopping(self) -> bool:
        return self._supervisor.is_stopping

    def is_ready(self) -> bool:
        return all(informer.synced.is_set() for informer in self.informers)

    def render_metrics(self) -> bytes:
        self.metrics.gauge("bayplan_rebalancer_moving", self.rebalancer.moving)
        self.metrics.gauge("bayplan_events_dropped", self._recorder.dropped)
        self.metrics.gauge("bayplan_events_waiting", self._recorder.waiting)
        publish(self.metrics, self.informers, self._supervisor.election)
        return self.metrics.render()

    async def _work(self) -> None:
        self._supervisor.keep_running(self._recorder.run())
        for informer in self.informers:
            self._supervisor.keep_running(informer.run())
        await asyncio.gather(*(informer.synced.wait() for informer in self.informers))
        log.info("synced", nodes=len(self.engine.cache.nodes), policies=len(self._observed.policies()))
        await self._supervisor.lead()
        while True:
            self._woken.clear()
            wake_at = await self.rebalancer.step()
            self.steps += 1
            await self._news_or(wake_at)
            await asyncio.sleep(PAUSE_S)

    async def _news_or(self, wake_at: float | None) -> None:
        try:
            # Not wait_for: until Python 3.12 it forgets a cancellation that comes together with the news.
            async with asyncio.timeout(None if wake_at is None else max(0.0, wake_at - self._clock.now())):
                await self._woken.wait()
        except TimeoutError:
            return

    async def _stop(self, lost: bool) -> None:
        await self._writer.close(0.0 if lost else SHUTDOWN_S)
        await self._recorder.drain(0.0 if lost else LAST_EVENTS_S)

    def _tell(self, event: Event) -> None:
        self.engine.handle(event)
        self._observed.note(event)
        if self._observed.has_news:
            self._woken.set()

    def _kinds(self) -> list[Kind]:
        return those({kind.called for kind in kinds_for(self.engine.profiles.values())} | set(READS))


class PolicyWriter:
    """A ``RebalanceWriter`` over the API."""

    def __init__(self, writer: ApiWriter) -> None:
        self._writer = writer

    async def evict(self, pod: Pod) -> None:
        await self._writer.evict(pod)

    async def annotate(self, pod: Pod, annotations: dict[str, str]) -> None:
        """With the UID as precondition."""
        patch = {"metadata": {"uid": pod.uid, "annotations": annotations}}
        try:
            await self._writer.patch("Pod", pod.namespace, pod.name, patch)
        except UnprocessableError as error:
            raise ConflictError(409, error.message, reason="Conflict", method="PATCH") from error

    async def write_status(self, policy: WorkloadPolicy, status: dict[str, Any]) -> None:
        await self._writer.patch(POLICY, policy.namespace, policy.name, {"status": status}, subresource="status")
