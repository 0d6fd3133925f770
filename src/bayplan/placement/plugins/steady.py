"""Steady: 100 for clusters the placement has already, 0 for the others."""

from __future__ import annotations

from bayplan.placement.fleet import Fleet
from bayplan.placement.plan import Plan
from bayplan.placement.plugin import ALL, MAX_SCORE, ClusterScorer, Moment, Rows
from bayplan.placement.table import Numbers


class Steady(ClusterScorer):
    """Prefers clusters that the placement has already."""

    name = "Steady"

    def score(self, plan: Plan, fleet: Fleet, moment: Moment, scale: object, rows: Rows = ALL) -> Numbers:
        scores: Numbers = moment.incumbents[rows] * MAX_SCORE
        return scores
