"""
The scenarios of a grid, in their order: the seed goes fastest, then the axes from the last to the first.

``app.sweep`` runs them; a row begins with a scenario's values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from bayplan.errors import InputError
from bayplan.simulator.sweep.payload import ONLY, Payload, scenario_digest
from bayplan.simulator.sweep.sweep_file import MOST_SCENARIOS, Grid

AXES = tuple(Grid.model_fields)
"""Their order is that of the columns."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One run: a value by name for each axis."""

    number: int
    trace: str
    config: str
    weights: str
    outage: str
    scale: str
    seed: int
    digest: str

    def told(self) -> str:
        """For people: the axes that are written."""
        values = ((axis, getattr(self, axis)) for axis in AXES)
        return ", ".join(f"{axis} {value}" for axis, value in values if value != ONLY)


def axes_of(grid: Grid) -> list[str]:
    """Those that the file writes, and the seed."""
    return [axis for axis in AXES if axis == "seed" or getattr(grid, axis)]


def scenarios(payload: Payload) -> list[Scenario]:
    grid = payload.grid
    values: list[Iterable[object]] = [list(getattr(grid, axis) or [ONLY]) for axis in AXES]
    total = prod(len(list(each)) for each in values)
    if total > MOST_SCENARIOS:
        raise InputError(f"{total} scenarios are too many", field="spec.grid", fix=f"write at most {MOST_SCENARIOS}")
    made = []
    for number, combination in enumerate(product(*values)):
        of: dict[str, Any] = dict(zip(AXES, combination, strict=True))
        told = [
            grid.weights.get(str(of["weights"])),
            grid.outage.get(str(of["outage"])),
            grid.scale.get(str(of["scale"])),
            of["seed"],
        ]
        digest = scenario_digest(payload, str(of["trace"]), str(of["config"]), told)
        made.append(Scenario(number, **of, digest=digest))
    return made
