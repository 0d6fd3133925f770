"""
What the taint eviction controller does: pods go from nodes with a NoExecute taint that they do not tolerate, or not for
longer.

A ``Timetable`` of every simulation.
"""

from __future__ import annotations

from collections.abc import Mapping

from bayplan.clock import Clock
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.toleration import NO_EXECUTE, Taint, Toleration, tolerates
from bayplan.simulator.cluster import SimulatedCluster
from bayplan.simulator.controllers.evictions import Due, Evictions, shown


class TaintEvictions(Evictions):
    """Who is to go from the nodes, and when."""

    def __init__(self, cluster: SimulatedCluster, nodes: Mapping[str, Node], clock: Clock) -> None:
        super().__init__(cluster, clock)
        self._nodes = nodes
        self._since: dict[str, float] = {}
        """When those who are to go first met a taint: nobody begins to wait anew."""

    def _all_due(self) -> dict[str, Due]:
        tainted = {
            name: taints
            for name, node in self._nodes.items()
            if (taints := [each for each in node.taints if each.effect == NO_EXECUTE])
        }
        found: dict[str, Due] = {}
        since: dict[str, float] = {}
        for pod in self._cluster.living() if tainted else ():
            met = tainted.get(pod.node_name)
            if met and not pod.is_terminal:
                first = self._since.get(pod.uid, self._clock.now())
                due = _when(pod, met, first)
                if due is not None:
                    found[pod.uid], since[pod.uid] = due, first
        self._since = since
        return found


def _when(pod: Pod, taints: list[Taint], since: float) -> Due | None:
    """The first taint whose toleration ends; None if the pod may stay."""
    soonest: Due | None = None
    for taint in taints:
        seconds = _tolerated_s(pod.tolerations, taint)
        if seconds is not None and (soonest is None or since + seconds < soonest.at):
            soonest = Due(since + seconds, f"evicted from {pod.node_name}: taint {shown(taint)}")
    return soonest


def _tolerated_s(tolerations: tuple[Toleration, ...], taint: Taint) -> float | None:
    """For how long a pod puts up with a taint; None for ever.  The first toleration that suits counts."""
    for each in tolerations:
        if tolerates(each, taint):
            return None if each.toleration_seconds is None else max(0.0, float(each.toleration_seconds))
    return 0.0
