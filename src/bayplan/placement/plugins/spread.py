"""Spread: as a filter, clusters that have the keys of all hard constraints; as a prioritizer, the emptier domain first.

The even distribution itself is made by `spreading` after scoring. The prioritizer is for placements that list it: 100
in the domain of the first key with the fewest chosen clusters, -100 in the one with the most.
"""

from __future__ import annotations

import numpy as np

from bayplan.placement.compiling import Plan
from bayplan.placement.fleet import Fleet
from bayplan.placement.plugin import MAX_SCORE, ClusterFilter, ClusterScorer, Moment
from bayplan.placement.table import ABSENT, Mask, Numbers


class SpreadKeys(ClusterFilter):
    """Keeps clusters without a hard key out."""

    name = "Spread"

    def filter(self, plan: Plan, fleet: Fleet, mask: Mask, moment: Moment) -> Mask:
        for level in plan.levels:
            if level.is_hard:
                mask = mask & (fleet.table.column(level.key).ids != ABSENT)
        return mask

    def filter_row(self, plan: Plan, fleet: Fleet, row: int, moment: Moment) -> bool:
        return all(fleet.table.column(level.key).ids[row] != ABSENT for level in plan.levels if level.is_hard)


class Spread(ClusterScorer):
    """Prefers domains with few chosen clusters."""

    name = "Spread"

    def score(self, plan: Plan, fleet: Fleet, moment: Moment) -> Numbers:
        scores = np.zeros(fleet.table.capacity, np.int64)
        if not plan.levels:
            return scores
        ids = fleet.table.column(plan.levels[0].key).ids
        size = int(ids.max()) + 1
        counts = np.bincount(ids[np.flatnonzero(moment.incumbents)], minlength=size)
        if len(moment.others):
            counts = counts + np.bincount(ids[moment.others], minlength=size)
        present = np.unique(ids[moment.eligible & (ids != ABSENT)])
        if not len(present):
            return scores
        low, high = int(counts[present].min()), int(counts[present].max())
        if high > low:
            scores = MAX_SCORE - (2 * MAX_SCORE * (counts[ids] - low)) // (high - low)
        scores[ids == ABSENT] = -MAX_SCORE
        return scores
