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

from bayplan.app.scheduler.informers import EngineInformers, kinds_for
from bayplan.app.scheduler.named_clusters import warn_of_others
from bayplan.app.shell.metrics import SERVICE_GAUGES, Declared, PrometheusMetrics
from bayplan.app.shell.process import Build, ServiceOptions, run_service
from bayplan.app.shell.service import Service
from bayplan.clock import SystemClock, wait_at_most
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

# Events come in bursts; looking once at all of them is enough.
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
    return run_service(options.service, building(options))


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


class LiveRebalancer(Service):
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
        super().__init__(election, PrometheusMetrics(COUNTERS, GAUGES, {}))
        clock = SystemClock()
        self._clock = clock
        self._writer = ApiWriter(client, self.supervisor.check_lead)
        self._recorder = Recorder(client, clock)
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

    def publish(self) -> None:
        self.metrics.gauge("bayplan_rebalancer_moving", self.rebalancer.moving)
        self.metrics.gauge("bayplan_events_dropped", self._recorder.dropped)
        self.metrics.gauge("bayplan_events_waiting", self._recorder.waiting)

    async def prepare(self) -> None:
        self.supervisor.keep_running(self._recorder.run())
        await self.sync()
        log.info("synced", nodes=len(self.engine.cache.nodes), policies=len(self._observed.policies()))

    async def work(self) -> None:
        while True:
            self._woken.clear()
            wake_at = await self.rebalancer.step()
            self.steps += 1
            await wait_at_most(self._woken, None if wake_at is None else wake_at - self._clock.now())
            await asyncio.sleep(PAUSE_S)

    async def stop(self, lost: bool) -> None:
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
