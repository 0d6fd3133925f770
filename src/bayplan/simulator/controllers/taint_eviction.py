"""
What the taint eviction controller does: pods go from nodes with a NoExecute taint that they do not tolerate, or not for
longer.

A ``Timetable`` of every simulation.  Pods are deleted, not evicted by the API: no budget keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bayplan.clock import Clock
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.toleration import NO_EXECUTE, Taint, Toleration, tolerates
from bayplan.simulator.cluster import EVICTED, SimulatedCluster

MOST_EVICTIONS = 3
"""How often a pod and those after it are evicted before the run stops waiting for the next time."""


@dataclass(frozen=True, slots=True)
class _Due:
    since: float
    """When the pod and the taint first met."""
    at: float
    taint: Taint


class TaintEvictions:
    """Who is to go, and when."""

    def __init__(self, cluster: SimulatedCluster, nodes: Mapping[str, Node], clock: Clock) -> None:
        self._cluster = cluster
        self._nodes = nodes
        self._clock = clock
        self._due: dict[str, _Due] = {}
        self._seen = -1

    @property
    def is_endless(self) -> bool:
        """A pod that comes back to the node that it is evicted from does so for ever."""
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
                pod = self._cluster.records[uid].pod
                del self._due[uid]
                self._cluster.end(pod, EVICTED, f"evicted from {pod.node_name}: taint {shown(due.taint)}")

    def _look(self) -> None:
        """Work out anew who is to go, if anything has changed; who was to go already has not begun to wait anew."""
        if self._cluster.revision == self._seen:
            return
        self._seen = self._cluster.revision
        tainted = {
            name: taints
            for name, node in self._nodes.items()
            if (taints := [each for each in node.taints if each.effect == NO_EXECUTE])
        }
        before, self._due = self._due, {}
        for pod in self._cluster.living() if tainted else ():
            met = tainted.get(pod.node_name)
            if met and not pod.is_terminal:
                known = before.get(pod.uid)
                due = self._when(pod, met, known.since if known is not None else self._clock.now())
                if due is not None:
                    self._due[pod.uid] = due

    def _when(self, pod: Pod, taints: list[Taint], since: float) -> _Due | None:
        """The first taint whose toleration ends; None if the pod may stay."""
        soonest: _Due | None = None
        for taint in taints:
            seconds = _tolerated_s(pod.tolerations, taint)
            if seconds is not None and (soonest is None or since + seconds < soonest.at):
                soonest = _Due(since, since + seconds, taint)
        return soonest


def _tolerated_s(tolerations: tuple[Toleration, ...], taint: Taint) -> float | None:
    """For how long a pod puts up with a taint; None for ever.  The first toleration that suits counts."""
    for each in tolerations:
        if tolerates(each, taint):
            return None if each.toleration_seconds is None else max(0.0, float(each.toleration_seconds))
    return 0.0


def shown(taint: Taint) -> str:
    """As people write taints."""
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"
