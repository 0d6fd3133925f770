"""
Nodes are drained as ``kubectl drain`` does it: closed to new pods, then their pods are evicted, round after round.

A disruption budget may refuse an eviction; it is tried again when the pods that were evicted before run elsewhere, and
given up when nothing changes any more.  ``scenario`` lets things settle between rounds.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayplan.controllers.rebalancer.imagined_moves import cordoned
from bayplan.controllers.rebalancer.protection import belongs_to_its_node
from bayplan.errors import EvictionRefusedError
from bayplan.objects.pod import Pod
from bayplan.simulator.world import World

FORCE, EMPTY_DIR = "--force", "--delete-emptydir-data"
"""Options without which kubectl would refuse."""


@dataclass(slots=True)
class Eviction:
    """One pod that was told to go, and when."""

    pod: Pod
    round: int


@dataclass(slots=True)
class Drained:
    """What became of one node."""

    node: str
    evictions: list[Eviction] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    """Pods (keys) that a budget keeps on the node, and what the server would say."""
    stays: int = 0
    """Pods that belong to their node: of DaemonSets, and those that the node itself runs."""
    needs: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        order = [
            {"round": each.round, "namespace": each.pod.namespace, "name": each.pod.name} for each in self.evictions
        ]
        return {"node": self.node, "evictions": order, "stay": self.stays, "needs": self.needs}


class Drain:
    """Drains some nodes, one after the other."""

    def __init__(self, world: World, nodes: Sequence[str]) -> None:
        self._world = world
        self.drained = [Drained(name) for name in nodes]

    async def rounds(self) -> AsyncIterator[None]:
        """After each round things have to settle."""
        if not self.drained:
            return
        self._cordon()
        for each in self.drained:
            async for _ in self._drain(each):
                yield
        # What was refused on one node may go once others have been drained.
        again = True
        while again and any(each.refused for each in self.drained):
            again = False
            for each in self.drained:
                done = len(each.evictions)
                async for _ in self._drain(each):
                    yield
                again |= len(each.evictions) > done

    def _cordon(self) -> None:
        nodes = (self._world.workloads.nodes[each.node] for each in self.drained)
        self._world.changes.play([(True, cordoned(node)) for node in nodes])

    async def _drain(self, drained: Drained) -> AsyncIterator[None]:
        while True:
            pods = self._leaving(drained)
            rounds = drained.evictions[-1].round if drained.evictions else 0
            gone = [pod for pod in pods if await self._evict(pod, drained, rounds + 1)]
            if not gone:
                return
            yield
            if len(gone) == len(pods):
                return

    async def _evict(self, pod: Pod, drained: Drained, number: int) -> bool:
        try:
            await self._world.cluster.evict(pod)
        except EvictionRefusedError as error:
            drained.refused[pod.key] = error.message
            return False
        drained.refused.pop(pod.key, None)
        drained.evictions.append(Eviction(pod, number))
        return True

    def _leaving(self, drained: Drained) -> list[Pod]:
        """Who has to go, in the order in which a server lists pods."""
        here = [pod for pod in self._world.cluster.living() if pod.node_name == drained.node]
        going = [pod for pod in here if not belongs_to_its_node(pod)]
        drained.stays = len(here) - len(going)
        needs = [FORCE] if any(pod.controller is None for pod in going) else []
        if any(volume.empty_dir is not None for pod in going for volume in pod.volumes):
            needs.append(EMPTY_DIR)
        drained.needs = list(dict.fromkeys([*drained.needs, *needs]))
        return sorted(going, key=lambda pod: pod.key)
