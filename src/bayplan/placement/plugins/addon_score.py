"""AddOn scores: the value an add-on publishes for a cluster in an AddOnPlacementScore.

0 where the object or the score is missing, and from `validUntil` on; the placement is looked at again at that time.
Reads: the scores of the resource it names.
"""

from __future__ import annotations

import numpy as np

from bayplan.placement.compiling import Plan
from bayplan.placement.fleet import Fleet
from bayplan.placement.plugin import ClusterScorer, Moment
from bayplan.placement.table import FOREVER, Numbers


class AddOnScore(ClusterScorer):
    """One score of one add-on."""

    name = "AddOn"

    def __init__(self, resource: str, score: str) -> None:
        self.resource, self.score_name = resource, score

    def score(self, plan: Plan, fleet: Fleet, moment: Moment) -> Numbers:
        column = fleet.table.score_column(self.resource, self.score_name)
        expired = moment.eligible & (column.until <= moment.now)
        ends = column.until[moment.eligible & ~expired]
        if len(ends):
            moment.until = min(moment.until, float(ends.min()))
        if not expired.any():
            return column.values
        if moment.until == FOREVER or len(moment.warnings) < 1:
            count = int(expired.sum())
            moment.warnings.append(f"AddOnPlacementScore {self.resource}: expired for {count} clusters")
        return np.where(expired, 0, column.values)
