"""
The best of many numbers, kept while single numbers change: a maximum and its ties, block by block.

``engine.class_entry`` keeps one number per node here.  A block remembers which of its rows are best, so changing a
number and picking one of the best cost next to nothing until the last of a block's best is gone, which costs a look
through that block.  Neither grows with the cluster as a pass over all nodes does.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort

from bayplan.framework.snapshot import Scores

# Small blocks make a look through one cheap, few blocks make a pick cheap; past 64 blocks both grow with the square
# root.
SMALLEST = 512


class Blocks:
    """An array of integers that knows its maximum.  Negative numbers are never the best."""

    __slots__ = ("values", "_best", "_leaders", "_maxima", "_rows", "_size", "_total")

    def __init__(self, values: Scores) -> None:
        self.values = values
        self._size = max(SMALLEST, math.isqrt(len(values)) * 8)
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
            self._maxima[block], self._rows[block] = value, [row]
            self._lead()
            return
        if before == best:
            del rows[bisect_left(rows, row)]
            if best == self._best:
                self._total -= 1
            if not rows:
                self._look_through(block)
                self._lead()
        elif value == best:
            insort(rows, row)
            if best == self._best:
                self._total += 1

    def _look_through(self, block: int) -> None:
        start = block * self._size
        part = self.values[start : start + self._size]
        best = part.max()
        rows = (part == best).nonzero()[0]
        rows += start
        self._maxima[block] = best.item()
        self._rows[block] = rows.tolist()

    def _lead(self) -> None:
        """Find the blocks that hold the best of all."""
        maxima = self._maxima
        self._best = best = max(maxima, default=-1)
        self._leaders = [block for block, maximum in enumerate(maxima) if maximum == best]
        self._total = sum(len(self._rows[block]) for block in self._leaders)

    def pick(self, number: int) -> tuple[int, int] | None:
        """The row of one of the best, chosen by ``number``, and how many share that place; None if all are negative."""
        if self._best < 0:
            return None
        left = number % self._total
        for block in self._leaders:
            rows = self._rows[block]
            if left < len(rows):
                return rows[left], self._total
            left -= len(rows)
        raise AssertionError("the counts of the blocks do not add up")
