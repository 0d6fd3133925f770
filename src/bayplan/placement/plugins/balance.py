"""Balance: clusters that fewer other placements have.

100 for a cluster nobody else has, falling to -100 for the one that most have. Other placements of all namespaces count,
the placement itself does not. Counts are read when the placement is looked at; they are no reason to look.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bayplan.placement.fleet import Fleet
from bayplan.placement.plan import Plan
from bayplan.placement.plugin import ALL, MAX_SCORE, ClusterScorer, Earlier, Moment, Rows
from bayplan.placement.table import Numbers


class Balance(ClusterScorer):
    """Prefers clusters that fewer other placements have."""

    name = "Balance"

    def scale(self, plan: Plan, fleet: Fleet, moment: Moment, earlier: Earlier | None = None) -> tuple[int, int]:
        """How many others the cluster has that most have, and where that is."""
        if earlier is not None and isinstance(earlier.scale, tuple):
            most, row = earlier.scale
            own = moment.incumbents if moment.counted is None else moment.counted
            is_there = fleet.table.decisions[row] - own[row] == most
            if is_there and _counts(fleet, moment, earlier.recounted).max(initial=0) <= most:
                return most, row
        counts = _counts(fleet, moment, ALL)
        row = int(counts.argmax())
        return max(0, int(counts[row])), row

    def score(self, plan: Plan, fleet: Fleet, moment: Moment, scale: object, rows: Rows = ALL) -> Numbers:
        assert isinstance(scale, tuple)
        scores: Numbers = _by_count(scale[0])[_counts(fleet, moment, rows)]
        return scores


def _counts(fleet: Fleet, moment: Moment, rows: Rows) -> Numbers:
    own = moment.incumbents if moment.counted is None else moment.counted
    counts: Numbers = fleet.table.decisions[rows] - own[rows]
    return counts


@lru_cache(maxsize=64)
def _by_count(most: int) -> Numbers:
    """The score for every count there can be: the same steps as upstream takes in floating point, cut off to zero."""
    scores: Numbers = np.full(most + 1, MAX_SCORE, np.int64)
    if most:
        scores[1:] = 2 * np.trunc(MAX_SCORE * (0.5 - np.arange(1, most + 1) / most))
    return scores
