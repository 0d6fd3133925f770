"""
Pods that have to go at a known time: what the controllers that evict by taints have in common.

``taint_eviction`` and ``device_taint_eviction`` say who and when.  Pods are deleted, not evicted by the API: no budget
keeps them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from bayplan.clock import Clock
from bayplan.objects.toleration import Taint
from bayplan.simulator.cluster import SimulatedCluster
from bayplan.simulator.pod_records import EVICTED

MOST_EVICTIONS = 3
"""How often a pod and those after it are evicted before the run stops waiting for the next time."""


@dataclass(frozen=True, slots=True)
class Due:
    """When a pod has to go, and what it is told."""

    at: float
    why: str


class Evictions(ABC):
    """A ``Timetable`` of who is to go, and when."""

    def __init__(self, cluster: SimulatedCluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._due: dict[str, Due] = {}
        self._seen = -1

    @property
    def is_endless(self) -> bool:
        """A pod that comes back to what it is evicted from goes and comes for ever."""
        self._look()
        records = self._cluster.records
        return all(records[uid].evictions >= MOST_EVICTIONS for uid in self._due)

    def next_at(self) -> float | None:
        self._look()
        return min((each.at for each in self._due.values()), default=None)

    async def happen(self, now: float) -> None:
        self._look()
        for uid, due in list(self._due.items()):
            if due.at <= now:
                del self._due[uid]
                self._cluster.end(self._cluster.records[uid].pod, EVICTED, due.why)

    def _look(self) -> None:
        """Work out anew who is to go, if anything has changed."""
        if self._cluster.revision != self._seen:
            self._seen = self._cluster.revision
            self._due = self._all_due()

    @abstractmethod
    def _all_due(self) -> dict[str, Due]:
        """Who is to go as the cluster is now, by uid."""


def shown(taint: Taint) -> str:
    """As people write taints."""
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"
