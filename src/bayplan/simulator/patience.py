"""
Patience: virtual time moves on, or the run ends with a reason.  ``driver`` asks it after every turn.

In life trying takes time, so pods that bring each other back again and again get nowhere slowly.  In virtual time they
would get nowhere in no time, and for ever.  Whatever goes round in one moment without coming to anything is given a
second, a few times; then the run is over, and ``Standstill`` says who it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import structlog

from bayplan.engine.scheduler import Scheduler
from bayplan.simulator.clock_loop import Standstill
from bayplan.simulator.cluster import SimulatedCluster
from bayplan.simulator.pod_records import Record
from bayplan.text_layout import listed

MAX_TRIES_AT_ONCE = 100
"""How often a pod, or those made in its place, may be tried in one moment while nothing comes of it."""

MAX_TURNS_AT_ONCE = 1_000
"""How many turns without a try there may be in one moment, beside one for every pod."""

MAX_SECONDS_GIVEN = 5
"""How often in a row a second is let pass before the run ends."""

MAX_SECONDS_GIVEN_IN_ALL = 100

_FEW = 3

log = structlog.get_logger()


class Patience:
    """Counts what happens in one moment while no pod comes to a node that was not on its way there before."""

    def __init__(self, scheduler: Scheduler, cluster: SimulatedCluster) -> None:
        self._scheduler = scheduler
        self._cluster = cluster
        self._tries: Counter[str] = Counter()
        self._in_vain: Counter[str] = Counter()
        self._turns = 0
        self._seen = (-1.0, -1)
        self._given = self._given_in_all = 0
        self._given_at = 0.0

    def tried(self, record: Record) -> bool:
        """A pod was tried; whether it is time to let time pass.  Raises ``Standstill`` when that has not helped."""
        self._look()
        self._tries[record.lineage] += 1
        self._in_vain[record.pod.uid] += 1
        if self._tries[record.lineage] < MAX_TRIES_AT_ONCE:
            return False
        return self._give_a_second(self._who_is_tried(), "tried")

    def has_hope(self, uid: str) -> bool:
        """Whether one more try of the pod may help.  Others' doings do not count for ever, only pods that land."""
        self._look()
        return self._in_vain[uid] < MAX_TRIES_AT_ONCE

    def turned(self, others: Iterable[str]) -> bool:
        """The loop went round without a pod to try; ``others`` may have had something to do."""
        self._look()
        self._turns += 1
        if self._turns < MAX_TURNS_AT_ONCE + len(self._cluster.records):
            return False
        return self._give_a_second(", ".join(others) or "somebody", "had something to do")

    def _look(self) -> None:
        """A new moment, and a pod that comes to a node, begin the count anew."""
        seen = self._cluster.elapsed_s, self._cluster.landed
        if seen == self._seen:
            return
        if seen[1] != self._seen[1]:
            self._in_vain.clear()
        if seen[0] > self._given_at + 1:
            self._given = 0
        self._seen = seen
        self._tries.clear()
        self._turns = 0

    def _give_a_second(self, who: str, does: str) -> bool:
        self._given += 1
        self._given_in_all += 1
        self._given_at = self._cluster.elapsed_s
        at = f"{self._given_at:g} s"
        why = f"{who} {does} again and again in one moment, and nothing comes of it"
        if self._given > MAX_SECONDS_GIVEN or self._given_in_all > MAX_SECONDS_GIVEN_IN_ALL:
            raise Standstill(f"after {at}: {why}")
        if self._given_in_all == 1:
            log.warning("time is let pass", after=at, because=why)
        self._tries.clear()
        self._turns = 0
        return True

    def _who_is_tried(self) -> str:
        """The pods that go round, and the plugins that said no to them last."""
        most = MAX_TRIES_AT_ONCE // 2
        round_and_round = [
            record.pod
            for record in self._cluster.records.values()
            if not record.is_gone and self._tries[record.lineage] >= most
        ]
        names = listed([pod.key for pod in round_and_round], _FEW)
        uids = {pod.uid for pod in round_and_round}
        plugins: set[str] = set()
        for _, queued in self._scheduler.queue.entries():
            if queued.pod.uid in uids:
                plugins |= queued.unschedulable_plugins | queued.pending_plugins
                held = self._scheduler.waiting.get(queued.pod.uid)
                plugins |= held.pending_plugins if held is not None else frozenset()
        said_by = f" (the last no came from {', '.join(sorted(plugins))})" if plugins else ""
        return f"{names}{said_by} are" if len(round_and_round) > 1 else f"{names}{said_by} is"
