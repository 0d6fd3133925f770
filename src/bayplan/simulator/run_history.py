"""
What is noted of a run for those who look at it afterwards: every attempt, how many pods waited then, and the scores.

``world`` keeps one where a report is wanted, ``driver`` tells it of every outcome, and ``view`` shows it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.clock import Clock
from bayplan.engine.intents import Evict, Outcome
from bayplan.engine.queue.scheduling_queue import GATED, SchedulingQueue
from bayplan.framework.decision import Decision

MOST_ATTEMPTS = 10
"""Attempts of a pod that are remembered, the last ones."""


class Moment(NamedTuple):
    """How things stood after an attempt; all but ``waiting`` are counted from the beginning."""

    at: float
    waiting: int
    bound: int
    failed: int
    preempted: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a pod was told once; ``node`` is empty if it was given none."""

    at: float
    node: str
    message: str


@dataclass(frozen=True, slots=True)
class Scored:
    """A choice among several nodes: the best and the next, with each plugin's weighted scores."""

    node: str
    total: int
    scores: Mapping[str, int]
    runner_up: str
    runner_up_total: int
    runner_up_scores: Mapping[str, int]
    ties: int


class RunHistory:
    """One run, attempt by attempt."""

    def __init__(self, queue: SchedulingQueue, clock: Clock) -> None:
        self._queue = queue
        self._clock = clock
        self._started_at = clock.now()
        self.moments: list[Moment] = [Moment(0.0, 0, 0, 0, 0)]
        self.scored: dict[str, Scored] = {}
        """The last choice for each pod, by uid."""
        self._attempts: dict[str, deque[Attempt]] = {}

    def follow(self, queue: SchedulingQueue) -> None:
        """Another scheduler took over."""
        self._queue = queue

    def attempts(self, uid: str) -> list[Attempt]:
        """The last ones of a pod, the oldest first."""
        return list(self._attempts.get(uid, ()))

    def note(self, outcome: Outcome) -> None:
        """To be told before the cluster changes: a decision shares the columns that it was made of."""
        decision = outcome.decision
        if decision is None:
            return
        at, last = self._clock.now() - self._started_at, self.moments[-1]
        waiting = sum(count for place, count in self._queue.pending().items() if place != GATED)
        victims = sum(len(intent.victims) for intent in outcome.intents if isinstance(intent, Evict))
        done = outcome.is_committed
        self.moments.append(Moment(at, waiting, last.bound + done, last.failed + (not done), last.preempted + victims))
        uid = decision.pod.uid
        attempt = Attempt(at, decision.node or "", "" if done else decision.message)
        self._attempts.setdefault(uid, deque(maxlen=MOST_ATTEMPTS)).append(attempt)
        if decision.node is not None and len(decision.totals) > 1:
            self.scored[uid] = _scored(decision)


def _scored(decision: Decision) -> Scored:
    assert decision.diagnosis is not None, "it was told in full"
    assert decision.node is not None, "a node was chosen"
    names, rows, totals = decision.diagnosis.nodes.names, decision.feasible, decision.totals
    best = int(np.flatnonzero(rows == decision.diagnosis.nodes.row_of(decision.node))[0])
    others = totals.copy()
    others[best] = np.iinfo(totals.dtype).min
    second = int(np.argmax(others))

    def scores(position: int) -> dict[str, int]:
        return {each.plugin: int(each.normalized[position]) * each.weight for each in decision.scores}

    return Scored(
        decision.node,
        int(totals[best]),
        scores(best),
        names[rows.item(second)],
        int(totals[second]),
        scores(second),
        decision.ties,
    )
