"""AddOn scores: the value an add-on publishes for a cluster in an AddOnPlacementScore.

0 where the object or the score is missing, and from `validUntil` on; the placement is looked at again at that time.
Reads: the scores of the resource it names.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayplan.placement.fleet import Fleet
from bayplan.placement.plan import Plan
from bayplan.placement.plugin import ALL, ClusterScorer, Earlier, Moment, Rows
from bayplan.placement.table import FOREVER, Mask, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class _Expired:
    """No two are equal: what ends in time is worked out again each time."""

    rows: Mask


class AddOnScore(ClusterScorer):
    """One score of one add-on."""

    name = "AddOn"

    def __init__(self, resource: str, score: str) -> None:
        self.resource, self.score_name = resource, score

    def scale(self, plan: Plan, fleet: Fleet, moment: Moment, earlier: Earlier | None = None) -> _Expired | None:
        """Scores that no longer hold; None, and so the same as before, where all hold for ever."""
        column = fleet.table.score_column(self.resource, self.score_name)
        if not column.timed:
            return None
        expired = moment.eligible & (column.until <= moment.now)
        ends = column.until[moment.eligible & ~expired]
        if len(ends):
            moment.until = min(moment.until, float(ends.min()))
        if expired.any() and (moment.until == FOREVER or len(moment.warnings) < 1):
            count = int(expired.sum())
            moment.warnings.append(f"AddOnPlacementScore {self.resource}: expired for {count} clusters")
        return _Expired(expired)

    def score(self, plan: Plan, fleet: Fleet, moment: Moment, scale: object, rows: Rows = ALL) -> Numbers:
        values: Numbers = fleet.table.score_column(self.resource, self.score_name).values[rows]
        return np.where(scale.rows[rows], 0, values) if isinstance(scale, _Expired) else values
