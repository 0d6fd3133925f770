"""
The loop of a simulation: tell the engine what happened, let it schedule, do what it wants, let time pass.

``simulating`` runs it on a loop in virtual time.  Binding cycles are tasks of their own, as in life, so that a pod that
waits for others does not hold them up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from bayplan.engine.events import BindFailed, Bound, PreemptionDone, Tick
from bayplan.engine.intents import Bind, Evict, Intent, PatchStatus
from bayplan.engine.queue import BACKOFF
from bayplan.objects.pod import Pod
from bayplan.simulator.assembling import World


class Driver:
    """Runs a world until nothing more can happen, or until a given moment."""

    def __init__(
        self, world: World, *, until: float | None = None, progress: Callable[[], None] = lambda: None
    ) -> None:
        self._world = world
        self._scheduler = world.scheduler
        self._cluster = world.cluster
        self._clock = world.clock
        self._until = until
        self._progress = progress
        self._binding: dict[asyncio.Task[Bound | BindFailed], None] = {}
        """Binding cycles under way, the oldest first: a set of tasks would have another order in every run."""
        self._seen_revision = -1
        self._retries_end_at: float | None = None

    async def run(self) -> None:
        """To the end."""
        while True:
            self._world.deliver()
            if self._binding and self._take_ended():
                continue
            intents = self._scheduler.schedule_one()
            if intents is not None:
                await self._carry_out(intents)
                self._progress()
            elif not await self._let_time_pass():
                return

    # -- what the engine wants done --

    async def _carry_out(self, intents: Iterable[Intent]) -> None:
        for intent in intents:
            match intent:
                case Bind():
                    await self._bind(intent)
                case PatchStatus():
                    self._cluster.records[intent.pod.uid].attempts += 1
                    self._cluster.failed(intent)
                case Evict():
                    self._evict(intent)
                case _:
                    pass  # an event for people to read; the report says it

    async def _bind(self, bind: Bind) -> None:
        """Start the binding cycle.  Most are through with their first step, and then so are we."""
        self._cluster.records[bind.decision.pod.uid].attempts = bind.queued.attempts
        task = asyncio.ensure_future(self._scheduler.binding_cycle(bind).run())
        await asyncio.sleep(0)
        if task.done():
            self._ended(task)
        else:
            self._binding[task] = None

    def _take_ended(self) -> bool:
        """Take in binding cycles that ended meanwhile; whether there were any."""
        ended = [task for task in self._binding if task.done()]
        for task in ended:
            del self._binding[task]
            self._ended(task)
        return bool(ended)

    def _ended(self, task: asyncio.Task[Bound | BindFailed]) -> None:
        for intent in self._scheduler.handle(task.result()):
            if isinstance(intent, PatchStatus):
                self._cluster.failed(intent)

    def _evict(self, evict: Evict) -> None:
        for pod in evict.lose_nomination:
            self._cluster.nominate(pod, "")
        deleted: list[Pod] = []
        for victim in evict.victims:
            held = self._scheduler.waiting.get(victim.uid)
            if held is not None:
                held.preempt("DefaultPreemption", "preempted")
            else:
                self._cluster.preempt(victim, f"preempted by {evict.preemptor.key} on {evict.node_name}")
                deleted.append(victim)
        self._cluster.events.append(PreemptionDone(evict.preemptor))
        self._cluster.replace_gone(deleted)

    # -- time --

    async def _let_time_pass(self) -> bool:
        """Wait for what comes next; False when the run is over."""
        moment = self._scheduler.queue.next_wakeup()
        if self._until is not None:
            if self._clock.now() >= self._until:
                return False
            moment = self._until if moment is None else min(moment, self._until)
        elif not self._binding and not self._is_worth_waiting():
            return False
        seconds = None if moment is None else max(0.0, moment - self._clock.now())
        if self._binding:
            await asyncio.wait(list(self._binding), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(seconds or 0.0)
        self._scheduler.handle(Tick())
        return True

    def _is_worth_waiting(self) -> bool:
        """
        Whether a retry could change something.  Pods that wait for an event wait in vain, since nothing happens any
        more; pods that failed with an error are given one more try each after the last change.
        """
        queue, cluster = self._scheduler.queue, self._cluster
        if cluster.revision != self._seen_revision:
            self._seen_revision = cluster.revision
            self._retries_end_at = None
        if self._retries_end_at is None:
            backing_off = [queued.backoff_expires_at or 0.0 for place, queued in queue.entries() if place == BACKOFF]
            if not backing_off:
                return False
            self._retries_end_at = max(backing_off) + 1.0
        return self._clock.now() <= self._retries_end_at and bool(queue.pending()[BACKOFF])
