"""Flat spreading: every constraint counts its own domains over the whole fleet, and keys may cross each other.

`evaluation` calls `spread` for `scope: Flat` with more than one constraint. Crossing hard keys have no quick exact
answer (three of them are as hard as three-dimensional matching), so this picks one cluster at a time, then pairs
where no single one is allowed, and starts again from other first picks when it falls short. The result says that it
is not exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations_with_replacement

import numpy as np

from bayplan.placement.evenness import Domain, Group, Uneven, gap_of
from bayplan.placement.nested_spread import Candidates, Spread
from bayplan.placement.plan import Level
from bayplan.placement.table import Ids, Mask, Numbers, Topology

_STARTS, _PAIRS = 32, 2000


def spread(levels: tuple[Level, ...], topology: Topology, candidates: Candidates, number: int | None) -> Spread:
    """Choose up to `number`; incumbents stay unless there are too many."""
    eligible = int(candidates.eligible.sum())
    wanted = eligible if number is None else min(number, eligible)
    cells = _Cells(levels, topology, candidates)
    quotas = _Filling(cells).run(wanted)
    if int(quotas.sum()) < wanted and not candidates.incumbents.any():
        for first in range(min(len(cells.sizes), _STARTS)):
            tried = _Filling(cells).run(wanted, first)
            if tried.sum() > quotas.sum():
                quotas = tried
    chosen = cells.pick(quotas)
    reached = int(quotas.sum())
    ceiling = eligible if reached == wanted and not cells.is_bounded else reached
    return Spread(chosen, ceiling, is_exact=False, uneven=_uneven(cells, quotas))


def groups(levels: tuple[Level, ...], topology: Topology, who: Candidates) -> list[Group]:
    """The domains of every level as they stand, each compared with all of its level."""
    cells = _Cells(levels, topology, who)
    now = _Filling(cells)
    found = []
    for number, level in enumerate(levels):
        heights, scales = now.heights(number), cells.scales[number]
        limit = now.floor(number) + level.max_skew * level.unit
        chosen = now.counts[number] - cells.offsets[number]
        eligible = np.bincount(cells.domains[number], weights=cells.sizes, minlength=len(heights)).astype(np.int64)
        domains = [
            Domain(
                (name,),
                int(eligible[at]),
                int(chosen[at]),
                int(cells.offsets[number][at]),
                int(heights[at]),
                bool(level.is_hard and chosen[at] < eligible[at] and heights[at] + scales[at] > limit),
            )
            for at, name in enumerate(cells.names[number])
            if cells.known[number][at]
        ]
        found.append(Group(domains, gap_of(level, [each.height for each in domains]), is_full=True))
    return found


def _uneven(cells: _Cells, quotas: Numbers) -> Uneven:
    cells.have = quotas
    now, found = _Filling(cells), []
    for number, level in enumerate(cells.levels):
        gap = gap_of(level, now.heights(number)[cells.known[number]].tolist())
        if level.is_hard and gap > level.max_skew * level.unit:
            found.append((number, gap))
    return tuple(found)


class _Cells:
    """Candidates with the same value for every key; any one of them is as good for spreading."""

    def __init__(self, levels: tuple[Level, ...], topology: Topology, who: Candidates) -> None:
        self.levels, self.who = levels, who
        self.is_bounded = any(level.is_hard for level in levels)
        leaves = topology.ids[-1]
        self.rows: Numbers = np.flatnonzero(who.eligible)
        nodes, self.cell_of, self.sizes = np.unique(leaves[self.rows], return_inverse=True, return_counts=True)
        self.have: Numbers = np.bincount(self.cell_of[who.incumbents[self.rows]], minlength=len(nodes))
        paths = [topology.path(len(levels) - 1, int(node)) for node in nodes]
        self.domains: list[Ids] = []
        self.names: list[list[str]] = []
        self.known: list[Mask] = []
        self.offsets: list[Numbers] = []
        self.scales: list[Numbers] = []
        for number, level in enumerate(levels):
            names = sorted({path[number] for path in paths})
            index = {name: at for at, name in enumerate(names)}
            self.names.append(names)
            self.domains.append(np.array([index[path[number]] for path in paths], np.int32))
            self.known.append(np.array([name != "" for name in names], np.bool_))
            self.scales.append(np.array([level.unit // level.weights.get(name, 1) for name in names], np.int64))
            taken = np.zeros(len(names), np.int64)
            column = topology.columns[number]
            for row in who.others.tolist():
                at = index.get(column.values[column.ids[row]])
                if at is not None:
                    taken[at] += 1
            self.offsets.append(taken)
        order = np.lexsort((-who.keys[self.rows], self.cell_of))
        self.ordered: Numbers = self.rows[order]
        self.starts: Numbers = np.cumsum(self.sizes) - self.sizes

    def pick(self, quotas: Numbers) -> Mask:
        chosen = np.zeros(len(self.who.eligible), np.bool_)
        for start, quota in zip(self.starts.tolist(), quotas.tolist(), strict=True):
            chosen[self.ordered[start : start + quota]] = True
        return chosen


@dataclass(slots=True)
class _Filling:
    cells: _Cells
    quotas: Numbers = field(init=False)
    counts: list[Numbers] = field(init=False)

    def __post_init__(self) -> None:
        cells = self.cells
        self.quotas = cells.have.copy()
        self.counts = [
            offsets + np.bincount(domains, weights=cells.have, minlength=len(offsets)).astype(np.int64)
            for domains, offsets in zip(cells.domains, cells.offsets, strict=True)
        ]

    def run(self, number: int, first: int | None = None) -> Numbers:
        left = number - int(self.quotas.sum())
        while left < 0:
            self._put(self._highest(), -1)
            left += 1
        if first is not None and left > 0 and self._legal()[first]:
            self._put(first, 1)
            left -= 1
        while left > 0:
            cell = self._lowest()
            if cell is not None:
                self._put(cell, 1)
                left -= 1
            elif left > 1 and (pair := self._pair()) is not None:
                for each in pair:
                    self._put(each, 1)
                left -= 2
            else:
                break
        return self.quotas

    def _put(self, cell: int, change: int) -> None:
        self.quotas[cell] += change
        for domains, counts in zip(self.cells.domains, self.counts, strict=True):
            counts[domains[cell]] += change

    def _legal(self) -> Mask:
        """Cells that could take one more."""
        legal: Mask = self.quotas < self.cells.sizes
        for number, level in enumerate(self.cells.levels):
            if level.is_hard:
                domains, scales = self.cells.domains[number], self.cells.scales[number]
                after = ((self.counts[number] + 1) * scales)[domains]
                legal &= after - self.floor(number) <= level.max_skew * level.unit
        return legal

    def heights(self, number: int) -> Numbers:
        heights: Numbers = self.counts[number] * self.cells.scales[number]
        return heights

    def floor(self, number: int) -> int:
        cells, level = self.cells, self.cells.levels[number]
        known = cells.known[number]
        if int(known.sum()) < level.min_domains or not known.any():
            return 0
        return int(self.heights(number)[known].min())

    def _lowest(self) -> int | None:
        """The legal cell in the lowest domains, key by key; then the one with the best candidate."""
        left = np.flatnonzero(self._legal())
        if not len(left):
            return None
        cells = self.cells
        for number in range(len(cells.levels)):
            domains = cells.domains[number][left]
            heights = (self.counts[number] + 1) * cells.scales[number] + np.where(cells.known[number], 0, 1 << 40)
            here = heights[domains]
            left = left[here == here.min()]
        if len(left) == 1:
            return int(left[0])
        keys = cells.who.keys[cells.ordered[cells.starts[left] + self.quotas[left]]]
        return int(left[np.argmax(keys)])

    def _highest(self) -> int:
        left = np.flatnonzero(self.quotas)
        cells = self.cells
        for number in range(len(cells.levels)):
            heights = self.counts[number] * cells.scales[number] + np.where(cells.known[number], 0, 1 << 40)
            here = heights[cells.domains[number][left]]
            left = left[here == here.max()]
        keys = cells.who.keys[cells.ordered[cells.starts[left] + self.quotas[left] - 1]]
        return int(left[np.argmin(keys)])

    def _pair(self) -> tuple[int, int] | None:
        """Two cells that may grow together though neither may alone."""
        open_ones = np.flatnonzero(self.quotas < self.cells.sizes).tolist()
        for tries, (one, other) in enumerate(combinations_with_replacement(open_ones, 2)):
            if tries >= _PAIRS:
                return None
            if one == other and self.quotas[one] + 2 > self.cells.sizes[one]:
                continue
            self._put(one, 1)
            self._put(other, 1)
            fits = all(self._is_fine(each) for each in (one, other))
            self._put(one, -1)
            self._put(other, -1)
            if fits:
                return one, other
        return None

    def _is_fine(self, cell: int) -> bool:
        cells = self.cells
        for number, level in enumerate(cells.levels):
            domain = cells.domains[number][cell]
            height = self.counts[number][domain] * cells.scales[number][domain]
            if level.is_hard and height - self.floor(number) > level.max_skew * level.unit:
                return False
        return True
