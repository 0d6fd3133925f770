"""
Events about pods (events.k8s.io/v1), written in the background: few at a time, folded into series, never in
the way of a bind, and dropped rather than piled up when the API server does not take them.

Implements ``framework.ports.EventSink``; ``app`` runs ``Recorder.run`` as a task.
"""

from __future__ import annotations

import asyncio
import socket
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import structlog

from bayplan.clock import Clock
from bayplan.errors import ApiError, NotFoundError, TooManyRequestsError, TransportError
from bayplan.kube.client import MERGE_PATCH, Client
from bayplan.objects.pod import Pod

log = structlog.get_logger()

MAX_WAITING = 20_000
SERIES_S = 6 * 60.0
MAX_SERIES = 10_000
WRITERS = 2


@dataclass(slots=True)
class _Series:
    name: str
    namespace: str
    count: int
    last_at: float
    written: bool = False


class Recorder:
    """Takes events at once and writes them later."""

    def __init__(
        self, client: Client, clock: Clock, *, busy: Callable[[], bool] = lambda: False, hostname: str = ""
    ) -> None:
        self._client = client
        self._clock = clock
        self._busy = busy
        self._hostname = hostname or socket.gethostname()
        self._waiting: asyncio.Queue[tuple[_Series, dict[str, Any] | None]] = asyncio.Queue(MAX_WAITING)
        self._series: OrderedDict[tuple[str, ...], _Series] = OrderedDict()
        self.dropped = 0

    def emit(
        self,
        pod: Pod,
        *,
        type: str,
        reason: str,
        action: str,
        note: str,
        related: Pod | None = None,
        reporter: str = "default-scheduler",
    ) -> None:
        """Record an event; repeated ones count up a series."""
        now = self._clock.now()
        key = (type, action, reason, reporter, pod.uid, related.uid if related else "")
        series = self._series.get(key)
        if series is not None and now - series.last_at < SERIES_S:
            series.count += 1
            series.last_at = now
            self._put(series, None)
            return
        series = _Series(f"{pod.name}.{uuid.uuid4().hex[:16]}", pod.namespace, 1, now)
        self._series[key] = series
        if len(self._series) > MAX_SERIES:
            self._series.popitem(last=False)
        self._put(series, self._event(series, pod, type, reason, action, note, related, reporter))

    async def run(self) -> None:
        """Write events until cancelled."""
        await asyncio.gather(*(self._write_all() for _ in range(WRITERS)))

    async def drain(self, timeout_s: float) -> None:
        """Give what is waiting a last chance."""
        try:
            await asyncio.wait_for(self._waiting.join(), timeout_s)
        except TimeoutError:
            log.warning("events not written", count=self._waiting.qsize())

    def _put(self, series: _Series, event: dict[str, Any] | None) -> None:
        try:
            self._waiting.put_nowait((series, event))
        except asyncio.QueueFull:
            self.dropped += 1

    async def _write_all(self) -> None:
        while True:
            series, event = await self._waiting.get()
            try:
                # An event costs the API server as much as a bind, so binds go first; but not for ever.
                for _ in range(50):
                    if not self._busy():
                        break
                    await asyncio.sleep(0.02)
                await self._write(series, event)
            except TooManyRequestsError as error:
                self.dropped += 1
                await asyncio.sleep(error.retry_after_s or 1.0)
            except (ApiError, TransportError) as error:
                self.dropped += 1
                log.debug("event not written", error=str(error))
                if isinstance(error, TransportError):
                    await asyncio.sleep(0.5)
            finally:
                self._waiting.task_done()

    async def _write(self, series: _Series, event: dict[str, Any] | None) -> None:
        path = f"/apis/events.k8s.io/v1/namespaces/{series.namespace}/events"
        if event is not None:
            await self._client.create(path, event)
            series.written = True
        elif series.written:
            patch = {"series": {"count": series.count, "lastObservedTime": _micro(series.last_at)}}
            try:
                await self._client.patch(f"{path}/{series.name}", patch, MERGE_PATCH)
            except NotFoundError:
                series.written = False

    def _event(
        self,
        series: _Series,
        pod: Pod,
        type: str,
        reason: str,
        action: str,
        note: str,
        related: Pod | None,
        reporter: str,
    ) -> dict[str, Any]:
        event = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": series.name, "namespace": series.namespace},
            "eventTime": _micro(series.last_at),
            "type": type,
            "reason": reason,
            "action": action,
            "note": note,
            "regarding": _reference(pod),
            "reportingController": reporter,
            "reportingInstance": f"{reporter}-{self._hostname}"[:128],
        }
        if related is not None:
            event["related"] = _reference(related)
        return event


def _reference(pod: Pod) -> dict[str, str]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": pod.namespace,
        "name": pod.name,
        "uid": pod.uid,
        "resourceVersion": pod.metadata.resource_version,
    }


def _micro(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
