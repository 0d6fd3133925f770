"""
Make room for pods that fit nowhere: as few moves of others as can be found, after which all of them have a node.

Pods come one after the other, the largest first.  For one that has no node, pods are moved off a node that lacks only
room, the smallest that is enough first.  While they go the nodes are closed, so that their replacements do not come
back.  What is found is played once more from the start, as it will be carried out, and moves that turn out not to be
needed are left out.  ``bayplan fit --make-room`` calls ``make_room``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from bayplan.controllers.rebalancer.imagined_moves import close, place
from bayplan.engine.what_if import WhatIf
from bayplan.framework.decision import Decision
from bayplan.framework.status import Code
from bayplan.objects.pod import Pod
from bayplan.simulator.fit.moves import Move, Mover
from bayplan.simulator.world import World

MOST_NODES = 40
"""Nodes that are tried for a pod, the nearest to fitting first."""
MOST_MOVES = 20
"""Away from one node for one pod."""
MOST_PLAYED = 2_000
"""Questions to the engine, about, to find out which moves are not needed."""
ROUNDS = 3


@dataclass(slots=True)
class _Room:
    """What was found: where the pods go after which moves."""

    nodes: dict[str, str] = field(default_factory=dict)
    """By the pods' uids."""
    moves: list[Move] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    """Nodes that are closed although nobody leaves them: replacements would take what the pods are to have."""
    message: str = ""
    """What the first pod without a node was told."""

    @property
    def sources(self) -> list[str]:
        return list(dict.fromkeys(move.source for move in self.moves))

    @property
    def closed(self) -> list[str]:
        return list(dict.fromkeys([*self.sources, *self.kept]))


def make_room(world: World, pods: Sequence[Pod]) -> dict[str, Any]:
    """The fields of ``kind: Fit``: where the pods would go, and which moves come before."""
    mover = Mover(world)
    ordered = sorted(pods, key=lambda pod: (-pod.requests.cpu_milli, -pod.requests.memory_bytes, pod.key))
    room = _Search(world, mover, [_alone(pod) for pod in ordered]).found()
    is_found = not room.message
    placed = [
        {"namespace": pod.namespace, "name": pod.name, "node": room.nodes[pod.uid]} for pod in ordered if is_found
    ]
    return {
        "room": {
            "node": placed[0]["node"] if placed else None,
            "wanted": len(pods),
            "pods": placed,
            "message": room.message,
        },
        "close": room.closed if is_found else [],
        **mover.documents(room.moves if is_found else []),
    }


def _alone(pod: Pod) -> Pod:
    """It pushes nobody away."""
    return pod.evolve(spec=replace(pod.spec, preemption_policy="Never"))


class _Search:
    def __init__(self, world: World, mover: Mover, pods: Sequence[Pod]) -> None:
        self._world = world
        self._mover = mover
        self._pods = pods

    def found(self) -> _Room:
        closed: list[str] = []
        for _ in range(ROUNDS):
            room = self._tried(closed)
            if room.message:
                return room
            played = self._played(room.moves, closed)
            if not played.message:
                return self._without_needless(played)
            # Replacements took what was meant for others: not this time.
            closed = list(dict.fromkeys([*closed, *room.sources, *room.nodes.values()]))
        return played

    def _tried(self, closed: Collection[str]) -> _Room:
        """One pod after the other."""
        room, imagined = _Room(), self._world.scheduler.what_if()
        for pod in self._pods:
            decision = imagined.decide(pod)
            if decision.node is None:
                freed = self._best(imagined, pod, decision, {*closed, *room.sources})
                if freed is None:
                    room.message = self._told(pod, decision, len(room.nodes))
                    return room
                imagined, moves = freed
                room.moves += moves
                decision = imagined.decide(pod)
            assert decision.node is not None, "room has been made"
            place(imagined, pod, decision.node)
            room.nodes[pod.uid] = decision.node
        return room

    def _told(self, pod: Pod, decision: Decision, placed: int) -> str:
        if len(self._pods) == 1:
            return decision.message
        return f"{placed} of {len(self._pods)} would have a node; {pod.key}: {decision.message}"

    # -- for one pod --

    def _best(
        self, imagined: WhatIf, pod: Pod, decision: Decision, closed: Collection[str]
    ) -> tuple[WhatIf, list[Move]] | None:
        best: tuple[WhatIf, list[Move]] | None = None
        for name in _nearest(decision, pod):
            fork = imagined.fork()
            most = MOST_MOVES if best is None else len(best[1]) - 1
            moves = self._freed(fork, name, pod, most, {*closed, name})
            if moves is not None:
                best = fork, moves
                if len(moves) == 1:
                    break
        return best

    def _freed(self, imagined: WhatIf, name: str, pod: Pod, most: int, closed: Collection[str]) -> list[Move] | None:
        """The moves after which the pod fits on this node; None if there are none, or more than these."""
        moves: list[Move] = []
        while len(moves) < most:
            self._close(imagined, closed)
            chosen = self._next(imagined, name, pod)
            self._open(imagined, closed)
            if chosen is None:
                return None
            moves.append(chosen)
            if imagined.decide(pod).node is not None:
                return moves
        return None

    def _next(self, imagined: WhatIf, name: str, pod: Pod) -> Move | None:
        """The smallest pod that makes enough room by itself, else the largest; the next where that cannot go."""
        row = imagined.cache.nodes.row_of(name)
        assert row is not None, "the node is there"
        view = imagined.cache.nodes.node(row)
        lacks = (
            pod.requests.cpu_milli - (view.alloc_cpu_milli - view.req_cpu_milli),
            pod.requests.memory_bytes - (view.alloc_mem_bytes - view.req_mem_bytes),
        )

        def is_enough(other: Pod) -> bool:
            return other.requests.cpu_milli >= lacks[0] and other.requests.memory_bytes >= lacks[1]

        pods = [other for other in self._mover.on_node(imagined, name) if self._may_go(other)]
        for other in [
            *[each for each in reversed(pods) if is_enough(each)],
            *[each for each in pods if not is_enough(each)],
        ]:
            move, _ = self._mover.move(imagined.fork(), other)
            if move is not None:
                again, _ = self._mover.move(imagined, other)
                return again
        return None

    def _may_go(self, pod: Pod) -> bool:
        """Not one that came in imagination, so that nobody moves twice."""
        return self._world.scheduler.cache.pod(pod.uid) is not None and not self._mover.stays(pod)

    # -- all of it --

    def _played(self, moves: Sequence[Move], kept: Sequence[str]) -> _Room:
        """As it will be carried out: nodes closed, moves made, nodes opened, then the pods."""
        imagined = self._world.scheduler.what_if()
        sources = {move.source for move in moves}
        room = _Room(kept=[name for name in kept if name not in sources])
        closed = {*sources, *kept}
        self._close(imagined, closed)
        for move in moves:
            made, why = self._mover.move(imagined, move.pod)
            if made is None:
                room.message = f"{move.pod.key} would have to move: {why}"
                return room
            room.moves.append(made)
        self._open(imagined, closed)
        for pod in self._pods:
            decision = imagined.decide(pod)
            if decision.node is None:
                room.message = self._told(pod, decision, len(room.nodes))
                return room
            place(imagined, pod, decision.node)
            room.nodes[pod.uid] = decision.node
        return room

    def _without_needless(self, room: _Room) -> _Room:
        """A move that served one pod may have become idle through those for another; nodes need not all be closed."""
        if len(room.moves) * (len(room.moves) + len(self._pods)) > MOST_PLAYED:
            return room
        for move in reversed(room.moves):
            fewer = self._played([each for each in room.moves if each.pod.uid != move.pod.uid], room.kept)
            room = room if fewer.message else fewer
        for name in list(room.kept):
            fewer = self._played(room.moves, [each for each in room.kept if each != name])
            room = room if fewer.message else fewer
        return room

    def _close(self, imagined: WhatIf, names: Collection[str]) -> None:
        for name in names:
            close(imagined, self._world.workloads.nodes[name])

    def _open(self, imagined: WhatIf, names: Collection[str]) -> None:
        for name in names:
            imagined.cache.add_node(self._world.workloads.nodes[name])


def _nearest(decision: Decision, pod: Pod) -> list[str]:
    """Nodes that say no for something that other pods' leaving could change, by how much they lack."""
    diagnosis = decision.diagnosis
    if diagnosis is None:
        return []
    found = []
    for row, first_no in enumerate(diagnosis.first_no.tolist()):
        if first_no >= 0 and diagnosis.statuses[first_no].code is not Code.UNRESOLVABLE:
            node = diagnosis.nodes.node(row)
            lacks_cpu = pod.requests.cpu_milli - (node.alloc_cpu_milli - node.req_cpu_milli)
            lacks_memory = pod.requests.memory_bytes - (node.alloc_mem_bytes - node.req_mem_bytes)
            share = max(
                lacks_cpu / max(1, pod.requests.cpu_milli), lacks_memory / max(1, pod.requests.memory_bytes), 0.0
            )
            found.append((share, node.name))
    return [name for _, name in sorted(found)[:MOST_NODES]]
