"""
Nodes that are imagined: one node with pods taken away or added, and a table that shows a single node.

Preemption and nominated pods ask "would it fit if …?".  ``WhatIfNode`` answers without touching the
cluster: it reads through to the real row and keeps its own copy of what the imagined pods change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bayplan.framework.snapshot import (
    COLUMNS,
    Column,
    ImageState,
    LabelColumn,
    NodeTable,
    NodeView,
    PodMatcher,
    TermColumn,
    TermKind,
    read_only,
)
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod


class WhatIfNode(NodeView):
    """A node on which pods can be imagined away or added."""

    __slots__ = ("_pods", "_changed", "_scalars")

    def __init__(self, node: NodeView) -> None:
        super().__init__(node.table, node.row)
        self._pods: dict[str, Pod] = {pod.uid: pod for pod in node.pods}
        base = node if isinstance(node, WhatIfNode) else None
        self._changed: dict[str, int] = dict(base._changed) if base else {}
        self._scalars: dict[str, int] = dict(base._scalars) if base else {}

    @property
    def pods(self) -> Iterable[Pod]:
        return self._pods.values()

    def scalar_req(self, resource: str) -> int:
        known = self._scalars.get(resource)
        return super().scalar_req(resource) if known is None else known

    def add_pod(self, pod: Pod) -> None:
        """Imagine a pod here."""
        self._pods[pod.uid] = pod
        self._move(pod, 1)

    def remove_pod(self, pod: Pod) -> None:
        """Imagine a pod gone."""
        del self._pods[pod.uid]
        self._move(pod, -1)

    def _move(self, pod: Pod, sign: int) -> None:
        accounted = pod.accounted
        cpu, memory = pod.nonzero
        deltas = {
            "req_cpu_milli": accounted.cpu_milli,
            "req_mem_bytes": accounted.memory_bytes,
            "req_eph_bytes": accounted.ephemeral_bytes,
            "pods_count": 1,
            "nz_cpu_milli": cpu,
            "nz_mem_bytes": memory,
            "attachable_count": pod.attachable_count,
        }
        for column, amount in deltas.items():
            self._changed[column] = getattr(self, column) + sign * amount
        for resource, amount in accounted.scalars.items():
            self._scalars[resource] = self.scalar_req(resource) + sign * amount


def _imagined(column: str) -> property:
    """The number as changed by imagined pods, else the real one."""
    real = getattr(NodeView, column).fget

    def read(node: WhatIfNode) -> Any:
        changed = node._changed.get(column)
        return real(node) if changed is None else changed

    return property(read)


for _column in (
    "req_cpu_milli", "req_mem_bytes", "req_eph_bytes", "pods_count", "nz_cpu_milli", "nz_mem_bytes", "attachable_count",
):  # fmt: skip
    setattr(WhatIfNode, _column, _imagined(_column))


class OneNodeTable(NodeTable):
    """
    A table of one node, real or imagined, so that all-nodes forms can judge it.

    ``terms`` are those of the real pods: whoever reads them follows imagined pods by ``add_pod``/``remove_pod``.
    """

    def __init__(self, node: NodeView) -> None:
        self._node = node
        whole = node.table
        self.names = [node.name]
        self.total_nodes = whole.total_nodes
        self.objects_generation = whole.objects_generation
        self.taint_sets = whole.taint_sets
        for column, dtype in COLUMNS.items():
            setattr(self, column, _one(getattr(node, column), dtype))
        self.revision = _one(-1 if isinstance(node, WhatIfNode) else whole.revision[node.row], np.int64)

    def row_of(self, name: str) -> int | None:
        return 0 if name == self._node.name else None

    def node(self, row: int) -> NodeView:
        return self._node

    def object_at(self, row: int) -> Node:
        return self._node.object

    def pods_at(self, row: int) -> Iterable[Pod]:
        return self._node.pods

    def label(self, key: str) -> LabelColumn:
        whole = self._node.table.label(key)
        return LabelColumn(key, self._slice(whole.ids), whole.values, whole.id_of)

    def scalar_alloc(self, resource: str) -> npt.NDArray[np.int64]:
        return _one(self._node.scalar_alloc(resource), np.int64)

    def scalar_req(self, resource: str) -> npt.NDArray[np.int64]:
        return _one(self._node.scalar_req(resource), np.int64)

    def derive(self, name: str, of: Callable[[Node], Any], dtype: type[np.generic]) -> Column:
        return self._slice(self._node.table.derive(name, of, dtype))

    def image(self, name: str) -> ImageState | None:
        whole = self._node.table.image(name)
        if whole is None:
            return None
        rows = np.flatnonzero(whole.rows[whole.rows == self._node.row] == self._node.row)
        return ImageState(whole.size_bytes, whole.num_nodes, rows)

    def port_users(self, protocol: str, port: int) -> Iterable[tuple[int, str]]:
        for used in self._node.host_ports:
            if used.protocol == protocol and used.port == port:
                yield 0, used.ip

    def storage_users(self, key: tuple[str, ...]) -> Iterable[tuple[int, Pod]]:
        return ((0, pod) for pod in self._node.pods if key in pod.storage_keys)

    def pods_of(self, kind: str, namespace: str, name: str) -> Iterable[tuple[int, Pod]]:
        owner = kind, namespace, name
        return ((0, pod) for pod in self._node.pods if owner in pod.owner_keys)

    def matching_pods(self, *all_of: PodMatcher, skip_terminating: bool = False) -> npt.NDArray[np.int32]:
        count = sum(
            1
            for pod in self._node.pods
            if all(matcher.matches(pod) for matcher in all_of) and not (skip_terminating and pod.is_terminating)
        )
        return _one(count, np.int32)

    def terms(self, kind: TermKind, pod: Pod) -> Sequence[TermColumn]:
        whole = self._node.table.terms(kind, pod)
        return [TermColumn(term.topology_key, term.weight, self._slice(term.counts)) for term in whole]

    def _slice(self, column: Column) -> Column:
        row = self._node.row
        return column[row : row + 1]


def _one(value: Any, dtype: type[np.generic]) -> Column:
    """A column of one row, which cannot be written."""
    return read_only(np.array([value], dtype))
