"""
Victims on many nodes at once: the rule of ``framework.preemption.victims.DryRun`` over columns.

Only where every filter of the cycle goes by node objects and amounts: then who the pods are does not matter, and what
they take can be taken away and put back on all nodes together.  ``bayplan.plugins.default_preemption`` asks here
first, and goes node by node where the answer is ``None``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from bayplan.errors import PluginError
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.handle import FilterRunner, RowFilters
from bayplan.framework.preemption.disruption_budgets import DisruptionBudgets
from bayplan.framework.preemption.ranked_pods import NodePods, RankedPods, amounts_in, priorities_in, started_at_in
from bayplan.framework.preemption.victims import PRIORITY_OFFSET, Candidate, Costs, cost, importance, nobody_has_to_go
from bayplan.framework.preemption.what_if_rows import WhatIfRows
from bayplan.framework.snapshot import Mask, NodeTable, Rows
from bayplan.framework.status import Status, as_status
from bayplan.objects.pod import Pod

Places: TypeAlias = "npt.NDArray[np.intp]"

NO_COSTS: Costs = np.empty((0, 5), np.float64)


@dataclass(slots=True)
class Found:
    """What became of some nodes: candidates in their order, and how often each other answer was given."""

    candidates: Sequence[Candidate]
    costs: Costs
    """A line for each candidate."""
    failures: list[tuple[Status, int]]

    @classmethod
    def on_one(cls, answer: Candidate | Status, now: float) -> Found:
        """What became of one node."""
        if isinstance(answer, Status):
            return cls((), NO_COSTS, [(answer, 1)])
        return cls((answer,), np.array([cost(answer, now)], np.float64), [])


class Lower:
    """The pods that may have to go, of several nodes one after the other."""

    def __init__(self, nodes: NodeTable, rows: Rows, ranked: Sequence[NodePods], firsts: Sequence[int]) -> None:
        self._nodes = nodes
        self._rows = rows
        self._ranked = ranked
        self._firsts = firsts
        pairs = zip(ranked, firsts, strict=True)
        parts = [each.numbers[first:] if first else each.numbers for each, first in pairs]
        numbers = np.concatenate(parts)
        self.amounts = amounts_in(numbers)
        self.priorities = priorities_in(numbers)
        self.started_at = started_at_in(numbers)
        self.counts = np.array([len(part) for part in parts], np.intp)
        self.starts: Places = np.cumsum(self.counts) - self.counts
        self.scalars = self._flat_scalars()

    def pods(self, node: int) -> tuple[Pod, ...]:
        """Those of one node, most important first."""
        return self._ranked[node].ranked(self._nodes.pods_at(int(self._rows[node])), self._firsts[node])

    def sums(self, numbers: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """What they come to on each node."""
        totals: npt.NDArray[np.int64] = np.add.reduceat(numbers, self.starts, axis=0, dtype=np.int64)
        return totals

    def _flat_scalars(self) -> dict[str, npt.NDArray[np.int64]]:
        flat: dict[str, npt.NDArray[np.int64]] = {}
        for node in [node for node, each in enumerate(self._ranked) if each.scalars]:
            first = self._firsts[node]
            for place, scalars in self._ranked[node].scalars:
                for resource, amount in scalars.items() if place >= first else ():
                    column = flat.setdefault(resource, np.zeros(len(self.amounts), np.int64))
                    column[self.starts[node] + place - first] = amount
        return flat

    def move(self, rows: WhatIfRows, at: Places, places: Places, sign: int) -> None:
        """Imagine one pod on, or off, each of some rows."""
        rows.move(at, self.amounts[places], sign)
        for resource, amounts in self.scalars.items():
            rows.move_scalar(resource, at, amounts[places], sign)


class RowsDryRun:
    """One preemptor's question, asked of many nodes at a time."""

    def __init__(
        self,
        pod: Pod,
        state: CycleState,
        filters: FilterRunner,
        budgets: DisruptionBudgets,
        now: float,
        ranked: RankedPods,
    ) -> None:
        self._pod = pod
        self._state = state
        self._filters = filters
        self._budgets = budgets
        self._now = now
        self._ranked = ranked

    def run(self, nodes: NodeTable, rows: Rows) -> Found | None:
        """What comes of nodes that have pods of lower priority; ``None`` if that must be asked node by node."""
        try:
            return self._run(nodes, rows)
        except PluginError:
            # Node by node it is found again, and spoils no other node.
            return None

    def _run(self, nodes: NodeTable, rows: Rows) -> Found | None:
        imagined = WhatIfRows(nodes, rows)
        filters = self._filters.over_rows(self._state, self._pod, imagined)
        if filters is None:
            return None
        lower = Lower(nodes, rows, *self._ranked.below(nodes, rows, self._pod.priority, self._now))
        imagined.move(slice(None), lower.sums(lower.amounts), -1)
        for resource, amounts in lower.scalars.items():
            imagined.move_scalar(resource, slice(None), lower.sums(amounts), -1)
        verdicts = filters.first_rejections()
        counts = np.bincount(verdicts.codes, minlength=len(verdicts.statuses) + 1)[1:].tolist()
        pairs = zip(verdicts.statuses, counts, strict=True)
        failures = [(as_status(status), count) for status, count in pairs if count]
        emptied = np.flatnonzero(verdicts.codes == 0)
        if not len(emptied):
            return Found((), NO_COSTS, failures)
        if len(emptied) < len(rows):
            imagined = imagined.part(emptied)
            filters = self._filters.over_rows(self._state, self._pod, imagined)
            assert filters is not None
        return self._choose_victims(lower, imagined, filters, emptied, failures)

    def _choose_victims(
        self,
        lower: Lower,
        imagined: WhatIfRows,
        filters: RowFilters,
        emptied: Places,
        failures: list[tuple[Status, int]],
    ) -> Found:
        """Put pods back where the preemptor fits without them; whoever cannot be put back is a victim."""
        order, breaking = self._in_turn(lower, emptied)
        goes = self._put_back(filters, lower, imagined, emptied, order)
        costs = self._costs(lower, goes, breaking)[emptied]
        has_victims = costs[:, 3] > 0
        names = imagined.whole.names
        failures += [(nobody_has_to_go(names[row]), 1) for row in imagined.rows[~has_victims].tolist()]
        costs, emptied, rows = costs[has_victims], emptied[has_victims], imagined.rows[has_victims].tolist()

        def candidate(place: int) -> Candidate:
            victims = self._victims(lower, int(emptied[place]), goes, order)
            return Candidate(names[rows[place]], victims, int(costs[place, 0]))

        return Found(Candidates(candidate, len(rows)), costs, failures)

    def _costs(self, lower: Lower, goes: Mask, breaking: Mask) -> Costs:
        """As ``victims.cost`` has it, for every node."""
        priorities, starts = lower.priorities, lower.starts
        highest = np.maximum.reduceat(np.where(goes, priorities, -PRIORITY_OFFSET), starts)
        are_highest = goes & (priorities == np.repeat(highest, lower.counts))
        started_at = np.where(np.isinf(lower.started_at), self._now, lower.started_at)
        earliest = np.minimum.reduceat(np.where(are_highest, started_at, np.inf), starts)
        totals = lower.sums(np.where(goes, priorities + PRIORITY_OFFSET, 0))
        violations, victims = lower.sums(goes & breaking), lower.sums(goes.astype(np.int64))
        return np.column_stack((violations, highest, totals, victims, -earliest)).astype(np.float64)

    def _in_turn(self, lower: Lower, emptied: Places) -> tuple[Places, Mask]:
        """The order in which pods are put back, and whose eviction would break a budget: those come first."""
        order = np.arange(len(lower.amounts))
        breaking = np.zeros(len(lower.amounts), np.bool_)
        for node in emptied.tolist() if self._budgets else ():
            breaks = np.array(self._budgets.broken_by(lower.pods(node)), np.bool_)
            if breaks.any():
                here = slice(lower.starts[node], lower.starts[node] + len(breaks))
                breaking[here] = breaks
                order[here] = lower.starts[node] + np.argsort(~breaks, kind="stable")
        return order, breaking

    @staticmethod
    def _put_back(filters: RowFilters, lower: Lower, imagined: WhatIfRows, emptied: Places, order: Places) -> Mask:
        """Who goes, in turn on every node at once."""
        goes = np.zeros(len(lower.amounts), np.bool_)
        counts, starts = lower.counts[emptied], lower.starts[emptied]
        for turn in range(int(counts.max())):
            at = np.flatnonzero(counts > turn)
            places = order[starts[at] + turn]
            lower.move(imagined, at, places, 1)
            too_many = filters.first_rejections(amounts_only=True).codes[at] != 0
            lower.move(imagined, at[too_many], places[too_many], -1)
            goes[places[too_many]] = True
        return goes

    def _victims(self, lower: Lower, node: int, goes: Mask, order: Places) -> tuple[Pod, ...]:
        pods, start = lower.pods(node), int(lower.starts[node])
        # Of equally important pods, those that were put back first are told first.
        turns = order[start : start + len(pods)]
        went = [pods[place - start] for place in turns[goes[turns]].tolist()]
        return tuple(sorted(went, key=lambda pod: importance(pod, self._now)))


class Candidates(Sequence[Candidate]):
    """Candidates that are made when they are looked at: of hundreds, most often one is."""

    def __init__(self, make: Callable[[int], Candidate], count: int) -> None:
        self._make = make
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Candidate: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Candidate]: ...

    def __getitem__(self, place: int | slice) -> Candidate | Sequence[Candidate]:
        if isinstance(place, slice):
            return tuple(self._make(each) for each in range(*place.indices(self._count)))
        return self._make(range(self._count)[place])


def enough_of(parts: Iterable[Found], enough: int) -> Found:
    """
    Read on until there are ``enough`` candidates and one of them breaks no budget.  Those that break none come first,
    and there are at most ``enough`` of either kind.
    """
    founds: list[Found] = []
    clean = total = 0
    for found in parts:
        founds.append(found)
        total += len(found.candidates)
        clean += int(np.count_nonzero(found.costs[:, 0] == 0))
        if clean and total >= enough:
            break
    failures = [failure for found in founds for failure in found.failures]
    if not total:
        return Found((), NO_COSTS, failures)
    costs = np.concatenate([found.costs for found in founds])
    is_clean = costs[:, 0] == 0
    seen = max(enough, int(np.argmax(is_clean)) + 1) if clean else total
    firsts, others = np.flatnonzero(is_clean[:seen]), np.flatnonzero(~is_clean[:seen])
    chosen = np.concatenate((firsts[:enough], others[:enough]))
    where = [(found, place) for found in founds for place in range(len(found.candidates))] if len(founds) > 1 else []

    def candidate(place: int) -> Candidate:
        at = int(chosen[place])
        found, within = where[at] if where else (founds[0], at)
        return found.candidates[within]

    return Found(Candidates(candidate, len(chosen)), costs[chosen], failures)


def chunks(rows: Rows, first: int) -> Iterator[Rows]:
    """The rows in parts that grow: most searches end early, and those that do not had better take few steps."""
    start, size = 0, max(first, 1)
    while start < len(rows):
        yield rows[start : start + size]
        start, size = start + size, 2 * size
