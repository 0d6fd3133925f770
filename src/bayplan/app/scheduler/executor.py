"""
Carrying out the engine's intents in a live cluster: binding cycles, questions to extenders, status patches, events.

Binds come first: a status patch or an event never delays the bind of another pod.  Of one pod, a patch that
says "not scheduled" is never written after its bind.  Evictions are in ``app.scheduler.evictions``.  Used by
``app.scheduler.live``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import structlog

from bayplan.app.scheduler.evictions import Evictions
from bayplan.clock import Clock
from bayplan.engine.events import BindFailed, Bound
from bayplan.engine.intents import AskExtenders, Bind, Emit, Evict, FollowUp, Intent, Outcome, PatchStatus
from bayplan.engine.scheduler import Scheduler
from bayplan.errors import BayplanError, ConflictError, NotFoundError
from bayplan.framework.ports import ClusterWriter
from bayplan.framework.status import failed
from bayplan.kube.recorder import Recorder
from bayplan.objects.times import format_time

log = structlog.get_logger()

MAX_PATCHING = 8


class Executor:
    """Runs intents as tasks."""

    def __init__(
        self,
        scheduler: Scheduler,
        writer: ClusterWriter,
        recorder: Recorder,
        evictions: Evictions,
        clock: Clock,
        decided: Callable[[Outcome, float, float], None],
        ended: Callable[[Bound | BindFailed, float], None],
    ) -> None:
        self._scheduler = scheduler
        self._writer = writer
        self._recorder = recorder
        self._evictions = evictions
        self._clock = clock
        self._decided = decided
        """Hears what came of a cycle that had to wait for extenders, when it began and how long it took."""
        self._ended = ended
        """Hears of the end of a binding cycle, and when the attempt began."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(MAX_PATCHING)
        self._patches: dict[str, PatchStatus] = {}
        self._patching: dict[str, asyncio.Task[None]] = {}
        self._saying: set[str] = set()
        """Pods whose patch is on its way to the API server."""
        self._evicting = 0
        self.binding_cycles = 0
        """Pods on their way to a node, those that wait on Permit included."""
        self.woken = asyncio.Event()
        """Set when something happened after which scheduling may go on."""

    def carry_out(self, intents: Iterable[Intent], started: float = 0.0) -> None:
        """Start what is to be done; ``started`` is when the attempt began that led to it."""
        for intent in intents:
            match intent:
                case Bind():
                    self.binding_cycles += 1
                    self._start(self._bind(intent, started))
                case AskExtenders():
                    self._start(self._ask(intent, started))
                case PatchStatus():
                    self._patch_later(intent)
                case Emit():
                    self._emit(intent)
                case Evict():
                    self._evicting += 1
                    self._start(self._evict(intent))
                case FollowUp():
                    self._start(self._follow_up(intent))

    @property
    def saying(self) -> int:
        """Status patches and evictions that are still to be written: pods wait for these, and for no Event."""
        return len(self._patching) + self._evicting

    async def cancel(self) -> None:
        """End everything that is still under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def beside(self, works: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Start what plugins do beside scheduling."""
        for work in works:
            self._start(work)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("intent failed", error=repr(error), exc_info=error)

    def _emit(self, emit: Emit) -> None:
        self._recorder.emit(
            emit.pod,
            type=emit.type,
            reason=emit.reason,
            action=emit.action,
            note=emit.note,
            related=emit.related,
            reporter=emit.reporter,
        )

    async def _ask(self, ask: AskExtenders, started: float) -> None:
        event = await self._scheduler.ask(ask)
        outcome = Outcome(event.decision, self._scheduler.handle(event), event.queued.attempts)
        self._decided(outcome, started, time.perf_counter() - started)
        self.woken.set()

    # -- binding --

    async def _bind(self, bind: Bind, started: float) -> None:
        try:
            await self._settle_status(bind.decision.pod.uid)
            event = await self._cycle(bind)
        finally:
            self.binding_cycles -= 1
        self._ended(event, started)
        intents = self._scheduler.handle(event)
        self.carry_out(intents)
        self.woken.set()

    async def _cycle(self, bind: Bind) -> Bound | BindFailed:
        """To its end; an error in the cycle itself must not keep the pod's room for ever."""
        try:
            return await self._scheduler.binding_cycle(bind).run()
        except Exception as error:
            log.error("binding cycle failed", pod=bind.decision.pod.key, error=repr(error), exc_info=True)
            return BindFailed(bind.queued, bind.decision, failed(error))

    # -- status --

    def _patch_later(self, patch: PatchStatus) -> None:
        """One patch a pod at a time; a newer one replaces the one that still waits."""
        uid = patch.pod.uid
        self._patches[uid] = patch
        if uid not in self._patching:
            self._patching[uid] = self._start(self._patch(uid))

    async def _patch(self, uid: str) -> None:
        try:
            async with self._slots:
                while (patch := self._patches.pop(uid, None)) is not None:
                    self._saying.add(uid)
                    await self._write_status(patch)
        finally:
            self._saying.discard(uid)
            # In the same step as the last look at what waits, so that nothing is put there unseen.
            del self._patching[uid]

    async def _write_status(self, patch: PatchStatus) -> None:
        status = status_patch(patch, self._clock.now())
        if not status:
            return
        try:
            await self._writer.patch_pod_status(patch.pod, status)
        except (NotFoundError, ConflictError):
            log.debug("nobody to tell", pod=patch.pod.key)
        except BayplanError as error:
            log.warning("status not written", pod=patch.pod.key, error=str(error))

    async def _settle_status(self, uid: str) -> None:
        """The pod is about to be bound: what waits to be said is out of date, what is being said must be over."""
        self._patches.pop(uid, None)
        if uid in self._saying:
            await asyncio.wait({self._patching[uid]})

    # -- preemption --

    async def _follow_up(self, intent: FollowUp) -> None:
        """The pod is tried again whatever comes of it, so that a write that fails is made anew then."""
        try:
            await intent.write()
        except BayplanError as error:
            log.warning("a plugin's write failed", pod=intent.pod.key, error=str(error))

    async def _evict(self, evict: Evict) -> None:
        try:
            done = await self._evictions.carry_out(evict)
        finally:
            self._evicting -= 1
        self.carry_out(self._scheduler.handle(done))
        self.woken.set()


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
            written["lastTransitionTime"] = format_time(now)
        status["conditions"] = [written]
    if patch.nominated_node is not None and patch.nominated_node != pod.nominated_node_name:
        status["nominatedNodeName"] = patch.nominated_node or None
    return status
