"""Nested spreading: so many clusters that regions are even first, then the zones of each region, then scores decide.

`evaluation` keeps a `Tree` for a placement and asks it to `spread`. The domains are a tree; a node is a path of values.
From the leaves up each node gets a ceiling (how many it can take without breaking a hard constraint below it), from the
root down each gets a quota (`quotas`), and in a leaf the best by key win. The ceiling of the root is the most that can
be placed at all. A change in one leaf is a matter of that leaf and the nodes above it.

A hard constraint blocks what would be added; it never drops a cluster that is already chosen. A full domain still
counts as the lowest one for hard constraints, and is passed over for soft ones. Clusters without a soft key are the
last resort; without a hard key they are no candidates at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bayplan.placement import quotas
from bayplan.placement.evenness import Domain, Group, Uneven, gap_of
from bayplan.placement.plan import Level
from bayplan.placement.table import ABSENT, Ids, Mask, Numbers, Topology

_FEW = 24
"""So many leaves are picked one by one; with more, sorting everything is quicker."""
_ROOT = 0
_BOUNDLESS = 1 << 60


@dataclass(slots=True)
class Spread:
    """What was chosen, how many could have been, how many moves evenness took, and whether more would help."""

    chosen: Mask
    ceiling: int
    moves: int = 0
    is_unsettled: bool = False
    is_exact: bool = True
    uneven: Uneven = ()


@dataclass
class Candidates:
    """Who could be chosen: rows, who is already, how good some or all are, and what others of the group have."""

    eligible: Mask
    incumbents: Mask
    keys_of: Callable[[Numbers], Numbers]
    others: Numbers
    """Rows that other placements of the group have, each as often as it is chosen."""

    @cached_property
    def keys(self) -> Numbers:
        """The keys of all rows."""
        return self.keys_of(np.arange(len(self.eligible)))


@dataclass(slots=True)
class _Tier:
    """One level of the tree: columns over its nodes."""

    level: Level
    parents: list[int]
    known: list[bool]
    scales: list[int]
    eligible: list[int]
    have: list[int]
    offsets: list[int]
    ceilings: list[int]
    caps: list[int]


class Tree:
    """The domains of a placement with their counts; `shift` and `spread` keep them up to date."""

    def __init__(self, levels: tuple[Level, ...], topology: Topology, who: Candidates) -> None:
        self._topology = topology
        self._sizes = _sizes(topology)
        leaves, size = topology.ids[-1], self._sizes[-1]
        columns = [
            np.bincount(leaves[rows], minlength=size)
            for rows in (np.flatnonzero(who.eligible), np.flatnonzero(who.incumbents), who.others)
        ]
        self._tiers: list[_Tier] = []
        for depth in range(len(levels) - 1, -1, -1):
            tier = _tier(levels[depth], topology, depth, [column.tolist() for column in columns])
            self._tiers.insert(0, tier)
            above = self._sizes[depth - 1] if depth else 1
            columns = [_sums(np.array(tier.parents, np.int64), column, above) for column in columns]
        self._number = int(columns[1][0])
        self._total = int(columns[0][0])
        self._open: list[set[int]] = [set(tier.parents) for tier in self._tiers]
        self._moved: list[set[int]] = [set(tier.parents) for tier in self._tiers]
        self._gaps: list[dict[int, int]] = [{} for _ in self._tiers]
        self._changed: list[int] = []
        self._run = _Run(who, 0)

    @property
    def is_current(self) -> bool:
        """Whether there are no other domains than these."""
        return self._sizes == _sizes(self._topology)

    def shift(self, row: int, change: int, is_chosen: bool) -> None:
        """A cluster became a candidate (1), or is none any more (-1)."""
        node = int(self._topology.ids[-1][row])
        self._total += change
        self._number += change * is_chosen
        for depth in range(len(self._tiers) - 1, -1, -1):
            tier = self._tiers[depth]
            tier.eligible[node] += change
            tier.have[node] += change * is_chosen
            node = tier.parents[node]
            self._open[depth].add(node)
            self._moved[depth].add(node)

    @property
    def ceiling(self) -> int:
        """How many could be placed at all."""
        for depth in range(len(self._tiers) - 1, 0, -1):
            above = self._tiers[depth - 1]
            for parent in self._open[depth]:
                above.ceilings[parent] = self._cap(depth, parent)
                self._open[depth - 1].add(above.parents[parent])
            self._open[depth].clear()
        self._open[0].clear()
        return self._cap(0, _ROOT)

    def spread(self, who: Candidates, number: int | None, budget: int = 0, dirty: Numbers | None = None) -> Spread:
        """Choose up to `number`; `dirty` are rows that changed since the incumbents were chosen, None if all may have.

        `budget` moves may be made to be more even.
        """
        wanted = self._total if number is None else number
        self._run = _Run(who, budget)
        self._changed = []
        ceiling = wanted if wanted == self._number and not budget else self.ceiling
        target = min(wanted, ceiling)
        if target == self._number + 1 and not budget:
            self._settle_one(0, _ROOT)
        elif target != self._number or budget:
            self._settle(0, _ROOT, target)
        self._number = target
        if dirty is None:
            chosen = self._pick_all()
        else:
            again = {*self._changed, *self._topology.ids[-1][dirty].tolist()}
            chosen = self._pick(again) if len(again) <= _FEW else self._pick_all()
        return Spread(chosen, ceiling, self._run.moves, self._run.is_unsettled, uneven=self._uneven())

    # -- how it stands --

    def groups(self, depth: int) -> list[Group]:
        """The domains of a level, by the domain above them; `ceiling` must have been asked for."""
        tier = self._tiers[depth]
        ceilings = tier.eligible if depth == len(self._tiers) - 1 else tier.ceilings
        found = []
        for parent in sorted(set(tier.parents)):
            nodes = self._topology.children(depth, parent)
            is_full = all(tier.have[node] >= tier.caps[node] for node in nodes)
            domains = [
                Domain(
                    self._topology.path(depth, node),
                    tier.eligible[node],
                    tier.have[node],
                    tier.offsets[node],
                    (tier.have[node] + tier.offsets[node]) * tier.scales[node],
                    tier.have[node] >= tier.caps[node] < ceilings[node],
                )
                for node in nodes
                if tier.eligible[node] and tier.known[node]
            ]
            if domains:
                found.append(Group(domains, self._gap(depth, parent), is_full))
        return found

    def _uneven(self) -> Uneven:
        found = []
        for depth, tier in enumerate(self._tiers):
            if tier.level.is_hard:
                gaps, moved = self._gaps[depth], self._moved[depth]
                gaps.update((parent, self._gap(depth, parent)) for parent in moved)
                moved.clear()
                worst = max(gaps.values(), default=0)
                if worst > tier.level.max_skew * tier.level.unit:
                    found.append((depth, worst))
        return tuple(found)

    def _gap(self, depth: int, parent: int) -> int:
        """How far apart the domains under a parent are."""
        tier = self._tiers[depth]
        heights = [
            (tier.have[node] + tier.offsets[node]) * tier.scales[node]
            for node in self._topology.children(depth, parent)
            if tier.eligible[node] and tier.known[node]
        ]
        return gap_of(tier.level, heights)

    # -- how many go where --

    def _cap(self, depth: int, parent: int) -> int:
        """Set the caps of the nodes under a parent; the ceiling of the parent."""
        tier = self._tiers[depth]
        nodes = self._topology.children(depth, parent)
        level, ceilings = tier.level, tier.eligible if depth == len(self._tiers) - 1 else tier.ceilings
        if not level.is_hard:
            for node in nodes:
                tier.caps[node] = ceilings[node]
            return sum(ceilings[node] for node in nodes)
        # Plain comparisons: this is the inner loop of a cluster's change.
        offsets, scales, have, caps = tier.offsets, tier.scales, tier.have, tier.caps
        lowest, present = _BOUNDLESS, 0
        for node in nodes:
            if tier.eligible[node] and tier.known[node]:
                present += 1
                height = (ceilings[node] + offsets[node]) * scales[node]
                if height < lowest:
                    lowest = height
        if present < level.min_domains > 1:
            lowest = 0
        allowed = lowest + level.max_skew * level.unit
        total = 0
        for node in nodes:
            cap, room = ceilings[node], allowed // scales[node] - offsets[node]
            if cap > room:
                cap = room
            if cap < have[node]:
                cap = have[node]
            caps[node] = cap
            total += cap
        return total

    def _settle(self, depth: int, parent: int, number: int) -> None:
        tier, run = self._tiers[depth], self._run
        nodes = [node for node in self._topology.children(depth, parent) if tier.eligible[node]]
        siblings = quotas.Siblings(
            [tier.have[node] for node in nodes],
            [tier.caps[node] for node in nodes],
            [tier.offsets[node] for node in nodes],
            [tier.scales[node] for node in nodes],
            [tier.known[node] for node in nodes],
        )
        ids = self._topology.ids[depth]
        # Ties go by score and then by the name of the domain, so children stand in the order of their names.
        done = quotas.divide(
            number,
            siblings,
            tier.level.max_skew * tier.level.unit,
            run.budget,
            lambda child, index: run.key(depth, ids, nodes[child], index, is_incumbent=False),
            lambda child, index: run.key(depth, ids, nodes[child], index, is_incumbent=True),
        )
        run.moves += done.moves
        run.budget -= done.moves
        run.is_unsettled |= done.is_unsettled
        is_leaf = depth == len(self._tiers) - 1
        for node, before, count in zip(nodes, siblings.have, done.counts, strict=True):
            if before != count:
                tier.have[node] = count
                self._open[depth].add(parent)
                self._moved[depth].add(parent)
                if is_leaf:
                    self._changed.append(node)
            if not is_leaf and count == before + 1 and not run.budget:
                self._settle_one(depth + 1, node)
            elif not is_leaf and (before != count or run.budget):
                self._settle(depth + 1, node, count)

    def _settle_one(self, top: int, node: int) -> None:
        """The same for one more, as it is when a cluster is lost: down the lowest domains that have room."""
        for depth, tier in enumerate(self._tiers[top:], top):
            have, caps, known = tier.have, tier.caps, tier.known
            self._open[depth].add(node)
            self._moved[depth].add(node)
            lowest, tied = (True, _BOUNDLESS), [node]
            for child in self._topology.children(depth, node):
                if have[child] < caps[child]:
                    place = (not known[child], (tier.offsets[child] + have[child] + 1) * tier.scales[child])
                    if place < lowest:
                        lowest, tied = place, [child]
                    elif place == lowest:
                        tied.append(child)
            node = tied[0]
            if len(tied) > 1:
                ids = self._topology.ids[depth]
                # The first of those that are equal, as children stand in the order of their names.
                node = max(tied, key=lambda child: self._run.key(depth, ids, child, 0, is_incumbent=False))
            have[node] += 1
        self._changed.append(node)

    # -- which ones --

    def _pick(self, leaves: Iterable[int]) -> Mask:
        """The best of these leaves; the others keep what they have."""
        who, have = self._run.who, self._tiers[-1].have
        chosen = who.incumbents
        for leaf in leaves:
            rows = self._topology.rows(leaf)
            rows = rows[who.eligible[rows]]
            count = have[leaf]
            if not count and not who.incumbents[rows].any():
                continue
            chosen = chosen.copy() if chosen is who.incumbents else chosen
            chosen[rows] = False
            if count:
                chosen[rows[(-who.keys_of(rows)).argsort()[:count]]] = True
        return chosen

    def _pick_all(self) -> Mask:
        leaves, who = self._tiers[-1], self._run.who
        rows = np.flatnonzero(who.eligible)
        chosen = np.zeros(len(who.eligible), np.bool_)
        if not len(rows):
            return chosen
        leaf_of = self._topology.ids[-1][rows].astype(np.int64)
        # One number for leaf and key, so that one sort does; the last one taken of a leaf is the limit for it.
        keys = who.keys[rows]
        worse = keys.max() - keys
        span = int(worse.max()) + 1
        if span * len(leaves.have) > _BOUNDLESS:
            worse[np.argsort(worse)] = np.arange(len(rows))
            span = len(rows)
        places = leaf_of * span + worse
        eligible, have = np.array(leaves.eligible, np.int64), np.array(leaves.have, np.int64)
        last = np.cumsum(eligible) - eligible + have - 1
        limits = np.where(have > 0, np.sort(places)[last], -1)
        chosen[rows[places <= limits[leaf_of]]] = True
        return chosen


@dataclass(slots=True)
class _Run:
    """One spreading: what may be spent, what was, and who is next in a domain."""

    who: Candidates
    budget: int
    moves: int = 0
    is_unsettled: bool = False
    _order: dict[tuple[int, int, bool], list[int]] = field(default_factory=dict)
    _firsts: dict[tuple[int, bool], list[int]] = field(default_factory=dict)

    def key(self, depth: int, ids: Ids, node: int, index: int, *, is_incumbent: bool) -> int:
        """The key of the next candidate in a domain, or of the next incumbent to go."""
        if index == 0:
            firsts = self._firsts.get((depth, is_incumbent))
            if firsts is None:
                firsts = self._firsts[depth, is_incumbent] = self._first(ids, is_incumbent)
            return firsts[node]
        ordered = self._order.get((depth, node, is_incumbent))
        if ordered is None:
            ordered = np.sort(self.who.keys[(ids == node) & self._those(is_incumbent)]).tolist()
            if not is_incumbent:
                ordered.reverse()
            self._order[depth, node, is_incumbent] = ordered
        return ordered[index] if index < len(ordered) else 0

    def _those(self, is_incumbent: bool) -> Mask:
        return self.who.incumbents if is_incumbent else self.who.eligible & ~self.who.incumbents

    def _first(self, ids: Ids, is_incumbent: bool) -> list[int]:
        rows = np.flatnonzero(self._those(is_incumbent))
        limits = np.iinfo(np.int64)
        firsts = np.full(int(ids.max()) + 1, limits.max if is_incumbent else limits.min, np.int64)
        (np.minimum if is_incumbent else np.maximum).at(firsts, ids[rows], self.who.keys[rows])
        return firsts.tolist()


def _tier(level: Level, topology: Topology, depth: int, columns: list[list[int]]) -> _Tier:
    values = topology.values[depth]
    scales = [1] * len(values)
    if level.weights:
        names = topology.columns[depth].values
        scales = [level.unit // level.weights.get(names[each], 1) for each in values]
    eligible, have, offsets = columns
    known = [value != ABSENT for value in values]
    return _Tier(
        level, topology.parents[depth], known, scales, eligible, have, offsets, [0] * len(values), [0] * len(values)
    )


def _sizes(topology: Topology) -> tuple[int, ...]:
    return tuple(map(len, topology.values))


def _sums(parents: Numbers, column: Numbers, size: int) -> Numbers:
    totals = np.zeros(size, np.int64)
    np.add.at(totals, parents, column)
    return totals
