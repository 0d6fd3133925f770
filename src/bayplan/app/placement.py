"""
The placement controller as a process on a hub: ``bayplan placement`` calls ``run_placement``.

Wiring, and only wiring: informers feed ``placement.state``, and what ``placement.publishing`` wants written is written,
by the leader only. A write that fails is tried again; an unchanged decision is not written at all.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Any

import msgspec
import structlog

from bayplan.app.controller_service import ServiceOptions, run_controller
from bayplan.app.following import publish
from bayplan.app.metrics import SERVICE_GAUGES, Declared, PrometheusMetrics
from bayplan.app.serving import Page
from bayplan.app.supervising import Supervisor
from bayplan.app.written import Written
from bayplan.errors import ApiError, ConflictError, LeadershipLostError, NotFoundError, TransportError
from bayplan.kube.client import Client, path_of
from bayplan.kube.informer import SILENCE_S, Informer
from bayplan.kube.leader_election import LeaderElection
from bayplan.objects import kinds
from bayplan.objects import placement as api
from bayplan.objects.kinds import Kind, all_kinds
from bayplan.objects.meta import ApiObject
from bayplan.placement import explaining, publishing
from bayplan.placement.events import Applied, Deleted, Event, TimePassed
from bayplan.placement.state import PlacementState

log = structlog.get_logger()

# News come in bursts; looking once at all of them is enough.
PAUSE_S = 0.05
RETRY_S = 1.0
SETTLE_S = 5.0
"""How long between two rounds of moves that a budget allows."""
WRITERS = 16
_OURS = ("labels", "annotations", "ownerReferences")

COUNTERS = {"bayplan_placement_writes": Declared("Objects written, by what was done.", ("what",))}
GAUGES = {"bayplan_placements": Declared("Placements there are."), **SERVICE_GAUGES}
_BUCKETS = (0.0001, 0.001, 0.01, 0.1, 1.0, 10.0)
HISTOGRAMS = {
    "bayplan_placement_compute_seconds": Declared("Deciding, for one burst of events.", (), _BUCKETS),
    "bayplan_placement_bind_seconds": Declared("Writing one placement.", (), _BUCKETS),
}


def run_placement(options: ServiceOptions) -> int:
    """Run until stopped; the exit code."""
    return run_controller(options, lambda client, election: LivePlacement(client, election=election))


class LivePlacement:
    """One placement controller."""

    def __init__(self, client: Client, *, election: LeaderElection | None = None, silence_s: float = SILENCE_S) -> None:
        self._client = client
        self._supervisor = Supervisor(election)
        self.metrics = PrometheusMetrics(COUNTERS, GAUGES, HISTOGRAMS)
        self.state = PlacementState(time.time())
        self._kinds = {kind.name: kind for kind in all_kinds() if kind.group == api.GROUP}
        self.informers = {name: self._informer(kind, silence_s) for name, kind in self._kinds.items()}
        self._events: list[Event] = []
        self._stale: set[str] = set()
        """Placements whose objects may differ from what was decided."""
        self._retries: set[str] = set()
        self._written = Written()
        self._settle_at = 0.0
        resource = {"group": api.GROUP, "resource": "placements"}
        self.pages = (Page("/placements/{namespace}/{name}", resource, self._explain),)
        self._woken = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled, or until the lease is lost, or a part that should run for ever breaks."""
        await self._supervisor.run(self._work(), self._stop)

    @property
    def is_stopping(self) -> bool:
        return self._supervisor.is_stopping

    def is_ready(self) -> bool:
        return all(informer.synced.is_set() for informer in self.informers.values())

    def _explain(self, namespace: str, name: str) -> bytes | None:
        """What ``bayplan place`` would show of a placement; only the replica that leads knows."""
        key = f"{namespace}/{name}"
        if key not in self.state.placements():
            return None
        evaluation = self.state.evaluation(key)
        document = explaining.explain(evaluation, time.time(), self.state.others(evaluation.plan))
        return msgspec.json.encode(document)

    def render_metrics(self) -> bytes:
        self.metrics.gauge("bayplan_placements", len(self.state.placements()))
        publish(self.metrics, self.informers.values(), self._supervisor.election)
        return self.metrics.render()

    async def _work(self) -> None:
        for informer in self.informers.values():
            self._supervisor.keep_running(informer.run())
        await asyncio.gather(*(informer.synced.wait() for informer in self.informers.values()))
        await self._supervisor.lead()
        self._events.clear()
        self.state = PlacementState(time.time())
        self.state.load(thing for informer in self.informers.values() for thing in informer.objects())
        self._stale = set(self.state.placements())
        log.info("synced", clusters=len(self.state.fleet.table), placements=len(self._stale))
        while True:
            self._woken.clear()
            self._decide()
            await self._publish()
            await self._news()
            await asyncio.sleep(PAUSE_S)

    def _decide(self) -> None:
        events, self._events = self._events, []
        started = time.perf_counter()
        changes = self.state.handle_all([TimePassed(time.time()), *events])
        if time.monotonic() >= self._settle_at:
            changes += self.state.settle()
            self._settle_at = time.monotonic() + SETTLE_S
        self.metrics.observe("bayplan_placement_compute_seconds", time.perf_counter() - started)
        self._stale.update(change.key for change in changes)

    async def _publish(self) -> None:
        keys, self._stale, self._retries = self._stale | self._retries, set(), set()
        known = self._written.over(api.Placement, self.informers["Placement"].objects())
        placements = {each.key: each for each in known}
        decisions: dict[str, list[api.PlacementDecision]] = {}
        for page in self._written.over(api.PlacementDecision, self.informers["PlacementDecision"].objects()):
            decisions.setdefault(page.placement, []).append(page)
        slots = asyncio.Semaphore(WRITERS)

        async def one(key: str) -> None:
            async with slots:
                await self._write(placements[key], decisions.get(key, []))

        keys &= placements.keys() & set(self.state.placements())
        await asyncio.gather(*(one(key) for key in sorted(keys)))

    async def _write(self, placement: api.Placement, existing: list[api.PlacementDecision]) -> None:
        key = placement.key
        if placement.is_terminating or placement.is_disabled:
            return
        writes = publishing.writes_for(self.state.evaluation(key), placement, existing, _now())
        if not writes:
            return
        started = time.perf_counter()
        try:
            for write in writes:
                await self._carry_out(placement, write)
                self.metrics.counter("bayplan_placement_writes", what=type(write).__name__)
        except (ConflictError, NotFoundError) as error:
            # Somebody else was quicker; what they did arrives as an event.
            log.info("written by somebody else", placement=key, reason=str(error))
            for page in existing:
                self._written.forget(api.PlacementDecision, page.key)
            self._retries.add(key)
        except (ApiError, TransportError) as error:
            log.warning("not written", placement=key, reason=str(error))
            self._retries.add(key)
        finally:
            self.metrics.observe("bayplan_placement_bind_seconds", time.perf_counter() - started)

    async def _carry_out(self, placement: api.Placement, write: publishing.Write) -> None:
        decision, namespace = self._kinds["PlacementDecision"], placement.namespace
        match write:
            case publishing.Create(manifest, status):
                name = manifest["metadata"]["name"]
                try:
                    await self._send("POST", path_of(decision, namespace), manifest)
                except ConflictError:
                    # One without our label and owner, or one that we have not seen yet.
                    log.info("was there already", decision=name)
                    ours = {key: value for key, value in manifest["metadata"].items() if key in _OURS}
                    await self._send("PATCH", path_of(decision, namespace, name), {"metadata": ours})
                await self._send("PATCH", path_of(decision, namespace, name, "status"), {"status": status})
            case publishing.Update(name, metadata, status):
                if status is not None:
                    await self._send("PATCH", path_of(decision, namespace, name, "status"), {"status": status})
                if metadata is not None:
                    await self._send("PATCH", path_of(decision, namespace, name), {"metadata": metadata})
            case publishing.Delete(name):
                await self._send("DELETE", path_of(decision, namespace, name), None)
                self._written.forget(api.PlacementDecision, f"{namespace}/{name}")
            case publishing.PatchStatus(status):
                path = path_of(self._kinds["Placement"], namespace, placement.name, "status")
                await self._send("PATCH", path, {"status": status})

    async def _send(self, method: str, path: str, body: Any) -> None:
        content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
        answer = await self._client.send(method, path, body=body, content_type=content_type, guard=self._check)
        if method != "DELETE":
            self._written.note(kinds.decode(msgspec.json.decode(answer.body)))

    def _check(self) -> None:
        if not self._supervisor.may_write():
            raise LeadershipLostError("not the leader any more: nothing was written")

    async def _news(self) -> None:
        """Until something happens, an answer stops to hold, or a write is to be tried again."""
        waits = [max(0.0, self.state.next_at - time.time())]
        if self._retries:
            waits.append(RETRY_S)
        if any(self.state.evaluation(key).outcome.is_unsettled for key in self.state.placements()):
            waits.append(SETTLE_S)
        wait = min(waits)
        try:
            # Not wait_for: until Python 3.12 it forgets a cancellation that comes together with the news.
            async with asyncio.timeout(None if wait == float("inf") else wait):
                await self._woken.wait()
        except TimeoutError:
            return

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
        self._events.append(event)
        thing: ApiObject = event.thing
        self._written.seen(thing, is_gone=isinstance(event, Deleted))
        if isinstance(thing, api.PlacementDecision):
            self._stale.add(thing.placement)
            if isinstance(old, api.PlacementDecision):
                self._stale.add(old.placement)
        elif isinstance(thing, api.Placement):
            self._stale.add(thing.key)
        self._woken.set()

    async def _stop(self, lost: bool) -> None:
        return None


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
