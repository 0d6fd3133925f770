"""
Which nodes could be emptied with every rule and every disruption budget kept, and the moves that do it.

Nodes are tried from the emptiest on; one that cannot be emptied in full is left as it is.  ``bayplan fit --shrink``
calls ``shrink``.
"""

from __future__ import annotations

from typing import Any

from bayplan.controllers.rebalancer.imagined_moves import close
from bayplan.engine.what_if import WhatIf
from bayplan.objects.node import Node
from bayplan.simulator.fit.moves import Move, Mover
from bayplan.simulator.what_if.condition import shares
from bayplan.simulator.world import World

MOST_MOVES = 500
"""A plan of more than these is nothing that people carry out at once."""
MOST_QUESTIONS = 5_000
"""To the engine.  In a large cluster some nodes are then not tried, and the document says how many."""


def shrink(world: World, most_moves: int = MOST_MOVES) -> dict[str, Any]:
    """The fields of ``kind: Fit`` for a cluster that has come to rest."""
    return _Shrinking(world, most_moves).document()


class _Shrinking:
    def __init__(self, world: World, most_moves: int) -> None:
        self._world = world
        self._mover = Mover(world)
        self._most = most_moves
        self._nodes = world.workloads.nodes
        self._empty: list[str] = []
        self._stay: dict[str, str] = {}
        """Nodes that cannot be emptied, and why."""
        self._untried = 0

    def document(self) -> dict[str, Any]:
        moves = self._plan()
        return {
            "empty": self._empty,
            **self._mover.documents(moves),
            "stay": [{"node": name, "why": why} for name, why in self._stay.items()],
            "untried": self._untried,
        }

    def _plan(self) -> list[Move]:
        imagined = self._world.scheduler.what_if()
        moves: list[Move] = []
        for node in self._candidates():
            pods = len(self._mover.on_node(imagined, node.name))
            if self._mover.questions > MOST_QUESTIONS or len(moves) + pods > self._most:
                self._untried += 1
                continue
            fork = imagined.fork()
            made = self._emptied(fork, node, node.name)
            if made is not None:
                imagined = fork
                moves += made
                self._empty.append(node.name)
        while (at_once := self._at_once()) is None:
            pass
        return at_once

    def _candidates(self) -> list[Node]:
        """The emptiest first; nodes that are closed already come before those that are not."""
        table = self._world.scheduler.cache.nodes
        cpu, memory = shares(table).values()
        full = cpu + memory
        rows = sorted(range(len(table)), key=lambda row: (not table.unschedulable[row], full[row], table.names[row]))
        return [self._nodes[table.names[row]] for row in rows if table.names[row] in self._nodes]

    def _emptied(self, imagined: WhatIf, node: Node, name: str) -> list[Move] | None:
        close(imagined, node)
        return self._moved_off(imagined, name)

    def _moved_off(self, imagined: WhatIf, name: str) -> list[Move] | None:
        pods = self._mover.on_node(imagined, name)
        for pod in pods:  # cheap to ask, so it is asked of all before any is moved
            reason = self._mover.stays(pod)
            if reason:
                self._stay[name] = f"{pod.key}: {reason}"
                return None
        moves = []
        for pod in pods:
            move, reason = self._mover.move(imagined, pod)
            if move is None:
                self._stay[name] = f"{pod.key}: {reason}"
                return None
            moves.append(move)
        return moves

    def _at_once(self) -> list[Move] | None:
        """
        The same nodes, all closed before the first move, as the plan is carried out: then no pod is moved twice.  A
        node that cannot be emptied then is left out, and None says that the others are to be tried again.
        """
        imagined = self._world.scheduler.what_if()
        for name in self._empty:
            close(imagined, self._nodes[name])
        moves: list[Move] = []
        for name in self._empty:
            made = self._moved_off(imagined, name)
            if made is None:
                self._empty.remove(name)
                return None
            moves += made
        return moves
