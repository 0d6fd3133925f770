"""
A sweep in a few lines: over the seeds of each combination of the other axes, mean, deviation, least and most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from typing import Any

from bayplan.simulator.sweep.rows_file import Row, number
from bayplan.text_layout import table

SEED = "seed"
USUAL = ("bound", "pending", "nodesUsed")
"""What the table for people shows beside allocations and measures."""


def summary(rows: Sequence[Row], axes: Sequence[str], measured: Sequence[str]) -> list[dict[str, Any]]:
    """A mapping for each combination, in the order in which they come."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    others = [axis for axis in axes if axis != SEED]
    for row in rows:
        groups.setdefault(tuple(row[axis] for axis in others), []).append(row)
    return [
        {**dict(zip(others, key, strict=True)), "scenarios": len(group), "values": _values(group, measured)}
        for key, group in groups.items()
    ]


def _values(rows: Sequence[Row], measured: Sequence[str]) -> dict[str, dict[str, float]]:
    found = {}
    for name in measured:
        numbers = [value for row in rows if isinstance(value := number(row[name]), int | float)]
        if numbers:
            found[name] = spread(numbers)
    return found


def spread(numbers: Sequence[float]) -> dict[str, float]:
    """Mean, standard deviation (of these numbers, not of a sample), least and most."""
    return {
        "mean": round(fmean(numbers), 4), "sd": round(pstdev(numbers), 4), "min": min(numbers), "max": max(numbers),
    }  # fmt: skip


def as_table(summed: Sequence[Mapping[str, Any]], axes: Sequence[str], measures: Sequence[str]) -> str:
    """Means and deviations for people."""
    others = [axis for axis in axes if axis != SEED]
    shown = [name for name in dict.fromkeys((*USUAL, *measures)) if any(name in each["values"] for each in summed)]
    rows = [
        [*(each[axis] or "-" for axis in others), str(each["scenarios"]),
         *(_cell(each["values"].get(name)) for name in shown)]
        for each in summed
    ]  # fmt: skip
    return table([*(axis.upper() for axis in others), "RUNS", *(name.upper() for name in shown)], rows)


def _cell(spread_of: Mapping[str, float] | None) -> str:
    if spread_of is None:
        return "-"
    return f"{spread_of['mean']:.4g} ± {spread_of['sd']:.2g}" if spread_of["sd"] else f"{spread_of['mean']:g}"
