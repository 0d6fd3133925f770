"""
Why two schedulers put a pod on different nodes: the plugin that tipped it.

Both are asked about the same cluster: the one in which the first decided, pod by pod in its order.  Then a plugin is
named that rejects the other's node, or else the one whose scores changed most in favour of it (``framework.tipping``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from bayplan.controllers.rebalancer.imagined_moves import place
from bayplan.engine.what_if import WhatIf
from bayplan.framework.decision import Decision
from bayplan.framework.tipping import How, loudest_for, scores_of, tip
from bayplan.objects.pod import Pod
from bayplan.simulator.world import World

EARLIER = "earlier pods"
"""At the same moment both would have chosen the same node; what came before was different."""
TIE = "a tie"
MOST = 500
"""Pods that are asked about; of more, the rest have no reason."""


class Tipping:
    """Two runs of the same cluster."""

    def __init__(self, first: World, second: World, order: Sequence[tuple[Pod, str]]) -> None:
        self._order = order
        self._first = first
        self._one, self._other = (_as_begun(world) for world in (first, second))

    def reasons(self, keys: Collection[str]) -> dict[str, str | None]:
        """By pod, for at most ``MOST`` of these."""
        asked = set(keys)
        found: dict[str, str | None] = {}
        for pod, node in self._order:
            if pod.key in asked and len(found) < MOST and pod.key not in found:
                found[pod.key] = self._reason(pod)
            for imagined in (self._one, self._other):
                if imagined.cache.nodes.row_of(node) is not None and imagined.cache.pod(pod.uid) is None:
                    place(imagined, pod, node)
        for key in asked - found.keys():  # those that the first has put nowhere: as it stands in the end
            waiting = self._first.cluster.pod(key)
            if waiting is not None and not waiting.node_name and len(found) < MOST:
                found[key] = self._reason(waiting)
        return found

    def _reason(self, pod: Pod) -> str | None:
        waiting = pod.evolve(spec=replace(pod.spec, node_name=""), status=replace(pod.status, nominated_node_name=""))
        if any(imagined.profile(pod.scheduler_name) is None for imagined in (self._one, self._other)):
            return "schedulerName"
        one, other = self._one.decide(waiting), self._other.decide(waiting)
        if one.node == other.node:
            return EARLIER
        return _rejected(other, one.node) or _rejected(one, other.node) or _tipped(one, other)


def _as_begun(world: World) -> WhatIf:
    """The cluster before anything was decided: pods that came to a node since are off it."""
    imagined = world.scheduler.what_if()
    for record in world.cluster.records.values():
        pod = record.pod
        if record.bound_at is not None and not record.is_gone:
            imagined.cache.remove_pod(pod)
        elif record.bound_at is None and record.is_gone and pod.node_name and imagined.cache.pod(pod.uid) is None:
            imagined.cache.add_pod(pod)
    return imagined


def _rejected(decision: Decision, node: str | None) -> str | None:
    """The plugin that says no to a node."""
    found = None if node is None else tip(decision, node)
    return found.plugin if found is not None and found.how is How.FILTER else None


def _tipped(one: Decision, other: Decision) -> str:
    """The plugin whose scores moved most from the first's node to the second's."""
    if one.node is None or other.node is None:
        return EARLIER
    before, after = (_leads(decision, other.node, one.node) for decision in (one, other))
    if not before or not after or sum(after.values()) == 0:
        return TIE
    # A plugin that only one of the two has speaks for nobody in the other.
    return loudest_for({plugin: after.get(plugin, 0) for plugin in {**after, **before}}, before) or TIE


def _leads(decision: Decision, ahead: str, behind: str) -> dict[str, int]:
    """By plugin, how many points one node has more than another; none where one of them was not scored."""
    points, others = scores_of(decision, ahead), scores_of(decision, behind)
    return {plugin: score - others[plugin] for plugin, score in points.items()} if others else {}
