"""
Pods held by Permit: each waits until every plugin that held it allows it, one rejects it, or time is up.

``committing`` registers them, the binding cycle waits on them, plugins reach them through ``handle.waiting``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bayplan.clock import Clock, wait_at_most
from bayplan.framework.status import Code, Status
from bayplan.objects.duration import format_duration
from bayplan.objects.pod import Pod

MAX_WAIT_S = 15 * 60.0


class WaitingPod:
    """One pod held back.  The first allow-by-all, reject or timeout decides; later ones are ignored."""

    def __init__(self, pod: Pod, node_name: str, timeouts: dict[str, float], clock: Clock) -> None:
        self.pod = pod
        self.node_name = node_name
        self._clock = clock
        self._deadlines = {
            plugin: (clock.now() + min(seconds, MAX_WAIT_S), min(seconds, MAX_WAIT_S))
            for plugin, seconds in timeouts.items()
        }
        self._pending = set(timeouts)
        self._outcome: Status | None = None
        self._wake: asyncio.Event | None = None

    def copy(self) -> WaitingPod:
        """The same pod, held by the same plugins; nobody waits for this one."""
        copy = WaitingPod(self.pod, self.node_name, {}, self._clock)
        copy._deadlines, copy._pending, copy._outcome = dict(self._deadlines), set(self._pending), self._outcome
        return copy

    @property
    def pending_plugins(self) -> frozenset[str]:
        return frozenset(self._pending)

    @property
    def outcome(self) -> Status | None:
        """What was decided; ``None`` while it waits."""
        return self._outcome

    def allow(self, plugin: str) -> None:
        """This plugin holds the pod no longer."""
        self._pending.discard(plugin)
        if not self._pending:
            self._settle(Status())

    def reject(self, plugin: str, message: str) -> None:
        """The pod may not be bound; the plugin is asked again when something changes."""
        self._settle(Status(Code.UNSCHEDULABLE, (message,), plugin))

    def preempt(self, plugin: str, message: str) -> None:
        """The pod's room is needed for another: it goes back with a backoff."""
        self._settle(Status(Code.ERROR, (message,), plugin))

    async def wait(self) -> Status:
        """Until it is decided."""
        while self._outcome is None:
            plugin = min(self._pending, key=lambda name: (self._deadlines[name], name))
            at, seconds = self._deadlines[plugin]
            self._wake = asyncio.Event()
            if not await wait_at_most(self._wake, at - self._clock.now()) and plugin in self._pending:
                self._reject_late(plugin, seconds)
        return self._outcome

    def expire(self) -> None:
        """Reject the pod if its time is up: for callers that have no task that waits."""
        for plugin, (at, seconds) in sorted(self._deadlines.items(), key=lambda item: item[1]):
            if plugin in self._pending and at <= self._clock.now():
                self._reject_late(plugin, seconds)

    def _reject_late(self, plugin: str, seconds: float) -> None:
        waited = format_duration(seconds)
        self.reject(plugin, f"rejected due to timeout after waiting {waited} at plugin {plugin}")

    def _settle(self, outcome: Status) -> None:
        if self._outcome is None:
            self._outcome = outcome
            if self._wake is not None:
                self._wake.set()


class WaitingPods(dict[str, WaitingPod]):
    """All pods held by Permit, of every profile, by uid."""

    def list(self) -> Sequence[WaitingPod]:
        return list(self.values())

    def copy(self) -> WaitingPods:
        """The same pods, held once more: what becomes of these moves nobody."""
        return WaitingPods((uid, waiting.copy()) for uid, waiting in self.items())
