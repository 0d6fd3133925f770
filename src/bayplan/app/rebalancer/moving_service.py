"""
What the live rebalancer and a live plan share: informers feed an engine that never schedules, and what is planned with
it goes through the API writer.

``live`` (policies) and ``live_plan`` (plans of ``bayplan fit``) say what is done with it.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod

from bayplan.app.scheduler.informers import EngineInformers, kinds_for
from bayplan.app.shell.metrics import SERVICE_GAUGES, Declared, PrometheusMetrics
from bayplan.app.shell.service import Service
from bayplan.clock import SystemClock, wait_at_most
from bayplan.controllers.rebalancer.controller import MOVES
from bayplan.controllers.rebalancer.observed import Observed
from bayplan.engine.events import Event
from bayplan.engine.scheduler import MakeProfiles, Scheduler
from bayplan.framework.ports import NoMetrics
from bayplan.kube.client import Client
from bayplan.kube.informer import SILENCE_S
from bayplan.kube.leader_election import LeaderElection
from bayplan.kube.recorder import Recorder
from bayplan.kube.writer import ApiWriter
from bayplan.objects.kinds import those
from bayplan.plugins.leaf_node_workload_policy.reading import WORKLOADS

# Events come in bursts; looking once at all of them is enough.
PAUSE_S = 0.2
SHUTDOWN_S = 5.0
LAST_EVENTS_S = 3.0

COUNTERS = {
    MOVES: Declared("Moves of pods, by what became of them: begun, refused, moved, bounced.", ("result",)),
}
GAUGES = {"bayplan_rebalancer_moving": Declared("Pods on the move."), **SERVICE_GAUGES}


class MovingService(Service):
    """One process that moves pods."""

    READS: tuple[str, ...] = WORKLOADS
    """Kinds that it reads beside those of the plugins."""

    def __init__(
        self,
        client: Client,
        make: MakeProfiles,
        *,
        election: LeaderElection | None = None,
        silence_s: float = SILENCE_S,
    ) -> None:
        super().__init__(election, PrometheusMetrics(COUNTERS, GAUGES, {}))
        self._clock = SystemClock()
        self._writer = ApiWriter(client, self.supervisor.check_lead)
        self._recorder = Recorder(client, self._clock)
        self.engine = Scheduler(make, clock=self._clock, writer=self._writer, events=self._recorder)
        self._observed = Observed(self.engine)
        following = EngineInformers(client, self._tell, NoMetrics(), silence_s)
        kinds = {kind.called for kind in kinds_for(self.engine.profiles.values())} | set(self.READS)
        self.informers = [following.informer(kind) for kind in those(kinds)]
        self._woken = asyncio.Event()
        self.steps = 0
        """How often it looked."""

    @property
    @abstractmethod
    def moving(self) -> int:
        """Pods on the move."""

    @abstractmethod
    async def step(self) -> float | None:
        """Do what is due; when to come back if nothing happens before, or None."""

    def is_done(self) -> bool:
        """Whether nothing is left to do, now and later."""
        return False

    def publish(self) -> None:
        self.metrics.gauge("bayplan_rebalancer_moving", self.moving)
        self.metrics.gauge("bayplan_events_dropped", self._recorder.dropped)
        self.metrics.gauge("bayplan_events_waiting", self._recorder.waiting)

    async def prepare(self) -> None:
        self.supervisor.keep_running(self._recorder.run())
        await self.sync()

    async def work(self) -> None:
        while not self.is_done():
            self._woken.clear()
            wake_at = await self.step()
            self.steps += 1
            if self.is_done():
                return
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
