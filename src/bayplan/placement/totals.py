"""Totals: the weighted sum of a placement's scores, kept from one decision to the next.

`evaluation` has one for every placement. Where nothing changed that all scores hang on (the largest amount, the highest
count), only the rows that changed are scored again.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from bayplan.placement.fleet import Fleet
from bayplan.placement.plan import Plan
from bayplan.placement.plugin import ALL, MAX_SCORE, ClusterScorer, Earlier, Moment, Rows
from bayplan.placement.registry import scorer_of
from bayplan.placement.table import Ids, Mask, Numbers, SmallNumbers, grown

_RANKS = 22
"""Bits for the order of names in a key; more clusters than this counts do not fit a table anyway."""
_AVOIDED = 1 << 24
_MANY = 8
"""Where more than one row in so many changed, scoring all is quicker."""


class Totals:
    """The totals of one placement."""

    def __init__(self, plan: Plan, fleet: Fleet) -> None:
        self._fleet, self._plan = fleet, plan
        self._scorers: list[tuple[ClusterScorer, str, int]] = [
            (scorer_of(plan, coordinate), coordinate.name, weight) for coordinate, weight in plan.weights
        ]
        self.values: Ids = np.zeros(fleet.table.capacity, np.int32)
        self._scales: dict[str, object] = {}
        self._kept: dict[str, SmallNumbers] = {}
        self._mark = 0

    def fit(self, size: int) -> None:
        self.values = grown(self.values, size)
        self._kept = {name: grown(each, size) for name, each in self._kept.items()}

    def is_extreme(self, row: int) -> bool:
        """Whether other scores may hang on this row."""
        return any(not -MAX_SCORE < kept[row] < MAX_SCORE for kept in self._kept.values())

    def refresh(self, moment: Moment, avoided: Collection[int], changed: Collection[int] | None) -> Numbers:
        """Score again; `changed` are rows of which more than counts changed, None if all may have.

        The rows that may now win or lose a place.
        """
        recounted = self._fleet.table.recounted(self._mark)
        self._mark = self._fleet.table.recounts
        if changed is not None and recounted is not None and len(recounted) * _MANY <= len(self.values):
            rows = np.array([*{*changed, *recounted}], np.int64)
            some = self._score_some(moment, [*changed], rows)
            if some is not None:
                if avoided:
                    some[np.isin(rows, [*avoided])] -= _AVOIDED
                turned = _turned(moment, some, self.values[rows], rows)
                self.values[rows] = some
                return rows[turned]
        total = self._score_all(moment)
        if avoided:
            total[[*avoided]] -= _AVOIDED
        turned = _turned(moment, total, self.values, ALL)
        self.values = total.astype(np.int32)
        return turned.nonzero()[0]

    def _score_all(self, moment: Moment) -> Numbers:
        total = np.zeros(len(self.values), np.int64)
        for scorer, name, weight in self._scorers:
            scale = self._scales[name] = scorer.scale(self._plan, self._fleet, moment)
            scores = scorer.score(self._plan, self._fleet, moment, scale)
            if scorer.is_kept:
                self._kept[name] = scores.astype(np.int8)
            total += scores if weight == 1 else scores * weight
        return total

    def _score_some(self, moment: Moment, changed: list[int], rows: Numbers) -> Numbers | None:
        """The totals of these rows; None if those of others may be different, too."""
        total = np.zeros(len(rows), np.int64)
        for scorer, name, weight in self._scorers:
            kept, scale = self._kept.get(name), self._scales.get(name)
            if scorer.scale(self._plan, self._fleet, moment, Earlier(scale, kept, changed, rows)) != scale:
                return None
            if kept is None:
                scores = scorer.score(self._plan, self._fleet, moment, scale, rows)
            else:
                again = np.array([row for row in changed if moment.eligible[row]], np.int64)
                kept[changed] = 0
                if len(again):
                    kept[again] = scorer.score(self._plan, self._fleet, moment, scale, again)
                scores = kept[rows].astype(np.int64)
            total += scores if weight == 1 else scores * weight
        return total

    def keys(self, rows: Numbers) -> Numbers:
        """The order of some clusters: not avoided, then score, then name."""
        return (self.values[rows].astype(np.int64) << _RANKS) - self._fleet.table.rank[rows]


def _turned(moment: Moment, now: Numbers, before: Ids, rows: Rows) -> Mask:
    """Chosen clusters that fell and others that rose; nobody else's change makes a difference to who is best."""
    risen = np.where(moment.incumbents[rows], before - now, now - before) > 0
    turned: Mask = risen & moment.eligible[rows]
    return turned
