"""
Sums over topology domains: one number per value of each topology key that matters to a pod.

``filtering`` keeps pods in them and ``scoring`` weights.  A key's array has the layout of
``LabelColumn.zeros()``: the last slot is read by nodes that lack the label, and stays 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.framework import NodeTable, NodeView, PodMatcher


class SoughtPods(NamedTuple):
    """An affinity term of the pod to be placed, its namespaces already looked up."""

    matcher: PodMatcher
    topology_key: str


class Domains:
    """Topology key -> one sum per value of that label."""

    __slots__ = ("_sums",)

    def __init__(self) -> None:
        self._sums: dict[str, npt.NDArray[np.int64]] = {}

    def __iter__(self) -> Iterator[tuple[str, npt.NDArray[np.int64]]]:
        return iter(self._sums.items())

    @property
    def is_empty(self) -> bool:
        """No domain holds anything."""
        return not any(np.logical_or.reduce(sums) for sums in self._sums.values())

    def of(self, key: str, node: NodeView) -> int:
        """The sum of a node's domain; 0 if the node is in none."""
        sums = self._sums.get(key)
        return 0 if sums is None else int(sums[node.label_id(key)])

    def add(self, nodes: NodeTable, key: str, counts: npt.NDArray[np.int32], weight: int = 1) -> bool:
        """Add counts per node; gives whether any node of a domain had one."""
        column = nodes.label(key)
        sums = nodes.summed(counts, column.ids, len(column.values) + 1)
        known = self._sums.get(key)
        weighed = sums if weight == 1 else sums * weight
        self._sums[key] = weighed if known is None else known + weighed
        return bool(np.logical_or.reduce(sums))

    def move(self, key: str, node: NodeView, by: int) -> None:
        """Follow one pod on one node; a node outside all domains changes nothing."""
        domain = node.label_id(key)
        if domain < 0:
            return
        sums = self._sums.get(key)
        if sums is None:
            sums = self._sums[key] = node.table.label(key).zeros()
        sums[domain] += by

    def clone(self) -> Domains:
        copy = Domains()
        copy._sums = {key: sums.copy() for key, sums in self._sums.items()}
        return copy
