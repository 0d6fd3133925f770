"""FilterCache: what the filters say, asked once for all placements that filter alike.

`evaluation` asks it. Placements with the same sets, predicates, tolerations and hard spread keys get the same answers,
and on a hub many placements are alike. Answers hold until the fleet changes.
"""

from __future__ import annotations

import numpy as np

from bayplan.placement.fleet import Fleet
from bayplan.placement.plan import Likeness, Plan
from bayplan.placement.plugin import DROPPED, PASSED, Moment, Verdict
from bayplan.placement.registry import TAINTS, filters_of
from bayplan.placement.table import Mask, Numbers

_NO_ROWS: Numbers = np.zeros(0, np.int64)


class FilterCache:
    """The filters' answers, by what placements filter by."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._generation = -1
        self._now = 0.0
        self._masks: dict[tuple[Likeness, frozenset[str]], Mask] = {}
        self._verdicts: dict[tuple[Likeness, frozenset[str], int], Verdict] = {}

    def verdict(self, plan: Plan, sets: frozenset[str], row: int, now: float) -> Verdict:
        """What all filters together say of a cluster."""
        if self._generation != self._fleet.generation or self._now != now:
            self._forget(now)
        key = (plan.likeness, sets, row)
        known = self._verdicts.get(key)
        if known is None:
            known = self._verdicts[key] = self._judge(plan, sets, row, now)
        return known

    def passed(self, plan: Plan, sets: frozenset[str], now: float) -> tuple[Mask, list[tuple[int, Verdict]]]:
        """Clusters that pass everything but taints, and those of them that have some; both are only to be read."""
        if self._generation != self._fleet.generation or self._now != now:
            self._forget(now)
        key = (plan.likeness, sets)
        mask = self._masks.get(key)
        if mask is None:
            mask = self._fleet.members(sets)
            moment = Moment(now, mask, mask, _NO_ROWS)
            for each in filters_of(plan):
                if each is not TAINTS:
                    mask = each.filter(plan, self._fleet, mask, moment)
            self._masks[key] = mask
        tainted = [
            (row, self.verdict(plan, sets, row, now))
            for row in np.flatnonzero(mask & (self._fleet.table.taint_ids != 0)).tolist()
        ]
        return mask, tainted

    def _judge(self, plan: Plan, sets: frozenset[str], row: int, now: float) -> Verdict:
        if not self._fleet.is_member(row, sets):
            return DROPPED
        result = PASSED
        for each in filters_of(plan):
            verdict = each.filter_row(plan, self._fleet, row, now)
            if verdict is DROPPED:
                return DROPPED
            if verdict is not PASSED:
                result = verdict
        return result

    def _forget(self, now: float) -> None:
        self._generation, self._now = self._fleet.generation, now
        self._masks.clear()
        self._verdicts.clear()
