"""
Plans of moves for a cluster that has come to rest: which nodes to empty, what to move for some pods.

``bayplan fit --shrink`` and ``--make-room`` call it; the plans are made in ``shrinking`` and ``making_room``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayplan.simulator import simulation
from bayplan.simulator.explain.explanation import API_VERSION
from bayplan.simulator.fit import making_room, shrinking
from bayplan.simulator.fit.gang import Gang
from bayplan.simulator.loading import Given
from bayplan.simulator.simulation import Progress
from bayplan.simulator.world import Look, World, assemble

Warn = Callable[[str], None]


def shrunk(
    given: Given,
    most_moves: int | None,
    *,
    seed: int,
    now: float | None,
    warn: Warn,
    progress: Progress,
    look: Look | None = None,
) -> dict[str, Any]:
    """The document ``kind: Fit`` with ``empty`` and ``moves``."""
    world = assemble(given, seed=seed, now=now, prospects=(), keeps_history=look is not None, warn=warn)
    stopped = simulation.run(world, progress=progress)
    if look is not None:
        look("", world)
    most = shrinking.MOST_MOVES if most_moves is None else most_moves
    return _document(world, shrinking.shrink(world, most), stopped)


def with_room(
    given: Given,
    gang: Gang,
    *,
    seed: int,
    now: float | None,
    warn: Warn,
    progress: Progress,
    look: Look | None = None,
) -> dict[str, Any]:
    """The document ``kind: Fit`` with ``room``, ``close`` and ``moves``."""
    keeps_history = look is not None
    world = assemble(given, seed=seed, now=now, prospects=gang.objects, keeps_history=keeps_history, warn=warn)
    stopped = simulation.run(world, progress=progress)
    if look is not None:
        look("", world)
    return _document(world, making_room.make_room(world, gang.pods(world)), stopped)


def _document(world: World, found: dict[str, Any], stopped: str) -> dict[str, Any]:
    nodes = len(world.scheduler.cache.nodes)
    document = {"apiVersion": API_VERSION, "kind": "Fit", "nodes": nodes, **found}
    return {**document, "stopped": stopped} if stopped else document
