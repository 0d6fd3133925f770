"""
The placement controller as a process on a hub: ``bayplan placement`` calls ``run_placement``.

Wiring, and only wiring: informers feed ``placement.state``, and ``app.placement.decision_writer`` writes what was
decided, on the leader only. A write that fails is tried again, later each time; an unchanged decision is not written at
all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
import structlog

from bayplan.app.placement.decision_writer import DecisionWriter
from bayplan.app.shell.http_server import Page
from bayplan.app.shell.metrics import SERVICE_GAUGES, Declared, PrometheusMetrics
from bayplan.app.shell.process import ServiceOptions, run_service
from bayplan.app.shell.service import Service
from bayplan.clock import SystemClock, wait_at_most
from bayplan.kube.client import Client
from bayplan.kube.informer import SILENCE_S, Informer
from bayplan.kube.leader_election import LeaderElection
from bayplan.kube.recorder import Recorder
from bayplan.objects.kinds import Kind, all_kinds
from bayplan.objects.meta import ApiObject
from bayplan.objects.third_party import placement as api
from bayplan.placement import explaining, own_plugins
from bayplan.placement.events import Applied, Deleted, Event, TimePassed
from bayplan.placement.own_plugins import OwnPlugins
from bayplan.placement.state import PlacementState

log = structlog.get_logger()

T = TypeVar("T")

# Events come in bursts; looking once at all of them is enough.
PAUSE_S = 0.05
# Deciding holds up everything else, renewing the lease as well, so it is done in slices.
EVENTS_AT_ONCE, DECIDED_AT_ONCE = 500, 50
SETTLE_S = 5.0
"""How long between two rounds of moves that a budget allows."""
DRAIN_S = 2.0

COUNTERS = {"bayplan_placement_writes": Declared("Objects written, by what was done.", ("what",))}
GAUGES = {
    "bayplan_placements": Declared("Placements there are."),
    "bayplan_placements_not_written": Declared("Placements whose writes failed and wait to be tried again."),
    **SERVICE_GAUGES,
}
_BUCKETS = (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0)
HISTOGRAMS = {
    "bayplan_placement_compute_seconds": Declared("Deciding, for one burst of events.", (), _BUCKETS),
    "bayplan_placement_write_seconds": Declared("Writing, for one burst of events.", (), _BUCKETS),
    "bayplan_placement_bind_seconds": Declared("Writing one placement.", (), _BUCKETS),
}


@dataclass(frozen=True, kw_only=True)
class PlacementOptions(ServiceOptions):
    """What the command line says."""

    plugins: OwnPlugins = own_plugins.NONE


def run_placement(options: PlacementOptions) -> int:
    """Run until stopped; the exit code."""
    return run_service(
        options, lambda client, election: LivePlacement(client, election=election, plugins=options.plugins)
    )


class LivePlacement(Service):
    """One placement controller."""

    def __init__(
        self,
        client: Client,
        *,
        election: LeaderElection | None = None,
        silence_s: float = SILENCE_S,
        plugins: OwnPlugins = own_plugins.NONE,
    ) -> None:
        super().__init__(election, PrometheusMetrics(COUNTERS, GAUGES, HISTOGRAMS))
        self._client = client
        self._plugins = plugins
        self.state = PlacementState(time.time(), plugins=self._plugins)
        self._kinds = {kind.name: kind for kind in all_kinds() if kind.group == api.GROUP}
        self._informers = {name: self._informer(kind, silence_s) for name, kind in self._kinds.items()}
        self.informers = list(self._informers.values())
        self._events: list[Event] = []
        self._stale: set[str] = set()
        """Placements whose objects changed since the state was last told."""
        self._recorder = Recorder(client, SystemClock())
        self._writer = DecisionWriter(client, self._kinds, self._recorder, self.metrics, self.supervisor.check_lead)
        self._settle_at = 0.0
        resource = {"group": api.GROUP, "resource": "placements"}
        self.pages = (Page("/placements/{namespace}/{name}", resource, self._explain),)
        self._woken = asyncio.Event()

    def _explain(self, namespace: str, name: str) -> bytes | None:
        """What ``bayplan place`` would show of a placement; only the replica that leads knows."""
        key = f"{namespace}/{name}"
        if key not in self.state.placements():
            return None
        evaluation = self.state.evaluation(key)
        document = explaining.explain(evaluation, time.time(), self.state.others(evaluation.plan))
        return msgspec.json.encode(document)

    def publish(self) -> None:
        self.metrics.gauge("bayplan_placements", len(self.state.placements()))
        self.metrics.gauge("bayplan_placements_not_written", len(self._writer.retries))

    async def work(self) -> None:
        self.supervisor.keep_running(self._recorder.run())
        self.state = PlacementState(time.time(), plugins=self._plugins)
        # Placements last: what they have already counts before any of them is decided.
        things = [thing for informer in self.informers for thing in informer.objects()]
        self._events = [Applied(each) for each in sorted(things, key=lambda each: isinstance(each, api.Placement))]
        await self._decide()
        stale = set(self.state.placements())
        log.info("synced", clusters=len(self.state.fleet.table), placements=len(stale))
        while True:
            self._woken.clear()
            await self._publish(stale | await self._decide())
            stale = set()
            await self._wait()
            await asyncio.sleep(PAUSE_S)

    async def _decide(self) -> set[str]:
        """Take in what happened and decide, in slices; the placements whose objects may differ from that."""
        # Both at the same moment: an event that comes from here on belongs to the next round.
        events, self._events = self._events, []
        stale, self._stale = self._stale, set()
        spent = 0.0
        keys: set[str] = set()
        for some in _slices([TimePassed(time.time()), *events], EVENTS_AT_ONCE):
            started = time.perf_counter()
            keys |= self.state.note(some)
            spent += time.perf_counter() - started
            await asyncio.sleep(0)
        if time.monotonic() >= self._settle_at:
            keys |= self.state.unsettled
            self._settle_at = time.monotonic() + SETTLE_S
        for few in _slices(sorted(keys), DECIDED_AT_ONCE):
            started = time.perf_counter()
            stale.update(change.key for change in self.state.decide(few))
            spent += time.perf_counter() - started
            await asyncio.sleep(0)
        self.metrics.observe("bayplan_placement_compute_seconds", spent)
        return stale

    async def _publish(self, keys: set[str]) -> None:
        started = time.perf_counter()
        await self._writer.write_all(
            keys, self.state, self._informers["Placement"].objects(), self._informers["PlacementDecision"].objects()
        )
        self.metrics.observe("bayplan_placement_write_seconds", time.perf_counter() - started)

    async def _wait(self) -> None:
        """Until something happens, an answer is no longer valid, or a write is to be tried again."""
        waits = [self.state.next_at - time.time(), self._writer.retries.next_at - time.monotonic()]
        if self.state.unsettled:
            waits.append(SETTLE_S)
        await wait_at_most(self._woken, min(waits))

    def _informer(self, kind: Kind, silence_s: float) -> Informer[Any]:
        return Informer(
            self._client,
            kind,
            added=lambda thing: self._tell(Applied(thing)),
            changed=lambda old, new: self._tell(Applied(new), old),
            deleted=lambda thing: self._tell(Deleted(thing)),
            silence_s=silence_s,
            essential=True,
        )

    def _tell(self, event: Applied | Deleted, old: ApiObject | None = None) -> None:
        if not self.is_working():
            # A replica that does not lead decides nothing; when it does, it starts from all that is there.
            return
        self._events.append(event)
        thing: ApiObject = event.thing
        self._writer.seen(thing, is_gone=isinstance(event, Deleted))
        if isinstance(thing, api.PlacementDecision):
            self._stale.add(thing.placement)
            if isinstance(old, api.PlacementDecision):
                self._stale.add(old.placement)
        elif isinstance(thing, api.Placement):
            self._stale.add(thing.key)
            if not isinstance(old, api.Placement) or old.metadata.generation != thing.metadata.generation:
                # Another one than the one that could not be written.
                self._writer.retries.forget(thing.key)
        self._woken.set()

    async def stop(self, lost: bool) -> None:
        if not lost:
            await self._recorder.drain(DRAIN_S)


def _slices(things: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (things[start : start + size] for start in range(0, len(things), size))
