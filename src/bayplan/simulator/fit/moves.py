"""
Pods are moved in imagination, one at a time: who may go, and where the engine would put the pod made in its place.

``shrinking`` and ``making_room`` plan with it.  A move counts only if every rule is kept while it is made: the pod may
be evicted, its disruption budget allows it, and its replacement has a node without pushing anybody away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayplan.controllers.rebalancer.imagined_moves import leave, place, replacement_of
from bayplan.controllers.rebalancer.observed import controller_of
from bayplan.controllers.rebalancer.protection import belongs_to_its_node, own_reasons
from bayplan.engine.what_if import WhatIf
from bayplan.objects.pod import Pod
from bayplan.simulator.world import World


@dataclass(frozen=True, slots=True)
class Move:
    """A pod that is evicted, and the node on which another is made."""

    pod: Pod
    source: str
    target: str


class Mover:
    """Moves pods of one world in what-ifs of it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.questions = 0
        """How often the engine was asked."""

    def on_node(self, imagined: WhatIf, name: str) -> list[Pod]:
        """The pods that would have to go, the largest first: they are the hardest to place."""
        nodes = imagined.cache.nodes
        row = nodes.row_of(name)
        pods = [] if row is None else [pod for pod in nodes.pods_at(row) if not belongs_to_its_node(pod)]
        return sorted(pods, key=lambda pod: (-pod.requests.cpu_milli, -pod.requests.memory_bytes, pod.key))

    def stays(self, pod: Pod) -> str:
        """Why a pod may not be moved; "" if it may."""
        reason = next(filter(None, own_reasons(pod)), "")
        if reason:
            return reason
        if not self._world.workloads.looks_after(pod):
            return "its controller is not among the objects"
        if pod.scheduler_name not in self._world.scheduler.profiles:
            return f'no profile is for its scheduler "{pod.scheduler_name}"'
        budgets = self._world.cluster.budgets_of(pod)
        if len(budgets) > 1:
            return "it has more than one disruption budget"
        if budgets and budgets[0].status.disruptions_allowed < 1:
            return f"the disruption budget {budgets[0].key} allows no eviction"
        return ""

    def move(self, imagined: WhatIf, pod: Pod) -> tuple[Move | None, str]:
        """The move, made in the what-if; or None, and why not."""
        reason = self.stays(pod)
        if reason:
            return None, reason
        source = pod.node_name
        leave(imagined, pod)
        self.questions += 1
        again = replacement_of(pod)
        decision = imagined.decide(again)
        if decision.node is None:
            return None, decision.message
        going = imagined.cache.pod(pod.uid)
        if going is not None:
            imagined.cache.remove_pod(going)
        place(imagined, again, decision.node)
        return Move(pod, source, decision.node), ""

    def documents(self, moves: Sequence[Move]) -> dict[str, Any]:
        """The moves, and whose pods they are: the rebalancer carries them out with the engine of these schedulers."""
        return {
            "moves": [self._document(step, move) for step, move in enumerate(moves, 1)],
            "schedulers": sorted({move.pod.scheduler_name for move in moves}),
        }

    def _document(self, step: int, move: Move) -> dict[str, Any]:
        pod = move.pod
        return {
            "step": step,
            "namespace": pod.namespace,
            "name": pod.name,
            "uid": pod.uid,
            "owner": self._world.workloads.owner(pod),
            "controller": controller_of(pod),
            "from": move.source,
            "to": move.target,
        }
