"""
Writing what was decided: PlacementDecisions, the status of Placements and events about them, for
``app.placement.live``.

``placement.decision_writes`` says what is to be written, this carries it out, some placements at a time. A placement
whose writes fail waits, longer each time, and holds up no other. What was written counts at once, before the watch
tells.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import structlog

from bayplan.app.placement.key_backoff import KeyBackoff
from bayplan.app.placement.read_your_writes import ReadYourWrites
from bayplan.app.shell.metrics import PrometheusMetrics
from bayplan.errors import ApiError, ConflictError, NotFoundError, TooManyRequestsError, TransportError
from bayplan.kube.client import Client, path_of
from bayplan.kube.recorder import Recorder
from bayplan.objects import kinds
from bayplan.objects.kinds import Kind
from bayplan.objects.meta import ApiObject
from bayplan.objects.third_party import placement as api
from bayplan.objects.times import format_time
from bayplan.placement import decision_writes
from bayplan.placement.announcements import announcements
from bayplan.placement.state import PlacementState

log = structlog.get_logger()

WRITERS = 16
REPORTER = "bayplan-placement"
_OURS = ("labels", "annotations", "ownerReferences")


class DecisionWriter:
    """Writes the decisions of one hub; ``check`` raises while this replica may not write."""

    def __init__(
        self,
        client: Client,
        known: dict[str, Kind],
        recorder: Recorder,
        metrics: PrometheusMetrics,
        check: Callable[[], None],
    ) -> None:
        self._client, self._kinds, self._recorder, self._metrics = client, known, recorder, metrics
        self._check = check
        self._written = ReadYourWrites()
        self.retries = KeyBackoff()

    def seen(self, thing: ApiObject, *, is_gone: bool) -> None:
        """The watch tells of an object."""
        self._written.seen(thing, is_gone=is_gone)

    async def write_all(
        self,
        keys: set[str],
        state: PlacementState,
        placements: Iterable[api.Placement],
        decisions: Iterable[api.PlacementDecision],
    ) -> None:
        """Bring the objects of these placements, and of those whose turn it is again, up to what was decided."""
        now = time.monotonic()
        keys = {key for key in keys if not self.retries.is_waiting(key, now)} | self.retries.due(now)
        if not keys:
            return
        there = {each.key: each for each in self._written.over(api.Placement, placements)}
        pages: dict[str, list[api.PlacementDecision]] = {}
        for page in self._written.over(api.PlacementDecision, decisions):
            pages.setdefault(page.placement, []).append(page)
        decided = set(state.placements())
        for key in keys - (there.keys() & decided):
            self.retries.forget(key)
        slots = asyncio.Semaphore(WRITERS)

        async def one(key: str) -> None:
            async with slots:
                await self._write(state, there[key], pages.get(key, []))

        await asyncio.gather(*(one(key) for key in sorted(keys & there.keys() & decided)))

    async def _write(
        self, state: PlacementState, placement: api.Placement, existing: list[api.PlacementDecision]
    ) -> None:
        key = placement.key
        if placement.is_terminating or placement.is_disabled:
            self.retries.forget(key)
            return
        evaluation = state.evaluation(key)
        writes = decision_writes.writes_for(evaluation, placement, existing, format_time(time.time()))
        if not writes:
            self.retries.forget(key)
            return
        told = announcements(placement, existing, evaluation.names(), writes)
        started = time.perf_counter()
        try:
            for write in writes:
                await self._carry_out(placement, write)
                self._metrics.counter("bayplan_placement_writes", what=type(write).__name__)
        except (ConflictError, NotFoundError) as error:
            # Another client was quicker; what it did arrives as an event.
            wait = self.retries.failed(key, time.monotonic())
            log.info("written by somebody else", placement=key, reason=str(error), again_in_s=wait)
            for page in existing:
                self._written.forget(api.PlacementDecision, page.key)
        except (ApiError, TransportError) as error:
            asked = error.retry_after_s if isinstance(error, TooManyRequestsError) else None
            wait = self.retries.failed(key, time.monotonic(), asked or 0.0)
            log.warning("not written", placement=key, reason=str(error), again_in_s=wait)
        else:
            self.retries.forget(key)
            for each in told:
                self._recorder.emit(
                    placement, type=each.type, reason=each.reason, action="Decide", note=each.note, reporter=REPORTER
                )
        finally:
            self._metrics.observe("bayplan_placement_bind_seconds", time.perf_counter() - started)

    async def _carry_out(self, placement: api.Placement, write: decision_writes.Write) -> None:
        decision, namespace = self._kinds["PlacementDecision"], placement.namespace
        match write:
            case decision_writes.Create(manifest, status):
                name = manifest["metadata"]["name"]
                try:
                    await self._send("POST", path_of(decision, namespace), manifest)
                except ConflictError:
                    # One without our label and owner, or one that we have not seen yet.
                    log.info("was there already", decision=name)
                    ours = {key: value for key, value in manifest["metadata"].items() if key in _OURS}
                    await self._send("PATCH", path_of(decision, namespace, name), {"metadata": ours})
                await self._send("PATCH", path_of(decision, namespace, name, "status"), {"status": status})
            case decision_writes.Update(name, metadata, status):
                if status is not None:
                    await self._send("PATCH", path_of(decision, namespace, name, "status"), {"status": status})
                if metadata is not None:
                    await self._send("PATCH", path_of(decision, namespace, name), {"metadata": metadata})
            case decision_writes.Delete(name):
                await self._send("DELETE", path_of(decision, namespace, name), None)
                self._written.forget(api.PlacementDecision, f"{namespace}/{name}")
            case decision_writes.PatchStatus(status):
                path = path_of(self._kinds["Placement"], namespace, placement.name, "status")
                await self._send("PATCH", path, {"status": status})

    async def _send(self, method: str, path: str, body: Any) -> None:
        content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
        answer = await self._client.send(method, path, body=body, content_type=content_type, guard=self._check)
        if method != "DELETE":
            self._written.note(kinds.decode(msgspec.json.decode(answer.body)))
