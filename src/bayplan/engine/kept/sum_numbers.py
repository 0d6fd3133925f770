"""
Rows that look alike in numbers share a number: what a node has, and what the pods on it add up to.

Most nodes of a cluster are of a few sizes, and most pods of a few templates, so the same sums come up again and
again.  What a plugin answers from the sums alone (``Depends.AMOUNTS``) is then asked once per sum, not once per
change.  ``engine.table`` moves the numbers with the pods, ``engine.kept.class_answers`` keeps answers by them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import count
from typing import TypeAlias

import numpy as np

from bayplan.engine.columns import Columns

# Clusters without any two nodes alike must not fill memory with sums that never come again.
MAX_SUMS = 1 << 16
_UNKNOWN = -1

Sums: TypeAlias = tuple[Hashable, ...]


class SumNumbers:
    """A number per row; equal numbers stand for equal sums, and no number is used twice for different ones."""

    def __init__(self, columns: Columns, read: Callable[[int], Sums]) -> None:
        self._col = columns.make(np.int64, fill=_UNKNOWN)
        self._read = read
        self._numbers: dict[Sums, int] = {}
        self._steps: dict[tuple[int, Sums, int], int] = {}
        self._unused = count()

    def fork(self, columns: Columns, read: Callable[[int], Sums]) -> SumNumbers:
        """The rows of a fork, with the same numbers for the same sums."""
        fork = SumNumbers.__new__(SumNumbers)
        fork._col, fork._read = columns.share(self._col), read
        fork._numbers, fork._steps, fork._unused = self._numbers, self._steps, self._unused
        return fork

    def of(self, row: int) -> int:
        """The number of the row's sums."""
        number: int = self._col.data.item(row)
        if number == _UNKNOWN:
            number = self._number(row)
        return number

    def step(self, row: int, change: Sums, sign: int) -> None:
        """The row's sums have moved by those of one pod; the same step from the same place leads to the same sums."""
        number = self._col.own().item(row)
        if number == _UNKNOWN:
            return
        step = (number, change, sign)
        then = self._steps.get(step)
        if then is None:
            then = self._steps[step] = self._number(row)
        self._col.data[row] = then

    def ahead(self, row: int, change: Sums) -> int | None:
        """The number of the row's sums with one more pod, if that step was made before."""
        return self._steps.get((self._col.data.item(row), change, 1))

    def write(self, row: int, number: int) -> None:
        """The row's sums are known by their number; the columns are to follow."""
        self._col.own()[row] = number

    def begin(self, row: int, sums: Sums) -> None:
        """A row whose sums are known without reading them: most nodes begin empty."""
        self._col.own()[row] = self._number_of(sums)

    def forget(self, row: int) -> None:
        """The row's sums have changed in another way."""
        self._col.own()[row] = _UNKNOWN

    def _number(self, row: int) -> int:
        number = self._number_of(self._read(row))
        self._col.own()[row] = number
        return number

    def _number_of(self, sums: Sums) -> int:
        number = self._numbers.get(sums)
        if number is None:
            if len(self._numbers) >= MAX_SUMS or len(self._steps) >= 4 * MAX_SUMS:
                # Rows keep the numbers they have; the same sums may get another one now, which costs a question.
                self._numbers.clear()
                self._steps.clear()
            number = self._numbers[sums] = next(self._unused)
        return number
