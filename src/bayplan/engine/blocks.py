"""
The best of many numbers, kept while single numbers change: a maximum and its ties, block by block.

``engine.class_cache`` keeps one number per node here.  Changing one costs its block, picking the best costs a
look at the blocks' maxima, so neither grows with the cluster as a pass over all nodes does.
"""

from __future__ import annotations

import numpy as np

from bayplan.framework.snapshot import Scores

BLOCK = 512


class Blocks:
    """An array of integers that knows its maximum.  Negative numbers are never the best."""

    __slots__ = ("values", "_maxima", "_counts")

    def __init__(self, values: Scores) -> None:
        self.values = values
        blocks = -(-len(values) // BLOCK)
        self._maxima = np.full(blocks, -1, np.int64)
        self._counts = np.zeros(blocks, np.int64)
        for block in range(blocks):
            self._refresh(block)

    def write(self, row: int, value: int) -> None:
        """Change one number."""
        if self.values[row] != value:
            self.values[row] = value
            self._refresh(row // BLOCK)

    def _refresh(self, block: int) -> None:
        part = self.values[block * BLOCK : (block + 1) * BLOCK]
        best = part.max()
        self._maxima[block] = best
        self._counts[block] = np.count_nonzero(part == best)

    def pick(self, number: int) -> tuple[int, int] | None:
        """The row of one of the best, chosen by ``number``, and how many share that place; None if all are negative."""
        if not len(self._maxima):
            return None
        best = self._maxima.max()
        if best < 0:
            return None
        blocks = np.flatnonzero(self._maxima == best)
        counts = self._counts[blocks]
        total = int(counts.sum())
        left = number % total
        for block, count in zip(blocks.tolist(), counts.tolist(), strict=True):
            if left < count:
                part = self.values[block * BLOCK : (block + 1) * BLOCK]
                return block * BLOCK + int(np.flatnonzero(part == best)[left]), total
            left -= count
        raise AssertionError("the counts of the blocks do not add up")
