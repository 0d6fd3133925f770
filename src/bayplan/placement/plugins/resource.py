"""ResourceAllocatableCPU and ResourceAllocatableMemory: clusters with more to give.

100 for the most among the clusters that passed the filters, -100 for the least, 100 for all if they are equal. A
cluster that does not say both what it can allocate and what it has gets 0. Reads: allocatable and capacity.
"""

from __future__ import annotations

import numpy as np

from bayplan.placement.compiling import Plan
from bayplan.placement.fleet import Fleet
from bayplan.placement.plugin import MAX_SCORE, ClusterScorer, Moment
from bayplan.placement.table import Numbers


class _ResourceAllocatable(ClusterScorer):
    resource: str
    is_kept = True

    def score(self, plan: Plan, fleet: Fleet, moment: Moment) -> Numbers:
        amounts = fleet.table.amounts[self.resource]
        scores = np.zeros(len(amounts), np.int64)
        told = moment.eligible & ~np.isnan(amounts)
        given = amounts[told]
        if not len(given):
            return scores
        low, high = given.min(), given.max()
        if low == high:
            scores[told] = MAX_SCORE
        else:
            scores[told] = np.trunc(((given - low) / (high - low) - 0.5) * 2.0 * MAX_SCORE).astype(np.int64)
        return scores

    def adjust(self, plan: Plan, fleet: Fleet, moment: Moment, scores: Numbers, rows: list[int]) -> bool:
        """A row between the least and the most, before and after, changes no other score."""
        for row in rows:
            if moment.eligible[row] or abs(scores[row]) >= MAX_SCORE:
                return False
            scores[row] = 0
        return True


class ResourceAllocatableCPU(_ResourceAllocatable):
    """See the module docstring."""

    name = "ResourceAllocatableCPU"
    resource = "cpu"


class ResourceAllocatableMemory(_ResourceAllocatable):
    """See the module docstring."""

    name = "ResourceAllocatableMemory"
    resource = "memory"
