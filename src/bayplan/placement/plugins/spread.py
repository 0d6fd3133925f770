"""Spread: as a filter, clusters that have the keys of all hard constraints; as a prioritizer, the emptier domain first.

The even distribution itself is made by `nested_spread` after scoring. The prioritizer is for placements that list
it: 100 in the domain of the first key with the fewest chosen clusters, -100 in the one with the most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayplan.placement.fleet import Fleet
from bayplan.placement.plan import Plan
from bayplan.placement.plugin import (
    ALL,
    DROPPED,
    MAX_SCORE,
    PASSED,
    ClusterFilter,
    ClusterScorer,
    Earlier,
    Moment,
    Rows,
    Verdict,
)
from bayplan.placement.table import ABSENT, Ids, Mask, Numbers


class SpreadKeys(ClusterFilter):
    """Keeps clusters without a hard key out."""

    name = "Spread"

    def filter(self, plan: Plan, fleet: Fleet, mask: Mask, moment: Moment) -> Mask:
        for level in plan.levels:
            if level.is_hard:
                mask = mask & (fleet.table.column(level.key).ids != ABSENT)
        return mask

    def filter_row(self, plan: Plan, fleet: Fleet, row: int, now: float) -> Verdict:
        for level in plan.levels:
            if level.is_hard and fleet.table.column(level.key).ids[row] == ABSENT:
                return DROPPED
        return PASSED


@dataclass(frozen=True, slots=True, eq=False)
class _Domains:
    """The score of every domain; no two are equal, so everything is worked out each time."""

    ids: Ids
    scores: Numbers


class Spread(ClusterScorer):
    """Prefers domains with few chosen clusters."""

    name = "Spread"

    def scale(self, plan: Plan, fleet: Fleet, moment: Moment, earlier: Earlier | None = None) -> object:
        if not plan.levels:
            return None
        ids = fleet.table.column(plan.levels[0].key).ids
        size = int(ids.max()) + 1
        counts = np.bincount(ids[np.flatnonzero(moment.incumbents)], minlength=size)
        if len(moment.others):
            counts = counts + np.bincount(ids[moment.others], minlength=size)
        present = np.unique(ids[moment.eligible & (ids != ABSENT)])
        if not len(present):
            return None
        low, high = int(counts[present].min()), int(counts[present].max())
        scores = np.zeros(size, np.int64)
        if high > low:
            scores = MAX_SCORE - (2 * MAX_SCORE * (counts - low)) // (high - low)
        scores[ABSENT] = -MAX_SCORE
        return _Domains(ids, scores)

    def score(self, plan: Plan, fleet: Fleet, moment: Moment, scale: object, rows: Rows = ALL) -> Numbers:
        if isinstance(scale, _Domains):
            scores: Numbers = scale.scores[scale.ids[rows]]
            return scores
        return np.zeros(len(moment.eligible[rows]), np.int64)
