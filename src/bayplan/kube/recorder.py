"""
Events about pods and other objects (events.k8s.io/v1), written in the background: few at a time, folded into series,
never in the way of a bind, and dropped rather than piled up when the API server does not take them.

Implements ``framework.ports.EventSink``; ``app`` runs ``Recorder.run`` as a task.  An event that is repeated
within six minutes becomes a series, as kube-scheduler's do: the first repetition is written at once, the
following ones are counted and written now and then.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog

from bayplan.backoff import Backoff
from bayplan.bounded_cache import BoundedCache
from bayplan.clock import Clock
from bayplan.errors import ApiError, NotFoundError, ServerError, TooManyRequestsError, TransportError
from bayplan.kube.client import MERGE_PATCH, Client
from bayplan.objects.kinds import api_version_of, kind_of
from bayplan.objects.meta import ApiObject
from bayplan.objects.times import format_micro_time

log = structlog.get_logger()

MAX_WAITING = 50_000
SERIES_S = 6 * 60.0
# Between two writes of one series; every one is a write to the API server that binds could use.
REWRITE_S = 60.0
MAX_SERIES = 10_000
WRITERS = 2
TRIES = 5
FIRST_WAIT_S = 0.5
# An event gives way to binds for at most this long.
GIVE_WAY_S = 1.0
MAX_NAME = 253


@dataclass(slots=True)
class _Series:
    """One event, and how often it happened."""

    name: str
    about: ApiObject
    related: ApiObject | None
    type: str
    reason: str
    action: str
    note: str
    reporter: str
    first_at: float
    last_at: float
    count: int = 1
    exists: bool = False
    """The API server has it."""
    queued: bool = False
    being_written: bool = False
    again: bool = False
    """It happened again while it was being written."""
    written_at: float = 0.0


class Recorder:
    """Takes events at once and writes them later."""

    def __init__(
        self, client: Client, clock: Clock, *, busy: Callable[[], bool] = lambda: False, hostname: str = ""
    ) -> None:
        self._client = client
        self._clock = clock
        self._busy = busy
        self._hostname = hostname or socket.gethostname()
        self._waiting: asyncio.Queue[_Series] = asyncio.Queue(MAX_WAITING)
        self._series: BoundedCache[tuple[str, ...], _Series] = BoundedCache(MAX_SERIES)
        self._named_at = 0
        self._closing = False
        self.dropped = 0

    def emit(
        self,
        about: ApiObject,
        *,
        type: str,
        reason: str,
        action: str,
        note: str,
        related: ApiObject | None = None,
        reporter: str = "default-scheduler",
    ) -> None:
        """Record an event; the same about the same version of an object counts up a series."""
        now = self._clock.now()
        version = about.metadata.resource_version
        key = (type, action, reason, reporter, about.uid, version, related.uid if related else "")
        series = self._series.get(key)
        if series is None or now - series.last_at >= SERIES_S:
            series = _Series(self._name(about), about, related, type, reason, action, note, reporter, now, now)
            self._series[key] = series
            self._put(series)
            return
        series.count += 1
        series.last_at = now
        if series.count == 2 or now - series.written_at >= REWRITE_S:
            self._put(series)

    def _name(self, about: ApiObject) -> str:
        """The object's and the time in nanoseconds, as kube-scheduler has it; no two events of ours have the same."""
        self._named_at = max(self._named_at + 1, int(self._clock.now() * 1e9))
        return f"{about.name[: MAX_NAME - 17]}.{self._named_at:016x}"

    async def run(self) -> None:
        """Write events until cancelled."""
        await asyncio.gather(*(self._write_all() for _ in range(WRITERS)))

    async def drain(self, timeout_s: float) -> None:
        """Give what is waiting a last chance."""
        self._closing = True
        try:
            async with asyncio.timeout(timeout_s):
                await self._waiting.join()
        except TimeoutError:
            log.warning("events not written", count=self._waiting.qsize())

    @property
    def waiting(self) -> int:
        return self._waiting.qsize()

    def _put(self, series: _Series) -> None:
        if series.being_written:
            # Two writers would both make the event.
            series.again = True
            return
        if series.queued:
            return
        try:
            self._waiting.put_nowait(series)
            series.queued = True
        except asyncio.QueueFull:
            self.dropped += 1

    # -- writing --

    async def _write_all(self) -> None:
        while True:
            series = await self._waiting.get()
            try:
                await self._give_way()
                series.queued, series.being_written, series.again = False, True, False
                await self._write_patiently(series)
            finally:
                series.queued = series.being_written = False
                if series.again:
                    self._put(series)
                self._waiting.task_done()

    async def _give_way(self) -> None:
        """An event costs the API server as much as a bind, so binds go first; but not for ever."""
        step = 0.02
        for _ in range(round(GIVE_WAY_S / step)):
            if self._closing or not self._busy():
                return
            await asyncio.sleep(step)

    async def _write_patiently(self, series: _Series) -> None:
        """Again after errors that pass; anything else, a refusal for one, drops the event."""
        backoff = Backoff(FIRST_WAIT_S)
        for _ in range(TRIES):
            try:
                return await self._write(series)
            except (TooManyRequestsError, ServerError, TransportError) as error:
                told = error.retry_after_s if isinstance(error, TooManyRequestsError) else None
                await asyncio.sleep(max(backoff.failed(), told or 0.0))
            except ApiError as error:
                log.debug("event refused", about=series.about.key, reason=series.reason, error=str(error))
                break
        self.dropped += 1
        return None

    async def _write(self, series: _Series) -> None:
        path = f"/apis/events.k8s.io/v1/namespaces/{_namespace(series.about)}/events"
        series.written_at = self._clock.now()
        if series.exists:
            try:
                await self._client.send(
                    "PATCH",
                    f"{path}/{series.name}",
                    body={"series": _counted(series)},
                    content_type=MERGE_PATCH,
                )
                return
            except NotFoundError:
                # It grew too old for the API server to keep; told anew under a new name.
                series.exists = False
                series.name = self._name(series.about)
        await self._client.send("POST", path, body=self._event(series))
        series.exists = True

    def _event(self, series: _Series) -> dict[str, Any]:
        event: dict[str, Any] = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": series.name, "namespace": _namespace(series.about)},
            "eventTime": format_micro_time(series.first_at),
            "type": series.type,
            "reason": series.reason,
            "action": series.action,
            "note": series.note,
            "regarding": _reference(series.about),
            "reportingController": series.reporter,
            "reportingInstance": f"{series.reporter}-{self._hostname}"[:128],
        }
        if series.related is not None:
            event["related"] = _reference(series.related)
        if series.count > 1:
            event["series"] = _counted(series)
        return event


def _counted(series: _Series) -> dict[str, Any]:
    return {"count": series.count, "lastObservedTime": format_micro_time(series.last_at)}


def _namespace(thing: ApiObject) -> str:
    """Where an event is kept: beside its object, or in ``default`` for one that has no namespace, such as a node."""
    return thing.namespace or "default"


def _reference(thing: ApiObject) -> dict[str, str]:
    return {
        "apiVersion": api_version_of(thing),
        "kind": kind_of(thing),
        "namespace": thing.namespace,
        "name": thing.name,
        "uid": thing.uid,
        "resourceVersion": thing.metadata.resource_version,
    }
