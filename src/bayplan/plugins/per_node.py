"""
Numbers that a plugin works out from a node and the pods on it, kept until something about the node changes.

``NodeTable.derive`` does the same for what depends on the node object alone, and is the first choice.  The first
question works out every node, later ones those whose ``revision`` has moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.framework import NodeTable, NodeView
from bayplan.plugins.node_numbers import NodeNumbers

Numbers: TypeAlias = "npt.NDArray[np.float64]"

_FIRST_CAPACITY = 64
_UNKNOWN = -2


class PerNode:
    """``width`` numbers for each node."""

    def __init__(self, width: int, work_out: Callable[[NodeView], Sequence[float]]) -> None:
        self._work_out = work_out
        self._numbers = NodeNumbers()
        self._values: Numbers = np.zeros((_FIRST_CAPACITY, width))
        self._revisions = np.full(_FIRST_CAPACITY, _UNKNOWN, np.int64)

    def of_all(self, nodes: NodeTable) -> Numbers:
        """One line of numbers for each row of the table."""
        slots = self._numbers.rows(nodes)
        if len(self._numbers) > len(self._revisions):
            self._grow()
        for row in np.flatnonzero(self._revisions[slots] != nodes.revision).tolist():
            slot = int(slots[row])
            self._values[slot] = self._work_out(nodes.node(row))
            # An imagined node (-1) is worked out every time, and never taken for the real one.
            self._revisions[slot] = nodes.revision[row] if nodes.revision[row] >= 0 else _UNKNOWN
        values: Numbers = self._values[slots]
        return values

    def of_one(self, node: NodeView) -> Sequence[float]:
        """The same for one node, real or imagined."""
        return self._work_out(node)

    def _grow(self) -> None:
        more = 2 * len(self._numbers) - len(self._revisions)
        self._values = np.concatenate((self._values, np.zeros((more, self._values.shape[1]))))
        self._revisions = np.concatenate((self._revisions, np.full(more, _UNKNOWN, np.int64)))
