"""
The best of many numbers, kept while single numbers change: a maximum and its ties, block by block.

``engine.class_cache`` keeps one number per node here.  Changing one costs its block, picking the best costs a
look at the blocks' maxima, so neither grows with the cluster as a pass over all nodes does.
"""

from __future__ import annotations

import math

import numpy as np

from bayplan.framework.snapshot import Scores

# Small blocks make a change cheap, few blocks make a pick cheap; past 64 blocks both grow with the square root.
SMALLEST = 512


class Blocks:
    """An array of integers that knows its maximum.  Negative numbers are never the best."""

    __slots__ = ("values", "_size", "_maxima", "_counts")

    def __init__(self, values: Scores) -> None:
        self.values = values
        self._size = max(SMALLEST, math.isqrt(len(values)) * 8)
        blocks = -(-len(values) // self._size)
        self._maxima = [-1] * blocks
        self._counts = [0] * blocks
        for block in range(blocks):
            self._refresh(block)

    def write(self, row: int, value: int) -> None:
        """Change one number.  Its block is looked through only if the last of its best is gone."""
        values, block = self.values, row // self._size
        before = values.item(row)
        if before == value:
            return
        values[row] = value
        best = self._maxima[block]
        if before == best:
            self._counts[block] -= 1
        if value == best:
            self._counts[block] += 1
        elif value > best:
            self._maxima[block], self._counts[block] = value, 1
        elif not self._counts[block]:
            self._refresh(block)

    def _refresh(self, block: int) -> None:
        part = self.values[block * self._size : (block + 1) * self._size]
        best = int(part.max())
        self._maxima[block] = best
        self._counts[block] = int(np.count_nonzero(part == best))

    def pick(self, number: int) -> tuple[int, int] | None:
        """The row of one of the best, chosen by ``number``, and how many share that place; None if all are negative."""
        maxima, counts = self._maxima, self._counts
        best = max(maxima, default=-1)
        if best < 0:
            return None
        blocks = [block for block, maximum in enumerate(maxima) if maximum == best]
        total = 0
        for block in blocks:
            total += counts[block]
        left = number % total
        for block in blocks:
            if left < counts[block]:
                start = block * self._size
                part = self.values[start : start + self._size]
                return start + (part == best).nonzero()[0].item(left), total
            left -= counts[block]
        raise AssertionError("the counts of the blocks do not add up")
