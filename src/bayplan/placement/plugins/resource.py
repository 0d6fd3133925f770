"""ResourceAllocatableCPU and ResourceAllocatableMemory: clusters with more to give.

100 for the most among the clusters that passed the filters, -100 for the least, 100 for all if they are equal. A
cluster that does not say both what it can allocate and what it has gets 0. Reads: allocatable and capacity.
"""

from __future__ import annotations

import numpy as np

from bayplan.placement.fleet import Fleet
from bayplan.placement.plan import Plan
from bayplan.placement.plugin import ALL, MAX_SCORE, ClusterScorer, Earlier, Moment, Rows
from bayplan.placement.table import Amounts, Numbers, SmallNumbers

_NOBODY = (np.inf, -np.inf)


class _ResourceAllocatable(ClusterScorer):
    resource: str
    is_kept = True

    def scale(self, plan: Plan, fleet: Fleet, moment: Moment, earlier: Earlier | None = None) -> tuple[float, float]:
        """The least and the most."""
        amounts = fleet.table.amounts[self.resource]
        if earlier is not None and isinstance(earlier.scale, tuple) and earlier.scores is not None:
            low, high = earlier.scale
            if all(_is_within(row, amounts, moment, earlier.scores, low, high) for row in earlier.changed):
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


def _is_within(row: int, amounts: Amounts, moment: Moment, scores: SmallNumbers, low: float, high: float) -> bool:
    """Whether the least and the most are the same without what a cluster had before and with what it has now."""
    if moment.eligible[row] and not low <= amounts[row] <= high and not np.isnan(amounts[row]):
        return False
    if -MAX_SCORE < scores[row] < MAX_SCORE:
        return True
    # It was the least or the most; another one may be just the same.
    bounds = (low, high) if low == high else (low,) if scores[row] < 0 else (high,)
    return all(bool(((amounts == bound) & moment.eligible).any()) for bound in bounds)


class ResourceAllocatableCPU(_ResourceAllocatable):
    """See the module docstring."""

    name = "ResourceAllocatableCPU"
    resource = "cpu"


class ResourceAllocatableMemory(_ResourceAllocatable):
    """See the module docstring."""

    name = "ResourceAllocatableMemory"
    resource = "memory"
