"""
Where a resource is found by name: one way to ask a node or a whole table for what is there and what is taken.

The resource plugins (NodeResourcesFit, NodeResourcesBalancedAllocation) ask here.  Given a ``NodeTable`` the
answer is a column, given a ``NodeView`` a number; an unknown resource is 0 everywhere.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from bayplan.framework import NodeTable, NodeView
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
