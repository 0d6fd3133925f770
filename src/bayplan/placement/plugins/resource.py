"""ResourceAllocatableCPU and ResourceAllocatableMemory: clusters with more to give.

100 for the most among the clusters that passed the filters, -100 for the least, 100 for all if they are equal. A
cluster that does not say both what it can allocate and what it has gets 0. Reads: allocatable and capacity.
"""

from __future__ import annotations

import numpy as np

from bayplan.placement.compiling import Plan
from bayplan.placement.fleet import Fleet
from bayplan.placement.plugin import ALL, MAX_SCORE, ClusterScorer, Earlier, Moment, Rows
from bayplan.placement.table import Numbers

_NOBODY = (np.inf, -np.inf)


class _ResourceAllocatable(ClusterScorer):
    resource: str
    is_kept = True

    def scale(self, plan: Plan, fleet: Fleet, moment: Moment, earlier: Earlier | None = None) -> tuple[float, float]:
        """The least and the most."""
        amounts = fleet.table.amounts[self.resource]
        if earlier is not None and isinstance(earlier.scale, tuple) and earlier.scores is not None:
            low, high = earlier.scale
            for row in earlier.changed:
                amount = amounts[row] if moment.eligible[row] else np.nan
                # One that was the least or the most, or that becomes it, may change all.
                if abs(earlier.scores[row]) >= MAX_SCORE or amount < low or amount > high:
                    break
            else:
                return low, high
        given = amounts[moment.eligible]
        given = given[~np.isnan(given)]
        return (float(given.min()), float(given.max())) if len(given) else _NOBODY

    def score(self, plan: Plan, fleet: Fleet, moment: Moment, scale: object, rows: Rows = ALL) -> Numbers:
        assert isinstance(scale, tuple)
        low, high = scale
        amounts = fleet.table.amounts[self.resource][rows]
        told = moment.eligible[rows] & ~np.isnan(amounts)
        scores = np.zeros(len(amounts), np.int64)
        if low >= high:
            scores[told] = MAX_SCORE
        else:
            scores[told] = np.trunc(((amounts[told] - low) / (high - low) - 0.5) * 2.0 * MAX_SCORE)
        return scores


class ResourceAllocatableCPU(_ResourceAllocatable):
    """See the module docstring."""

    name = "ResourceAllocatableCPU"
    resource = "cpu"


class ResourceAllocatableMemory(_ResourceAllocatable):
    """See the module docstring."""

    name = "ResourceAllocatableMemory"
    resource = "memory"
