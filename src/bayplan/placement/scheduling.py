"""One placement against the fleet: filter, score, choose.

`state` keeps one `Evaluation` for every placement and says which rows changed; `evaluate` then looks at those rows only
and at what follows from them. An evaluation of its own, made from nothing, gives the same answer: that is what a full
recompute is. Spread goes before score, score before name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayplan.placement import crossing, spreading
from bayplan.placement.compiling import Plan
from bayplan.placement.fleet import Fleet
from bayplan.placement.plugin import MAX_SCORE, ClusterScorer, Moment
from bayplan.placement.plugins.taint_toleration import verdict_of
from bayplan.placement.registry import FILTERS, TAINTS, scorer_of
from bayplan.placement.table import FOREVER, Mask, Numbers, grown

NO_ROWS: Numbers = np.zeros(0, np.int64)
_RANKS = 22
"""Bits for the order of names in a key; more clusters than this counts do not fit a table anyway."""
_AVOIDED = 1 << 24
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended, in numbers; two of these that are equal need no new status."""

    selected: int = 0
    unscheduled: int = 0
    ceiling: int | None = None
    is_unsettled: bool = False
    is_exact: bool = True
    warnings: tuple[str, ...] = ()


class Evaluation:
    """What a placement has, and everything it takes to decide again quickly."""

    def __init__(self, plan: Plan, fleet: Fleet) -> None:
        self.plan, self.fleet = plan, fleet
        size = fleet.table.capacity
        self.eligible: Mask = np.zeros(size, np.bool_)
        self.avoided: Mask = np.zeros(size, np.bool_)
        self.chosen: Mask = np.zeros(size, np.bool_)
        self.incumbents: Mask = self.chosen
        """What was chosen when the last decision was made; explanations show the scores of that moment."""
        self.totals = np.zeros(size, np.int32)
        self.sets: frozenset[str] = frozenset()
        self.outcome = Outcome()
        self.until = FOREVER
        self.moves = 0
        self._expiries: dict[int, float] = {}
        self._dirty: set[int] = set()
        self._is_new = True
        self._kept: dict[str, Numbers] = {}

    # -- what changed --

    def adopt(self, names: tuple[str, ...]) -> None:
        """Take over decisions that were made before; clusters that are gone are left out."""
        self._fit()
        self.chosen = self.chosen.copy()
        for name in names:
            row = self.fleet.table.row_of.get(name)
            if row is not None and not self.chosen[row]:
                self.chosen[row] = True
                self.fleet.table.decisions[row] += 1
        self._is_new = True

    def inherit(self, other: Evaluation) -> None:
        """Take over what the placement had before its spec changed."""
        self._fit()
        other._fit()
        self.chosen = other.chosen
        self.outcome = other.outcome

    def release(self) -> None:
        """Give everything back; the placement is gone."""
        self._fit()
        self.fleet.table.decisions[self.chosen] -= 1

    def forget(self, row: int) -> None:
        """The cluster in this row is gone, and its count with it."""
        if row < len(self.chosen):
            self.chosen = self.chosen.copy()
            self.chosen[row] = False

    def touch(self, rows: tuple[int, ...], fields: frozenset[str], now: float) -> bool:
        """Fields of these rows changed; whether that can make a difference."""
        self._fit()
        if self._is_new:
            return True
        moment = Moment(now, self.chosen, self.eligible, NO_ROWS)
        is_direct = bool(fields & self.plan.direct)
        for row in rows:
            before = bool(self.eligible[row]), bool(self.avoided[row]), self._expiries.get(row)
            self._filter_row(row, moment)
            passes = bool(self.eligible[row])
            if self.chosen[row]:
                matters = is_direct or not passes or before != (passes, self.avoided[row], self._expiries.get(row))
            elif passes:
                matters = is_direct or before != (passes, self.avoided[row], self._expiries.get(row))
            else:
                matters = before[0] and not self._is_spare(row)
            if matters:
                self._dirty.add(row)
        return bool(self._dirty)

    def _is_spare(self, row: int) -> bool:
        """Whether a cluster that is not chosen can go unnoticed: all are placed, and no other score hangs on it."""
        is_full = self.plan.number is not None and not self.outcome.unscheduled and not self.outcome.is_unsettled
        return is_full and all(abs(int(kept[row])) < MAX_SCORE for kept in self._kept.values() if row < len(kept))

    def touch_all(self) -> None:
        self._is_new = True

    # -- deciding --

    def evaluate(self, now: float, others: Numbers = NO_ROWS) -> bool:
        """Decide; whether the decision or its numbers are different now."""
        before, outcome = self.chosen, self.outcome
        self._fit()
        dirty = self._refresh(now)
        table = self.fleet.table
        for _ in range(_ROUNDS):
            moment = Moment(now, self.chosen, self.eligible, others)
            chosen, result = self._choose(moment, dirty)
            flipped = NO_ROWS if chosen is self.chosen else np.flatnonzero(chosen != self.chosen)
            if len(flipped):
                table.decisions += chosen
                table.decisions -= self.chosen
                self.chosen = chosen
            self.outcome = result
            dirty = self._recheck(flipped, moment)
            if dirty is None:
                break
        self.incumbents = moment.incumbents
        self.until = min(moment.until, min(self._expiries.values(), default=FOREVER))
        self._dirty.clear()
        self._is_new = False
        return outcome != self.outcome or not _same(before, self.chosen)

    def _fit(self) -> None:
        size = self.fleet.table.capacity
        if len(self.chosen) < size:
            self.eligible, self.avoided = grown(self.eligible, size), grown(self.avoided, size)
            self.chosen, self.totals = grown(self.chosen, size), grown(self.totals, size)

    def _refresh(self, now: float) -> Mask | None:
        """Filter again what may have changed; which rows those were, None for all."""
        moment = Moment(now, self.chosen, self.eligible, NO_ROWS)
        if self._is_new:
            bound = self.fleet.bound_sets(self.plan.namespace)
            self.sets = bound if self.plan.sets is None else bound & self.plan.sets
            self._expiries = moment.expiries
            mask = self.fleet.members(self.sets)
            for each in FILTERS:
                mask = each.filter(self.plan, self.fleet, mask, moment)
            self.eligible = mask
            self.avoided = TAINTS.avoided(self.plan, self.fleet, mask, now)
            return None
        rows = self._dirty | {row for row, until in self._expiries.items() if until <= now}
        dirty = np.zeros(len(self.eligible), np.bool_)
        for row in rows:
            self._filter_row(row, moment)
            dirty[row] = True
        return dirty

    def _filter_row(self, row: int, moment: Moment) -> None:
        self._expiries.pop(row, None)
        passes = self.fleet.is_member(row, self.sets) and all(
            each.filter_row(self.plan, self.fleet, row, moment) for each in FILTERS
        )
        if row in moment.expiries:
            self._expiries[row] = moment.expiries[row]
        self.eligible[row] = passes
        self.avoided[row] = passes and verdict_of(self.plan, self.fleet, row, moment.now).is_avoided

    def _recheck(self, flipped: Numbers, moment: Moment) -> Mask | None:
        """Clusters that may be chosen only while they are: filter again those that just came or went."""
        tainted = flipped[self.fleet.table.taint_ids[flipped] != 0]
        if not len(tainted):
            return None
        dirty = np.zeros(len(self.eligible), np.bool_)
        again = Moment(moment.now, self.chosen, self.eligible, moment.others)
        for row in tainted.tolist():
            passed = bool(self.eligible[row])
            self._filter_row(row, again)
            dirty[row] = passed != self.eligible[row]
        return dirty if dirty.any() else None

    def _total(self, moment: Moment, rows: list[int] | None) -> Numbers:
        """The weighted sum of all scores; `rows` changed since the last time, None if all may have."""
        total = np.zeros(len(self.eligible), np.int64)
        for coordinate, weight in self.plan.weights:
            scorer = scorer_of(coordinate)
            scores = None if rows is None else self._adjusted(scorer, coordinate.name, moment, rows)
            if scores is None:
                scores = scorer.score(self.plan, self.fleet, moment)
                if scorer.is_kept:
                    self._kept[coordinate.name] = scores
            total += scores if weight == 1 else scores * weight
        return total

    def _adjusted(self, scorer: ClusterScorer, name: str, moment: Moment, rows: list[int]) -> Numbers | None:
        """Earlier scores, brought up to date; None if that is not possible."""
        kept = self._kept.get(name)
        if kept is None or len(kept) < len(self.eligible):
            return None
        return kept if scorer.adjust(self.plan, self.fleet, moment, kept, rows) else None

    def keys(self, total: Numbers) -> Numbers:
        """The order of clusters: not avoided, then score, then name."""
        keys = total - self.avoided * _AVOIDED if self.avoided.any() else total
        return (keys << _RANKS) - self.fleet.table.rank

    def _choose(self, moment: Moment, dirty: Mask | None) -> tuple[Mask, Outcome]:
        plan = self.plan
        total = self._total(moment, None if dirty is None else np.flatnonzero(dirty).tolist())
        if dirty is not None:
            dirty |= total != self.totals
        self.totals = total.astype(np.int32)
        keys = self.keys(total)
        count = int(np.count_nonzero(self.eligible))
        ceiling: int | None = None
        unsettled, exact = False, True
        self.moves = 0
        if plan.levels:
            result = self._spread(keys, moment, dirty)
            chosen, ceiling, exact = result.chosen, result.ceiling, result.is_exact
            unsettled, self.moves = result.is_unsettled, result.moves
        else:
            chosen = _best(self.eligible, keys, count, plan.number)
        selected = int(np.count_nonzero(chosen))
        missing = 0 if plan.number is None else plan.number - selected
        if not missing:
            # Nobody asks how many more there could have been; it is worked out where it is shown.
            ceiling = None
        return chosen, Outcome(selected, missing, ceiling, unsettled, exact, tuple(moment.warnings))

    def _spread(self, keys: Numbers, moment: Moment, dirty: Mask | None) -> spreading.Spread:
        plan = self.plan
        topology = self.fleet.table.topology(tuple(level.key for level in plan.levels))
        who = spreading.Candidates(self.eligible, self.chosen & self.eligible, keys, moment.others)
        if plan.is_flat:
            return crossing.spread(plan.levels, topology, who, plan.number)
        return spreading.spread(plan.levels, topology, who, plan.number, plan.max_moves, dirty)

    def names(self) -> tuple[str, ...]:
        """The chosen clusters, by name."""
        rows = np.flatnonzero(self.chosen).tolist()
        return tuple(sorted(self.fleet.table.name(row) for row in rows))


def _best(eligible: Mask, keys: Numbers, count: int, number: int | None) -> Mask:
    if number is None or number >= count:
        return eligible.copy()
    chosen = np.zeros(len(eligible), np.bool_)
    if number > 0:
        rows = np.flatnonzero(eligible)
        chosen[rows[np.argpartition(-keys[rows], number - 1)[:number]]] = True
    return chosen


def _same(before: Mask, after: Mask) -> bool:
    if before is after:
        return True
    size = len(before)
    return bool(np.array_equal(before, after[:size])) and not after[size:].any()
