"""
Where a resource is found by name: one way to ask a node or a whole table for what is there and what is taken.

The resource plugins (NodeResourcesFit, NodeResourcesBalancedAllocation) ask here.  Given a ``NodeTable`` the
answer is a column, given a ``NodeView`` a number; an unknown resource is 0 everywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.framework import Mask, NodeTable, NodeView
from bayplan.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY

Place: TypeAlias = "NodeTable | NodeView"

_ALLOCATABLE = {CPU: "alloc_cpu_milli", MEMORY: "alloc_mem_bytes", EPHEMERAL_STORAGE: "alloc_eph_bytes"}
_REQUESTED = {CPU: "req_cpu_milli", MEMORY: "req_mem_bytes", EPHEMERAL_STORAGE: "req_eph_bytes"}
_NONZERO = {CPU: "nz_cpu_milli", MEMORY: "nz_mem_bytes"}


def allocatable(place: Place, resource: str) -> Any:
    """What is there for pods."""
    column = _ALLOCATABLE.get(resource)
    return place.scalar_alloc(resource) if column is None else getattr(place, column)


def requested(place: Place, resource: str) -> Any:
    """What the pods there request."""
    column = _REQUESTED.get(resource)
    return place.scalar_req(resource) if column is None else getattr(place, column)


def counted(place: Place, resource: str) -> Any:
    """The same for scores, where CPU and memory that containers do not request count with a default."""
    column = _NONZERO.get(resource)
    return requested(place, resource) if column is None else getattr(place, column)


class Capacity(NamedTuple):
    """A resource on all nodes, to divide by."""

    amounts: npt.NDArray[np.int64]
    """1 where a node has none of it."""
    floats: npt.NDArray[np.float64]
    there: Mask | bool
    """Which nodes have it; ``True`` when all do."""


class Capacities:
    """What nodes have of each resource, worked out once while no node object changes."""

    def __init__(self) -> None:
        self._nodes: NodeTable | None = None
        self._generation = -1
        self._known: dict[str, Capacity] = {}

    def of(self, nodes: NodeTable, resource: str) -> Capacity:
        if self._nodes is not nodes or self._generation != nodes.objects_generation:
            self._nodes, self._generation, self._known = nodes, nodes.objects_generation, {}
        known = self._known.get(resource)
        if known is None:
            total = allocatable(nodes, resource)
            there: Mask | bool = True
            if len(total) and total.min() <= 0:
                there = total > 0
                total = np.maximum(total, 1)
            known = self._known[resource] = Capacity(total, total.astype(np.float64), there)
        return known
