"""
Real use against requests, per node and over time: as numbers for programs and as a plot of plain text for people.

``simulation_report`` puts both into the answer of a simulation that had a load.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayplan.objects.resources import CPU, MEMORY
from bayplan.simulator.load.simulated_load import SimulatedLoad
from bayplan.simulator.load.usage_history import SAMPLE_EVERY_S, Fractions
from bayplan.text_layout import table

MAX_POINTS = 240
PLOT_WIDTH = 60
MAX_NODES = 10
_BARS = "▁▂▃▄▅▆▇█"


def document(load: SimulatedLoad) -> dict[str, Any]:
    """The field ``load`` of a simulation: shares of allocatable, at equal distances; of several samples the largest."""
    used, asked = np.array(load.history.samples), np.array(load.requested)
    step = max(1, -(-len(used) // MAX_POINTS))
    return {
        "every": step * SAMPLE_EVERY_S,
        "nodes": [
            {
                "name": name,
                CPU: {"used": _points(used[:, row, 0], step), "requested": _points(asked[:, row, 0], step)},
                MEMORY: {"used": _points(used[:, row, 1], step), "requested": _points(asked[:, row, 1], step)},
            }
            for row, name in enumerate(load.nodes)
        ],
        "notes": [{"at": round(at, 3), "text": text} for at, text in load.notes],
    }


def _points(values: Fractions, step: int) -> list[float]:
    return [round(float(values[start : start + step].max()), 4) for start in range(0, len(values), step)]


def as_text(load: dict[str, Any]) -> str:
    """A line for each node, resource and kind of use; the busiest nodes where there are many."""
    nodes = load["nodes"]
    if not nodes:
        return ""
    shown = sorted(sorted(nodes, key=lambda node: -_peak(node))[:MAX_NODES], key=lambda node: str(node["name"]))
    points = len(nodes[0][CPU]["used"])
    rows = [
        [node["name"], resource, kind, _bars(values), f"{values[-1]:.0%}", f"{max(values):.0%}"]
        for node in shown
        for resource in (CPU, MEMORY)
        for kind, values in node[resource].items()
    ]
    minutes = (points - 1) * load["every"] / 60
    header = ["NODE", "RESOURCE", "SHARE", f"0 TO {minutes:g} MINUTES", "LAST", "PEAK"]
    lines = [table(header, rows)]
    if len(nodes) > len(shown):
        lines.append(f"and {len(nodes) - len(shown)} nodes that are less busy")
    lines += [f"{each['at']:g}s: {each['text']}" for each in load["notes"][:MAX_NODES]]
    if len(load["notes"]) > MAX_NODES:
        lines.append(f"and {len(load['notes']) - MAX_NODES} more notes: see -o json")
    return "\n".join(lines)


def _peak(node: dict[str, Any]) -> float:
    return float(max(*node[CPU]["used"], *node[MEMORY]["used"]))


def _bars(values: list[float]) -> str:
    """Eighths of the node; a full bar is a full node, or more."""
    parts: list[npt.NDArray[np.float64]] = np.array_split(np.array(values), min(PLOT_WIDTH, len(values)))
    return "".join(_BARS[min(len(_BARS) - 1, int(part.max() * len(_BARS)))] for part in parts)
