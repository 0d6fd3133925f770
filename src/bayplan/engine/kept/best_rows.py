"""
The best of many numbers, kept while single numbers change: a maximum and its ties, block by block.

``engine.kept.class_answers`` keeps one number per node here.  A block remembers which of its rows are best, and groups
of blocks how many.  So changing a number and picking one of the best cost next to nothing until the last of a block's
best is gone, which costs a look through that block.  Neither grows with the cluster as a pass over all nodes does.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort

from bayplan.engine.scoring import which_of
from bayplan.framework.snapshot import Scores

# Small blocks make a look through one cheap, few blocks make finding the best of them cheap; both grow with the square
# root.
SMALLEST = 512
GROUP = 32
"""Blocks counted together."""


class BestRows:
    """An array of integers that knows its maximum.  Negative numbers are never the best."""

    __slots__ = ("values", "_best", "_counts", "_groups", "_maxima", "_rows", "_size", "_total")

    def __init__(self, values: Scores) -> None:
        self.values = values
        self._size = max(SMALLEST, math.isqrt(len(values)) * 2)
        blocks = -(-len(values) // self._size)
        self._maxima = [-1] * blocks
        self._rows: list[list[int]] = [[] for _ in range(blocks)]
        """Of each block the rows that have its maximum, ascending."""
        for block in range(blocks):
            self._look_through(block)
        self._lead()

    @property
    def has_best(self) -> bool:
        return self._best >= 0

    def write(self, row: int, value: int) -> None:
        """Change one number."""
        values, block = self.values, row // self._size
        before = values.item(row)
        if before == value:
            return
        values[row] = value
        best, rows = self._maxima[block], self._rows[block]
        if value > best:
            self._rise(block, row, value)
            return
        if before == best:
            del rows[bisect_left(rows, row)]
            if best == self._best:
                self._count(block, -1)
            if not rows:
                self._look_through(block)
                if not self._total:
                    self._lead()
        elif value == best:
            insort(rows, row)
            if best == self._best:
                self._count(block, 1)

    def _rise(self, block: int, row: int, value: int) -> None:
        """The number of a row is the block's new maximum."""
        self._maxima[block], self._rows[block] = value, [row]
        if value > self._best:
            self._lead()
        elif value == self._best:
            self._count(block, 1)

    def _count(self, block: int, by: int) -> None:
        self._counts[block] += by
        self._groups[block // GROUP] += by
        self._total += by

    def _look_through(self, block: int) -> None:
        start = block * self._size
        part = self.values[start : start + self._size]
        best = part.max()
        rows = (part == best).nonzero()[0]
        rows += start
        self._maxima[block] = best.item()
        self._rows[block] = rows.tolist()

    def _lead(self) -> None:
        """Find the best of all, and how often each block has it."""
        self._best = best = max(self._maxima, default=-1)
        counts = [len(rows) if maximum == best else 0 for maximum, rows in zip(self._maxima, self._rows, strict=True)]
        self._counts = counts
        self._groups = [sum(counts[start : start + GROUP]) for start in range(0, len(counts), GROUP)]
        self._total = sum(self._groups)

    def pick(self, number: int) -> tuple[int, int] | None:
        """The row of one of the best, chosen by ``number``, and how many share that place; None if all are negative."""
        if self._best < 0:
            return None
        left = which_of(self._total, number)
        group = 0
        while left >= (count := self._groups[group]):
            left -= count
            group += 1
        block, counts = group * GROUP, self._counts
        while left >= (count := counts[block]):
            left -= count
            block += 1
        return self._rows[block][left], self._total
