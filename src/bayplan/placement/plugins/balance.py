"""Balance: clusters that fewer other placements have.

100 for a cluster nobody else has, falling to -100 for the one that most have. Other placements of all namespaces count,
the placement itself does not. Counts are read when the placement is looked at; they are no reason to look.
"""

from __future__ import annotations

import numpy as np

from bayplan.placement.compiling import Plan
from bayplan.placement.fleet import Fleet
from bayplan.placement.plugin import MAX_SCORE, ClusterScorer, Moment
from bayplan.placement.table import Numbers


class Balance(ClusterScorer):
    """See the module docstring."""

    name = "Balance"

    def score(self, plan: Plan, fleet: Fleet, moment: Moment) -> Numbers:
        counts = fleet.table.decisions - (moment.incumbents if moment.counted is None else moment.counted)
        most = int(counts.max(initial=0))
        if most <= 0:
            return np.full(len(counts), MAX_SCORE, np.int64)
        # The same steps as upstream takes in floating point, cut off toward zero; once for every count there can be.
        by_count: Numbers = 2 * np.trunc(MAX_SCORE * (0.5 - np.arange(most + 1) / most)).astype(np.int64)
        by_count[0] = MAX_SCORE
        return by_count[counts]
