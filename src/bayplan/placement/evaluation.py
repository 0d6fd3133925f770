"""One placement against the fleet: filter, score, choose.

`state` keeps one `Evaluation` for every placement and says which rows changed; `evaluate` then looks at those rows only
and at what follows from them. An evaluation of its own, made from nothing, gives the same answer: that is what a full
recompute is. Spread goes before score, score before name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayplan.placement import flat_spread, nested_spread
from bayplan.placement.evenness import Uneven
from bayplan.placement.filter_cache import FilterCache
from bayplan.placement.fleet import Fleet
from bayplan.placement.own_plugins import ClusterPluginError
from bayplan.placement.plan import Plan
from bayplan.placement.plugin import Moment, Verdict
from bayplan.placement.table import FOREVER, Mask, Numbers, grown
from bayplan.placement.totals import Totals

NO_ROWS: Numbers = np.zeros(0, np.int64)
_ROUNDS = 8
RETRY_S = 60.0
"""How long after a plugin failed it is asked again, if nothing else happens."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended, in numbers; two of these that are equal need no new status."""

    selected: int = 0
    unscheduled: int = 0
    ceiling: int | None = None
    is_unsettled: bool = False
    is_exact: bool = True
    warnings: tuple[str, ...] = ()
    held_back: int = 0
    """How many a placement that wants all of them could not have."""
    uneven: Uneven = ()


class Evaluation:
    """What a placement has, and everything it takes to decide again quickly."""

    def __init__(self, plan: Plan, fleet: Fleet, sieve: FilterCache | None = None) -> None:
        self.plan, self.fleet = plan, fleet
        self._sieve = sieve or FilterCache(fleet)
        size = fleet.table.capacity
        self.eligible: Mask = np.zeros(size, np.bool_)
        self.avoided: set[int] = set()
        """Rows to take last."""
        self.chosen: Mask = np.zeros(size, np.bool_)
        self.incumbents: Mask = self.chosen
        """What was chosen when the last decision was made; explanations show the scores of that moment."""
        self.others: Numbers = NO_ROWS
        """What the other placements of the group had then."""
        self.sets: frozenset[str] = frozenset()
        self.outcome = Outcome()
        self.until = FOREVER
        self.failure = ""
        """What a plugin failed with when the placement was last decided."""
        self._stale_at = FOREVER
        """When what plugins said no longer holds."""
        self.moves = 0
        self.flipped: Numbers = NO_ROWS
        """Rows that the last decision brought in or out."""
        self._totals = Totals(plan, fleet)
        self._tree: nested_spread.Tree | None = None
        self._expiries: dict[int, float] = {}
        self._dirty: set[int] = set()
        self._turned: dict[int, bool] = {}
        """Rows that the filters let in or out since the tree counted them, and whether they were in then."""
        self._is_new = True

    # -- what changed --

    def adopt(self, names: tuple[str, ...]) -> None:
        """Take over decisions that were made before; clusters that are gone are left out."""
        self._fit()
        self._is_new = True
        found = {self.fleet.table.row_of.get(name) for name in names}
        rows = [row for row in found if row is not None and not self.chosen[row]]
        if rows:
            self.chosen = self.chosen.copy()
            self.chosen[rows] = True
            self.fleet.table.recount(np.array(rows, np.int64), np.ones(len(rows), np.bool_))

    def inherit(self, other: Evaluation) -> None:
        """Take over what the placement had before its spec changed."""
        self._fit()
        other._fit()
        self.chosen = other.chosen
        self.outcome = other.outcome

    def release(self) -> None:
        """Give everything back; the placement is gone."""
        self._fit()
        rows = np.flatnonzero(self.chosen)
        self.fleet.table.recount(rows, np.zeros(len(rows), np.bool_))

    def forget(self, row: int) -> None:
        """The cluster in this row is gone, and its count with it."""
        if row < len(self.chosen):
            self.chosen = self.chosen.copy()
            self.chosen[row] = False

    def touch(self, rows: tuple[int, ...], fields: frozenset[str], now: float) -> bool:
        """Fields of these rows changed; whether that can make a difference."""
        if self._is_new:
            return True
        self._fit()
        if not self.plan.moving.isdisjoint(fields):
            self._tree = None
        is_direct = not self.plan.direct.isdisjoint(fields)
        # Asked once for every placement and event, so the loop stands here and not in a function of its own.
        try:
            for row in rows:
                was = bool(self.eligible[row])
                is_other = self._filter_row(row, now)
                if self.eligible[row]:
                    matters = is_direct or is_other
                else:
                    matters = bool(self.chosen[row]) or (was and not self._is_spare(row))
                if matters:
                    self._dirty.add(row)
        except ClusterPluginError:
            self.touch_all()  # told when the placement is decided
            return True
        return bool(self._dirty)

    def _is_spare(self, row: int) -> bool:
        """Whether a cluster that is not chosen can go unnoticed: all are placed, and no other score hangs on it."""
        is_full = self.plan.number is not None and not self.outcome.unscheduled and not self.outcome.is_unsettled
        return is_full and not self._totals.is_extreme(row)

    def touch_all(self) -> None:
        self._is_new = True

    # -- deciding --

    def evaluate(self, now: float, others: Numbers = NO_ROWS) -> bool:
        """Decide; whether the decision or its numbers are different now."""
        try:
            is_other = self._decided(now, others)
        except ClusterPluginError as error:
            # The last good decision stays; the condition says why.
            is_other = self.failure != str(error)
            self.failure = str(error)
            self.touch_all()
            self.until = now + RETRY_S
            return is_other
        is_other |= bool(self.failure)
        self.failure = ""
        return is_other

    def _decided(self, now: float, others: Numbers) -> bool:
        if now >= self._stale_at:
            self.touch_all()
        if self._is_new:
            self._stale_at = now + self.plan.fresh_for
        outcome = self.outcome
        self._fit()
        before = self.chosen
        dirty = self._refresh(now)
        for tried in range(_ROUNDS):
            moment = Moment(now, self.chosen, self.eligible, others)
            chosen, self.outcome = self._choose(moment, dirty)
            flipped = NO_ROWS if chosen is self.chosen else (chosen != self.chosen).nonzero()[0]
            if len(flipped):
                self.fleet.table.recount(flipped, chosen[flipped])
                self.chosen = chosen
            dirty = self._recheck(flipped, now)
            if not dirty:
                self.flipped = flipped if not tried else (before != self.chosen).nonzero()[0]
                break
        else:
            self.flipped = (before != self.chosen).nonzero()[0]
        self.incumbents, self.others = moment.incumbents, others
        self.until = min(moment.until, self._stale_at, min(self._expiries.values(), default=FOREVER))
        self._dirty.clear()
        self._is_new = False
        return len(self.flipped) > 0 or outcome != self.outcome

    def _fit(self) -> None:
        size = self.fleet.table.capacity
        if len(self.chosen) < size:
            self.eligible, self.chosen = grown(self.eligible, size), grown(self.chosen, size)
            self._totals.fit(size)

    def _refresh(self, now: float) -> set[int] | None:
        """Filter again what may have changed; which rows those were, None for all."""
        if self._is_new:
            self._filter_all(now)
            return None
        expired = {row for row, until in self._expiries.items() if until <= now}
        for row in expired:
            self._filter_row(row, now)
        return self._dirty | expired

    def _filter_all(self, now: float) -> None:
        bound = self.fleet.bound_sets(self.plan.namespace)
        self.sets = bound if self.plan.sets is None else bound & self.plan.sets
        self._tree = None
        self._turned.clear()
        passed, tainted = self._sieve.passed(self.plan, self.sets, now)
        self.eligible = passed.copy()
        self.avoided, self._expiries = set(), {}
        for row, verdict in tainted:
            self.eligible[row] = passes = self._passes(row, verdict)
            self._avoid(row, passes and verdict.is_avoided)
            if verdict.until != FOREVER:
                self._expiries[row] = verdict.until

    def _filter_row(self, row: int, now: float) -> bool:
        """Ask the filters; whether they say something else than before."""
        verdict = self._sieve.verdict(self.plan, self.sets, row, now)
        was, passes = bool(self.eligible[row]), self._passes(row, verdict)
        is_other = was != passes
        if is_other:
            self.eligible[row] = passes
            self._turned.setdefault(row, was)
        # Few placements have any of these.
        if verdict.is_avoided or self.avoided:
            before = row in self.avoided
            self._avoid(row, passes and verdict.is_avoided)
            is_other |= before != (row in self.avoided)
        if verdict.until != FOREVER or self._expiries:
            expiry = self._expiries.pop(row, FOREVER)
            if verdict.until != FOREVER:
                self._expiries[row] = verdict.until
            is_other |= expiry != verdict.until
        return is_other

    def _passes(self, row: int, verdict: Verdict) -> bool:
        return verdict.passes or (verdict.passes_if_chosen and bool(self.chosen[row]))

    def _avoid(self, row: int, is_avoided: bool) -> None:
        (self.avoided.add if is_avoided else self.avoided.discard)(row)

    def _recheck(self, flipped: Numbers, now: float) -> set[int]:
        """Clusters that may be chosen only while they are: filter again those that just came or went."""
        changed: set[int] = set()
        if not len(flipped):
            return changed
        tainted = flipped[self.fleet.table.taint_ids[flipped] != 0]
        for row in tainted.tolist():
            passed = bool(self.eligible[row])
            self._filter_row(row, now)
            if passed != self.eligible[row]:
                changed.add(row)
        return changed

    def _choose(self, moment: Moment, dirty: set[int] | None) -> tuple[Mask, Outcome]:
        plan = self.plan
        turned = self._totals.refresh(moment, self.avoided, dirty)
        ceiling: int | None = None
        unsettled, exact = False, True
        uneven: Uneven = ()
        self.moves = 0
        if plan.levels:
            again = None if dirty is None else np.concatenate((turned, np.array([*dirty], np.int64)))
            result = self._spread(moment, again)
            chosen, ceiling, exact = result.chosen, result.ceiling, result.is_exact
            unsettled, self.moves, uneven = result.is_unsettled, result.moves, result.uneven
        else:
            self._turned.clear()
            chosen = self._best()
        selected = int(np.count_nonzero(chosen))
        missing = 0 if plan.number is None else plan.number - selected
        if not missing:
            # Nobody asks how many more there could have been; it is worked out where it is shown.
            ceiling = None
        held_back = int(np.count_nonzero(self.eligible)) - selected if plan.number is None else 0
        warnings = tuple(moment.warnings)
        return chosen, Outcome(selected, missing, ceiling, unsettled, exact, warnings, held_back, uneven)

    def _spread(self, moment: Moment, dirty: Numbers | None) -> nested_spread.Spread:
        plan = self.plan
        topology = self.fleet.table.topology(plan.topology_keys)
        who = self.candidates(moment.others)
        if plan.is_flat:
            self._turned.clear()
            return flat_spread.spread(plan.levels, topology, who, plan.number)
        if self._tree is None or plan.group is not None or not self._tree.is_current:
            self._tree = nested_spread.Tree(plan.levels, topology, who)
        else:
            for row, was in self._turned.items():
                if was != self.eligible[row]:
                    self._tree.shift(row, -1 if was else 1, bool(self.chosen[row]))
        self._turned.clear()
        return self._tree.spread(who, plan.number, plan.max_moves, dirty)

    def candidates(self, others: Numbers) -> nested_spread.Candidates:
        """The clusters as spreading sees them."""
        return nested_spread.Candidates(self.eligible, self.chosen & self.eligible, self._totals.keys, others)

    def _best(self) -> Mask:
        number, rows = self.plan.number, np.flatnonzero(self.eligible)
        if number is None or number >= len(rows):
            return self.eligible.copy()
        chosen = np.zeros(len(self.eligible), np.bool_)
        if number > 0:
            keys = self._totals.keys(rows)
            chosen[rows[np.argpartition(-keys, number - 1)[:number]]] = True
        return chosen

    @property
    def problem(self) -> str:
        """Why the placement is not decided anew: its mistakes, or a plugin that failed."""
        return self.plan.misconfiguration or self.failure

    @property
    def missing(self) -> int:
        """How many more the placement would have but for its constraints, or for want of clusters."""
        return self.outcome.unscheduled or self.outcome.held_back

    def names(self) -> tuple[str, ...]:
        """The chosen clusters, by name."""
        rows = np.flatnonzero(self.chosen).tolist()
        return tuple(sorted(self.fleet.table.name(row) for row in rows))
