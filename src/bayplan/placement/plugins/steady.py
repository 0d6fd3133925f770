"""Steady: 100 for clusters the placement has already, 0 for the others."""

from __future__ import annotations

import numpy as np

from bayplan.placement.compiling import Plan
from bayplan.placement.fleet import Fleet
from bayplan.placement.plugin import MAX_SCORE, ClusterScorer, Moment
from bayplan.placement.table import Numbers


class Steady(ClusterScorer):
    """See the module docstring."""

    name = "Steady"

    def score(self, plan: Plan, fleet: Fleet, moment: Moment) -> Numbers:
        return moment.incumbents.astype(np.int64) * MAX_SCORE
