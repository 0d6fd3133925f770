"""
Decision: the record of one scheduling cycle.

``engine.evaluation`` makes it; committing, ``explain`` and the simulator's report read it.
Scores of every plugin and reasons of every node are in it where they were asked for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import numpy as np

from bayplan.framework.cycle_state import CycleState
from bayplan.framework.diagnosis import Diagnosis
from bayplan.framework.results import Nomination
from bayplan.framework.snapshot import Rows, Scores
from bayplan.framework.status import SUCCESS, Status
from bayplan.objects.pod import Pod


@dataclass(slots=True)
class PluginScores:
    """One plugin's scores of the feasible rows, in their order."""

    plugin: str
    weight: int
    raw: Scores
    normalized: Scores

    @property
    def weighted(self) -> Scores:
        return self.normalized if self.weight == 1 else self.normalized * self.weight


NO_ROWS: Rows = np.empty(0, np.intp)
_NO_SCORES: Scores = np.empty(0, np.int64)


@dataclass(slots=True)
class Decision:
    """What was decided for one pod, and why."""

    pod: Pod
    profile_name: str
    node: str | None = None
    status: Status = SUCCESS
    """Success, or why the cycle ended: rejected (see ``diagnosis``) or an error."""
    diagnosis: Diagnosis | None = None
    feasible: Rows = field(default_factory=lambda: NO_ROWS)
    scores: list[PluginScores] = field(default_factory=list)
    totals: Scores = field(default_factory=lambda: _NO_SCORES)
    ties: int = 0
    """How many nodes shared the best total."""
    nomination: Nomination | None = None
    victims: tuple[Pod, ...] = ()
    preemption_node: str | None = None
    follow_ups: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    """What PostFilter plugins want written."""
    post_filter_failed: bool = False
    """Whether a PostFilter plugin broke, so that it is not known whether preemption would help."""
    state: CycleState = field(default_factory=CycleState)
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds per extension point."""
    slow_plugins: dict[str, float] = field(default_factory=dict)
    kept_plugins: frozenset[str] = frozenset()
    """Those that were not asked, since what they said for a pod like this one still holds."""
    reserves: bool = True
    """False if every plugin promises that it has nothing to reserve for such a pod, nor to permit."""

    @property
    def message(self) -> str:
        """What the event and the condition say when the pod was not placed."""
        if self.diagnosis is not None and self.status.is_rejected:
            return self.diagnosis.message()
        return self.status.message
