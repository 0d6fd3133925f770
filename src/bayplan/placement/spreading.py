"""Nested spreading: so many clusters that regions are even first, then the zones of each region, then scores decide.

`scheduling` calls `spread`. The domains are a tree; a node is a path of values. From the leaves up each node gets a
ceiling (how many it can take without breaking a hard constraint below it), from the root down each gets a quota
(`quotas`), and in a leaf the best by key win. The ceiling of the root is the most that can be placed at all.

A hard constraint blocks what would be added; it never drops a cluster that is already chosen. A full domain still
counts as the lowest one for hard constraints, and is passed over for soft ones. Clusters without a soft key are the
last resort; without a hard key they are no candidates at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bayplan.placement import quotas
from bayplan.placement.compiling import Level
from bayplan.placement.table import Ids, Mask, Numbers, Topology

_FEW = 12
"""So many leaves are picked one by one; with more, sorting everything is quicker."""


@dataclass(frozen=True, slots=True)
class Spread:
    """What was chosen, how many could have been, how many moves evenness took, and whether more would help."""

    chosen: Mask
    ceiling: int
    moves: int = 0
    is_unsettled: bool = False
    is_exact: bool = True


@dataclass(slots=True)
class Candidates:
    """Who could be chosen: rows, who is already, how good each is, and what others of the group have."""

    eligible: Mask
    incumbents: Mask
    keys: Numbers
    others: Numbers
    """Rows that other placements of the group have, each as often as it is chosen."""


@dataclass(slots=True)
class _Tier:
    """One level of the tree as columns over its nodes."""

    level: Level
    ids: Ids
    parents: Numbers
    eligible: Numbers
    have: Numbers
    offsets: Numbers
    scales: Numbers | None
    known: Mask
    caps: Numbers


def spread(
    levels: tuple[Level, ...],
    topology: Topology,
    candidates: Candidates,
    number: int | None,
    budget: int = 0,
    dirty: Mask | None = None,
) -> Spread:
    """Choose up to `number`; `dirty` are rows that changed since the incumbents were chosen, None if all may have."""
    if dirty is not None and not budget and number == int(np.count_nonzero(candidates.incumbents)):
        chosen = _swap(topology.ids[-1], candidates, dirty)
        if chosen is not None:
            return Spread(chosen, number)
    tree = _Tree(levels, topology, candidates)
    wanted = int(candidates.eligible.sum()) if number is None else number
    target = min(wanted, tree.ceiling)
    tree.settle(target, budget)
    return Spread(tree.pick(dirty), tree.ceiling, tree.moves, tree.is_unsettled)


def _swap(leaves: Ids, who: Candidates, dirty: Mask) -> Mask | None:
    """As many as are wanted are there, so no quota changes: only leaves with a change pick again. None if too many."""
    again = set(leaves[np.flatnonzero(dirty)].tolist())
    if len(again) > _FEW:
        return None
    chosen = who.incumbents
    for leaf in again:
        rows = np.flatnonzero(who.eligible & (leaves == leaf))
        count = int(np.count_nonzero(who.incumbents[rows]))
        if count:
            chosen = chosen.copy() if chosen is who.incumbents else chosen
            chosen[rows] = False
            chosen[rows[np.argsort(-who.keys[rows])[:count]]] = True
    return chosen


def ceiling(levels: tuple[Level, ...], topology: Topology, candidates: Candidates) -> int:
    """How many could be placed at all."""
    return _Tree(levels, topology, candidates).ceiling


@dataclass(slots=True)
class _Tree:
    levels: tuple[Level, ...]
    topology: Topology
    who: Candidates
    tiers: list[_Tier] = field(init=False)
    ceiling: int = field(init=False)
    quotas: Numbers = field(init=False)
    moves: int = 0
    is_unsettled: bool = False
    _budget: int = 0
    _order: dict[tuple[int, int, bool], list[int]] = field(default_factory=dict)
    _firsts: dict[tuple[int, bool], Numbers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tiers = []
        leaves = self.topology.ids[-1]
        size = len(self.topology.values[-1])
        columns = [
            np.bincount(leaves[rows], minlength=size)
            for rows in (np.flatnonzero(self.who.eligible), np.flatnonzero(self.who.incumbents), self.who.others)
        ]
        for depth in range(len(self.levels) - 1, -1, -1):
            tier = self._tier(depth, columns)
            self.tiers.insert(0, tier)
            above = len(self.topology.values[depth - 1]) if depth else 1
            columns = [_sums(tier.parents, column, above) for column in columns]
        ceilings = self.tiers[-1].eligible
        for tier in reversed(self.tiers):
            ceilings = _cap(tier, ceilings)
        self.ceiling = int(ceilings[0])
        self.quotas = self.tiers[-1].have.copy()

    def _tier(self, depth: int, columns: list[Numbers]) -> _Tier:
        level, (parents, values) = self.levels[depth], self.topology.shape(depth)
        scales: Numbers | None = None
        if level.weights:
            names = self.topology.columns[depth].values
            scales = np.array([level.unit // level.weights.get(names[each], 1) for each in values], np.int64)
        eligible, have, offsets = columns
        return _Tier(level, self.topology.ids[depth], parents, eligible, have, offsets, scales, values != 0, eligible)

    # -- how many go where --

    def settle(self, number: int, budget: int) -> None:
        self._budget = budget
        self._settle(0, 0, number)

    def _settle(self, depth: int, parent: int, number: int) -> None:
        tier = self.tiers[depth]
        present = tier.eligible
        nodes = [node for node in self.topology.children(depth, parent) if present[node]]
        siblings = quotas.Siblings(
            tier.have[nodes].tolist(),
            tier.caps[nodes].tolist(),
            tier.offsets[nodes].tolist(),
            [1] * len(nodes) if tier.scales is None else tier.scales[nodes].tolist(),
            tier.known[nodes].tolist(),
        )
        # Ties go by score and then by the name of the domain, so children stand in the order of their names.
        done = quotas.divide(
            number,
            siblings,
            tier.level.max_skew * tier.level.unit,
            self._budget,
            lambda child, index: self._key(depth, nodes[child], index, is_incumbent=False),
            lambda child, index: self._key(depth, nodes[child], index, is_incumbent=True),
        )
        self.moves += done.moves
        self._budget -= done.moves
        self.is_unsettled |= done.is_unsettled
        is_leaf = depth == len(self.tiers) - 1
        for node, before, count in zip(nodes, siblings.have, done.counts, strict=True):
            if is_leaf:
                self.quotas[node] = count
            elif before != count or self._budget:
                self._settle(depth + 1, node, count)

    def _key(self, depth: int, node: int, index: int, *, is_incumbent: bool) -> int:
        """The key of the next candidate in a domain, or of the next incumbent to go."""
        if index == 0:
            firsts = self._firsts.get((depth, is_incumbent))
            if firsts is None:
                firsts = self._firsts[depth, is_incumbent] = self._first(depth, is_incumbent)
            return int(firsts[node])
        ordered = self._order.get((depth, node, is_incumbent))
        if ordered is None:
            who = self.who
            mask = (self.tiers[depth].ids == node) & (
                who.incumbents if is_incumbent else who.eligible & ~who.incumbents
            )
            ordered = np.sort(who.keys[mask]).tolist()
            if not is_incumbent:
                ordered.reverse()
            self._order[depth, node, is_incumbent] = ordered
        return ordered[index] if index < len(ordered) else 0

    def _first(self, depth: int, is_incumbent: bool) -> Numbers:
        who, tier = self.who, self.tiers[depth]
        rows = np.flatnonzero(who.incumbents if is_incumbent else who.eligible & ~who.incumbents)
        limits = np.iinfo(np.int64)
        firsts = np.full(len(tier.have), limits.max if is_incumbent else limits.min, np.int64)
        (np.minimum if is_incumbent else np.maximum).at(firsts, tier.ids[rows], who.keys[rows])
        return firsts

    # -- which ones --

    def pick(self, dirty: Mask | None) -> Mask:
        """The best of every leaf; leaves where nothing changed keep what they have."""
        leaves, who = self.tiers[-1], self.who
        if dirty is None:
            return self._pick_all()
        changed = self.quotas != leaves.have
        changed[leaves.ids[np.flatnonzero(dirty)]] = True
        again = np.flatnonzero(changed & (leaves.eligible > 0))
        if len(again) > _FEW:
            return self._pick_all()
        chosen = who.incumbents.copy()
        for leaf in again.tolist():
            rows = np.flatnonzero(who.eligible & (leaves.ids == leaf))
            chosen[rows] = False
            count = int(self.quotas[leaf])
            if count:
                chosen[rows[np.argsort(-who.keys[rows])[:count]]] = True
        return chosen

    def _pick_all(self) -> Mask:
        leaves, who = self.tiers[-1], self.who
        rows = np.flatnonzero(who.eligible)
        leaf_of = leaves.ids[rows]
        order = np.lexsort((-who.keys[rows], leaf_of))
        ordered = leaf_of[order]
        starts = np.cumsum(leaves.eligible) - leaves.eligible
        within = np.arange(len(rows)) - starts[ordered]
        chosen = np.zeros(len(who.eligible), np.bool_)
        chosen[rows[order[within < self.quotas[ordered]]]] = True
        return chosen


def _cap(tier: _Tier, ceilings: Numbers) -> Numbers:
    """Set the caps of a tier from the ceilings of its nodes; the ceilings of their parents."""
    level, parents = tier.level, tier.parents
    size = int(parents.max(initial=0)) + 1
    if level.is_hard:
        # What a node without candidates gets does not matter: its ceiling is 0.
        counted = np.flatnonzero(tier.known & (tier.eligible > 0))
        heights = ceilings + tier.offsets
        if tier.scales is not None:
            heights = heights * tier.scales
        lowest = np.full(size, np.iinfo(np.int64).max // 2, np.int64)
        np.minimum.at(lowest, parents[counted], heights[counted])
        if level.min_domains > 1:
            lowest[np.bincount(parents[counted], minlength=size) < level.min_domains] = 0
        allowed = lowest[parents] + level.max_skew * level.unit
        if tier.scales is not None:
            allowed //= tier.scales
        ceilings = np.maximum(np.minimum(ceilings, allowed - tier.offsets), tier.have)
    tier.caps = ceilings
    return _sums(parents, ceilings, size)


def _sums(parents: Numbers, column: Numbers, size: int) -> Numbers:
    totals = np.zeros(size, np.int64)
    np.add.at(totals, parents, column)
    return totals
