"""The time line of a run: how many pods waited, were bound, preempted and moved by when, and the load of nodes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from bayplan.objects.resources import CPU
from bayplan.simulator.report import usage_plot
from bayplan.simulator.run_history import Moment
from bayplan.simulator.world import World
from bayplan.view.texts import message, shown

MOST_POINTS = 400
MOST_NODES = 60
"""Nodes whose load is shown, the busiest."""
SECONDS, ATTEMPTS = "s", "attempts"
"""Where everything happens in one moment, one attempt follows the other instead."""


def timeline(world: World) -> dict[str, Any] | None:
    """The document; None of a run in which nothing was noted."""
    if world.history is None or len(world.history.moments) < 2:
        return None
    moments = world.history.moments
    elapsed = world.cluster.elapsed_s
    at = [each.at for each in moments] if elapsed > 0 else [float(each) for each in range(len(moments))]
    chosen = _thinned(at, max(elapsed, at[-1]))
    # Nothing was tried before the first: as many waited then, and that one.
    first = moments[1]._replace(at=0.0, waiting=moments[1].waiting + 1, bound=0, failed=0, preempted=0)
    shown_moments: list[Moment] = [moments[each] if each else first for each in chosen]
    times = [round(at[each], 3) for each in chosen]
    if elapsed > times[-1]:
        times.append(round(elapsed, 3))
        shown_moments.append(shown_moments[-1])
    series = [
        {"name": "waiting", "values": [each.waiting for each in shown_moments]},
        {"name": "bound", "values": [each.bound for each in shown_moments]},
        {"name": "failed attempts", "values": [each.failed for each in shown_moments]},
        {"name": "preempted", "values": [each.preempted for each in shown_moments]},
        {"name": "moved", "values": _moved(world, times)},
    ]
    return {
        "unit": SECONDS if elapsed > 0 else ATTEMPTS,
        "at": times,
        "series": [each for each in series if each["name"] in ("waiting", "bound") or any(each["values"])],
        "notes": [] if world.load is None else [
            {"at": round(at, 3), "text": message(text)} for at, text in world.load.notes[:MOST_POINTS]
        ],
        "load": _load(world),
    }  # fmt: skip


def _thinned(at: Sequence[float], end: float) -> list[int]:
    """Numbers of moments, the last one of each step of time; the first is always there."""
    if len(at) <= MOST_POINTS:
        return list(range(len(at)))
    last_of: dict[int, int] = {}
    for number in range(1, len(at)):
        last_of[int(at[number] / end * (MOST_POINTS - 1)) if end else 0] = number
    return [0, *last_of.values()]


def _moved(world: World, times: Sequence[float]) -> list[int]:
    if world.rebalancing is None:
        return []
    moved = sorted(each.at for each in world.rebalancing.moves)
    return [bisect_right(moved, at) for at in times]


def _load(world: World) -> list[dict[str, Any]] | None:
    if world.load is None:
        return None
    document = usage_plot.document(world.load)
    busiest = sorted(document["nodes"], key=lambda node: -max(node[CPU]["used"], default=0.0))[:MOST_NODES]
    return [{"node": shown(node["name"]), "cpuUsed": node[CPU]["used"], "every": document["every"]} for node in busiest]
