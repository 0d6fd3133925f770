"""
Make room for a pod that fits nowhere: the fewest moves of others after which it has a node.

For each node that lacks only room, pods are moved away, the smallest that is enough first, until the pod fits.  While
they go the node is closed, so that their replacements do not come back.  ``bayplan fit --make-room`` calls
``make_room``.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from bayplan.controllers.rebalancer.imagined_moves import close
from bayplan.engine.what_if import WhatIf
from bayplan.framework.decision import Decision
from bayplan.framework.status import Code
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.simulator.fit.moves import Move, Mover
from bayplan.simulator.world import World

MOST_NODES = 40
"""Nodes that are tried, the nearest to fitting first."""
MOST_MOVES = 20
"""Away from one node."""


def make_room(world: World, pod: Pod) -> dict[str, Any]:
    """The fields of ``kind: Fit``: where the pod would go, and which moves come before."""
    mover = Mover(world)
    alone = pod.evolve(spec=replace(pod.spec, preemption_policy="Never"))
    imagined = world.scheduler.what_if()
    decision = imagined.decide(alone)
    if decision.node is not None:
        return _document(mover, decision.node, [], "")
    best: tuple[str, list[Move]] | None = None
    for name in _nearest(decision, pod):
        moves = _freed(world, mover, name, alone, MOST_MOVES if best is None else len(best[1]) - 1)
        if moves is not None:
            best = name, moves
            if len(moves) == 1:
                break
    return _document(mover, None, [], decision.message) if best is None else _document(mover, *best, "")


def _document(mover: Mover, node: str | None, moves: list[Move], message: str) -> dict[str, Any]:
    return {
        "room": {"node": node, "message": message},
        "moves": [mover.document(step, move) for step, move in enumerate(moves, 1)],
    }


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


def _freed(world: World, mover: Mover, name: str, pod: Pod, most: int) -> list[Move] | None:
    """The moves after which the pod fits on this node; None if there are none, or more than these."""
    node = world.workloads.nodes[name]
    imagined = world.scheduler.what_if()
    close(imagined, node)
    moves: list[Move] = []
    while len(moves) < most:
        chosen = _next(mover, imagined, name, node, pod)
        if chosen is None:
            return None
        moves.append(chosen)
        if _fits(imagined, node, pod):
            return moves
    return None


def _next(mover: Mover, imagined: WhatIf, name: str, node: Node, pod: Pod) -> Move | None:
    """The smallest pod that makes enough room by itself, else the largest; the next where that has nowhere to go."""
    row = imagined.cache.nodes.row_of(name)
    assert row is not None, "the node is there"
    view = imagined.cache.nodes.node(row)
    lacks = (
        pod.requests.cpu_milli - (view.alloc_cpu_milli - view.req_cpu_milli),
        pod.requests.memory_bytes - (view.alloc_mem_bytes - view.req_mem_bytes),
    )

    def is_enough(other: Pod) -> bool:
        return other.requests.cpu_milli >= lacks[0] and other.requests.memory_bytes >= lacks[1]

    pods = [other for other in mover.on_node(imagined, name) if not mover.stays(other)]
    for other in [
        *[each for each in reversed(pods) if is_enough(each)],
        *[each for each in pods if not is_enough(each)],
    ]:
        fork = imagined.fork()
        move, _ = mover.move(fork, other)
        if move is not None:
            again, _ = mover.move(imagined, other)
            return again
    return None


def _fits(imagined: WhatIf, node: Node, pod: Pod) -> bool:
    """Whether the engine would put the pod somewhere once the node is open again."""
    fork = imagined.fork()
    fork.cache.add_node(node)
    return fork.decide(pod).node is not None
