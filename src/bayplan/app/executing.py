"""
Carrying out the engine's intents in a live cluster: binding cycles, status patches, events, evictions.

Binds come first: a status patch or an event never delays one.  Used by ``app.scheduler``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from datetime import UTC, datetime
from typing import Any

import structlog

from bayplan.clock import Clock
from bayplan.engine.events import PreemptionDone
from bayplan.engine.intents import Bind, Emit, Evict, Intent, PatchStatus
from bayplan.engine.scheduler import Scheduler
from bayplan.errors import ApiError, BayplanError, LeadershipLostError, NotFoundError, TransportError
from bayplan.framework.ports import ClusterWriter
from bayplan.kube.recorder import Recorder
from bayplan.objects.pod import Pod

log = structlog.get_logger()

MAX_BINDING = 64
MAX_PATCHING = 8


class Executor:
    """Runs intents as tasks."""

    def __init__(self, scheduler: Scheduler, writer: ClusterWriter, recorder: Recorder, clock: Clock) -> None:
        self._scheduler = scheduler
        self._writer = writer
        self._recorder = recorder
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()
        self._binding = asyncio.Semaphore(MAX_BINDING)
        self._patching = asyncio.Semaphore(MAX_PATCHING)
        self._patches: dict[str, PatchStatus] = {}
        self.in_flight = 0
        """Pods on their way to a node."""
        self.woken = asyncio.Event()
        """Set when something happened after which scheduling may go on."""

    def carry_out(self, intents: Iterable[Intent]) -> None:
        for intent in intents:
            match intent:
                case Bind():
                    self.in_flight += 1
                    self._start(self._bind(intent))
                case PatchStatus():
                    self._patch_later(intent)
                case Emit():
                    self._recorder.emit(
                        intent.pod,
                        type=intent.type,
                        reason=intent.reason,
                        action=intent.action,
                        note=intent.note,
                        related=intent.related,
                        reporter=intent.reporter,
                    )
                case Evict():
                    self._start(self._evict(intent))

    async def finish(self, timeout_s: float) -> None:
        """Let what is under way end; cancel what takes too long."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=timeout_s)
            for task in late:
                task.cancel()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("intent failed", error=repr(task.exception()))

    async def _bind(self, bind: Bind) -> None:
        cycle = self._scheduler.binding_cycle(bind)
        try:
            async with self._binding:
                event = await cycle.run()
        finally:
            self.in_flight -= 1
        self.carry_out(self._scheduler.handle(event))
        self.woken.set()

    # -- status --

    def _patch_later(self, patch: PatchStatus) -> None:
        """One patch a pod at a time; a newer one replaces the one that still waits."""
        waiting = patch.pod.uid in self._patches
        self._patches[patch.pod.uid] = patch
        if not waiting:
            self._start(self._patch(patch.pod.uid))

    async def _patch(self, uid: str) -> None:
        async with self._patching:
            patch = self._patches.pop(uid)
            status = status_patch(patch, self._clock.now())
            if not status:
                return
            try:
                await self._writer.patch_pod_status(patch.pod, status)
            except NotFoundError:
                return
            except (ApiError, TransportError, LeadershipLostError) as error:
                log.warning("status not written", pod=patch.pod.key, error=str(error))

    # -- preemption --

    async def _evict(self, evict: Evict) -> None:
        failed = False
        try:
            for pod in evict.lose_nomination:
                await self._writer.patch_pod_status(pod, {"nominatedNodeName": None})
            *first, last = evict.victims or (None,)
            await asyncio.gather(*(self._evict_one(evict, victim) for victim in first if victim))
            if last is not None:
                await self._evict_one(evict, last)
        except BayplanError as error:
            failed = True
            log.warning("preemption failed", pod=evict.preemptor.key, error=str(error))
        self._scheduler.handle(PreemptionDone(evict.preemptor, failed))
        self.woken.set()

    async def _evict_one(self, evict: Evict, victim: Pod) -> None:
        """Held by Permit: it is let go in memory.  Otherwise say why in its status, then delete it."""
        preemptor = evict.preemptor
        held = self._scheduler.waiting.get(victim.uid)
        note = f"Preempted by pod {preemptor.uid} on node {evict.node_name}"
        if held is not None:
            held.preempt("DefaultPreemption", "preempted")
            note += " (in kube-scheduler memory)."
        else:
            condition = {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "PreemptionByScheduler",
                "message": f"{evict.reporter}: preempting to accommodate a higher priority pod",
                "lastTransitionTime": _time(self._clock.now()),
            }
            try:
                await self._writer.patch_pod_status(victim, {"conditions": [condition]})
                await self._writer.delete_pod(victim)
            except NotFoundError:
                return
        self._recorder.emit(
            victim,
            type="Normal",
            reason="Preempted",
            action="Preempting",
            note=note,
            related=preemptor,
            reporter=evict.reporter,
        )


def status_patch(patch: PatchStatus, now: float) -> dict[str, Any]:
    """What must change in the pod's status; nothing if it says so already."""
    status: dict[str, Any] = {}
    pod = patch.pod
    condition = pod.condition("PodScheduled")
    same = (
        condition is not None
        and condition.status == "False"
        and condition.reason == patch.reason
        and condition.message == patch.message
    )
    if not same:
        written = {
            "type": "PodScheduled",
            "status": "False",
            "reason": patch.reason,
            "message": patch.message,
            "observedGeneration": pod.metadata.generation,
        }
        if condition is None or condition.status != "False":
            written["lastTransitionTime"] = _time(now)
        status["conditions"] = [written]
    if patch.nominated_node is not None and patch.nominated_node != pod.nominated_node_name:
        status["nominatedNodeName"] = patch.nominated_node or None
    return status


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
