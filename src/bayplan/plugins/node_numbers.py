"""
A number for each node name, so that a plugin can keep arrays about nodes that outlive their rows in the table.

Rows move when nodes come and go; numbers stay.  Used by ``csi_nodes`` and ``per_node``.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from bayplan.framework import NodeTable
from bayplan.objects.node import Node

_serial = itertools.count()


class NodeNumbers:
    """A number for each node name, and the column of them."""

    def __init__(self) -> None:
        # The table keeps a derived column under its name, and each of us numbers nodes in its own order.
        self._column = f"node numbers {next(_serial)}"
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def find(self, name: str) -> int | None:
        """The number of a node that has one already."""
        return self._numbers.get(name)

    def rows(self, nodes: NodeTable) -> npt.NDArray[np.int64]:
        """The number of each row's node."""
        return nodes.derive(self._column, self._of_node, np.int64)

    def _of_node(self, node: Node) -> int:
        return self.of(node.name)
