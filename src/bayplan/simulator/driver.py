"""
The loop of a simulation: tell the engine what happened, let it schedule, do what it wants, let time pass.

``simulation`` runs it on a loop in virtual time.  Binding cycles are tasks of their own, as in life, so that a pod that
waits for others does not hold them up.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable

from bayplan.engine.events import BindFailed, Bound, PreemptionDone, Tick
from bayplan.engine.intents import Bind, Evict, FollowUp, Intent, Outcome, PatchStatus
from bayplan.engine.queue.scheduling_queue import BACKOFF
from bayplan.objects.pod import Pod
from bayplan.simulator.clock_loop import Standstill, VirtualTimeLoop
from bayplan.simulator.patience import Patience
from bayplan.simulator.world import World

MAX_TRIES = 3
"""How often a pod is tried while nothing changes, before trying again counts as pointless."""

_FEW = 3

TURNS = 5
"""After so many turns of the loop whatever can be done without waiting is done."""


Then = Callable[[], Awaitable[bool]]
"""What is done when nothing more can happen; whether something can happen again."""


async def nothing_more() -> bool:
    return False


class Driver:
    """Runs a world until nothing more can happen, or until a given moment."""

    def __init__(
        self,
        world: World,
        *,
        until: float | None = None,
        progress: Callable[[], None] = lambda: None,
        then: Then = nothing_more,
        is_enough: Callable[[Outcome], bool] = lambda outcome: False,
    ) -> None:
        """``then`` is asked when nothing more can happen; the run also ends with an outcome that ``is_enough``."""
        self._world = world
        self._scheduler = world.scheduler
        self._cluster = world.cluster
        self._clock = world.clock
        self._until = until
        self._progress = progress
        self._then = then
        self._is_enough = is_enough
        self._binding: dict[asyncio.Task[Bound | BindFailed], str] = {}
        """Binding cycles under way and their pods' uids, the oldest first, so that every run has the same order."""
        self._tries: Counter[str] = Counter()
        """By uid, since something changed last."""
        self._beside: list[asyncio.Task[None]] = []
        """What plugins do beside scheduling."""
        self._seen_revision = -1
        self._patience = Patience(world.scheduler, world.cluster)
        self.stopped = ""
        """Why the run ended too early."""
        self._is_over = False

    async def run(self) -> None:
        """To the end."""
        self._cluster.news = asyncio.Event()
        self._beside = [asyncio.create_task(work, name=name) for name, work in self._scheduler.background()]
        await asyncio.sleep(0)
        try:
            await self._run()
        except Standstill as error:
            self.stopped = str(error)
        finally:
            for task in self._beside:
                task.cancel()
            await asyncio.gather(*self._beside, return_exceptions=True)

    async def _run(self) -> None:
        if self._world.load is not None:
            await self._world.load.begin()
        loop = asyncio.get_running_loop()
        while not self._is_over:
            if isinstance(loop, VirtualTimeLoop):
                loop.note_turn()
            self._world.deliver()
            if self._binding and self._take_ended():
                continue
            outcomes = self._scheduler.schedule()
            if outcomes is not None:
                for outcome in outcomes:
                    if self._world.history is not None:
                        self._world.history.note(outcome)
                    await self._carry_out(outcome.intents)
                    self._progress()
                    self._is_over |= self._is_enough(outcome)
            elif not await self._let_time_pass():
                if not await self._then():
                    return
            elif self._patience.turned(self.others()):
                await self._let_a_second_pass()

    # -- what the engine wants done --

    async def _carry_out(self, intents: Iterable[Intent]) -> None:
        for intent in intents:
            match intent:
                case Bind():
                    await self._bind(intent)
                case PatchStatus():
                    self._cluster.records[intent.pod.uid].attempts += 1
                    self._cluster.failed(intent)
                    await self._count_try(intent.pod.uid)
                case Evict():
                    self._evict(intent)
                case FollowUp():
                    await intent.write()
                case _:
                    pass  # an event for people to read; the report says it

    async def _bind(self, bind: Bind) -> None:
        """Start the binding cycle.  Most are through with their first step, and then so are we."""
        uid = bind.decision.pod.uid
        self._cluster.records[uid].attempts = bind.queued.attempts
        task = asyncio.ensure_future(self._scheduler.binding_cycle(bind).run())
        await asyncio.sleep(0)
        if task.done():
            self._ended(task)
        else:
            self._binding[task] = uid
        await self._count_try(uid)

    async def _count_try(self, uid: str) -> None:
        if self._cluster.revision != self._seen_revision:
            self._seen_revision = self._cluster.revision
            self._tries.clear()
        self._tries[uid] += 1
        if self._patience.tried(self._cluster.records[uid]):
            await self._let_a_second_pass()

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
        if self._beside and await self._have_others_written():
            return True
        moment = _earlier(self._scheduler.queue.next_wakeup(), self._next_happening())
        if self._until is not None:
            if self._clock.now() >= self._until:
                return False
            moment = self._until if moment is None else min(moment, self._until)
        elif not self._is_worth_waiting():
            return False
        seconds = None if moment is None else max(0.0, moment - self._clock.now())
        if self._binding or self._beside:
            news = asyncio.ensure_future(self._cluster.news.wait())
            await asyncio.wait([*self._binding, news], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            news.cancel()
            self._cluster.news.clear()
        else:
            await asyncio.sleep(seconds or 0.0)
        await self._let_happen()
        self._scheduler.handle(Tick())
        return True

    async def _let_a_second_pass(self) -> None:
        """Or what is left of the run, which is over when nothing is left."""
        left = 1.0 if self._until is None else min(1.0, self._until - self._clock.now())
        self._is_over = left <= 0
        await asyncio.sleep(max(0.0, left))

    def others(self) -> list[str]:
        """Who has something to do beside scheduling, or had until that was ended."""
        plugins = [task.get_name() for task in self._beside if not task.done() or task.cancelled()]
        bound = [self._cluster.records[uid].pod.key for uid in self._binding.values()]
        binds = [f"the bind of {', '.join(bound[:_FEW])}{' and more' if len(bound) > _FEW else ''}"] if bound else []
        return [*plugins, *binds, *(["the rebalancer"] if self._world.rebalancing is not None else [])]

    def _next_happening(self) -> float | None:
        """When something happens by itself; what never ends is waited for only in a run that ends by the clock."""
        moment = None
        for each in self._world.happenings:
            if self._until is not None or not each.is_endless:
                moment = _earlier(moment, each.next_at())
        return moment

    async def _let_happen(self) -> None:
        for each in self._world.happenings:
            at = each.next_at()
            if at is not None and at <= self._clock.now():
                await each.happen(self._clock.now())

    async def _have_others_written(self) -> bool:
        """Give plugins that work beside scheduling their turn; whether they had something to write."""
        for _ in range(TURNS):
            await asyncio.sleep(0)
        return bool(self._cluster.events)

    def _is_worth_waiting(self) -> bool:
        """
        Whether time could change something.  Pods that wait for an event wait in vain, since nothing happens any more.
        What is being done before a bind will be done; pods that failed with an error, and pods held by Permit, are
        given a few tries while nothing changes.
        """
        if self._next_happening() is not None:
            return True
        waiting = [queued.pod.uid for place, queued in self._scheduler.queue.entries() if place == BACKOFF]
        for uid in self._binding.values():
            if self._scheduler.waiting.get(uid) is None:
                return True
            waiting.append(uid)
        waiting = [uid for uid in waiting if self._patience.has_hope(uid)]
        if self._cluster.revision != self._seen_revision:
            return bool(waiting)
        return any(self._tries[uid] < MAX_TRIES for uid in waiting)


def _earlier(one: float | None, other: float | None) -> float | None:
    return one if other is None else other if one is None else min(one, other)
