"""
The GPUs of all nodes as columns: how much of each is free, and what kinds of pods are on the node.

``gpu_policy`` keeps one for its node table.  Rows are worked out from the pods on a node, and only where the node's
``revision`` says that something changed, so a cycle costs one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from bayplan.framework import NodeTable
from bayplan.objects.pod import Pod
from bayplan_gpu_sharing.gpu_request import MODEL, RESOURCE, WHOLE, GpuRequest, indexes_of, request_of

Placed = Callable[[Pod], "tuple[int, ...] | None"]
"""Which GPUs a pod got, if that is remembered."""


class GpuColumns:
    """``free`` has a row for each node and a column for each GPU; what a node does not have is 0."""

    def __init__(self, placed: Placed) -> None:
        self._placed = placed
        self._revision = np.empty(0, np.int64)
        self.free: npt.NDArray[np.int64] = np.empty((0, 0), np.int64)
        self.classes: npt.NDArray[np.int64] = np.empty(0, np.int64)
        """A bit for each class of pods on the node; see ``class_bit``."""
        self.cpu_free: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self.stamp: npt.NDArray[np.int64] = np.empty(0, np.int64)
        """Another number whenever one of the above changed."""
        self._stamps = 0

    def refresh(self, nodes: NodeTable) -> None:
        """Bring the rows up to the table."""
        counts = gpu_counts(nodes)
        width = int(counts.max(initial=0))
        if len(self._revision) != len(nodes) or self.free.shape[1] != width:
            self._revision = np.full(len(nodes), -1, np.int64)
            self.free = np.zeros((len(nodes), width), np.int64)
            self.classes = np.zeros(len(nodes), np.int64)
            self.cpu_free = np.zeros(len(nodes), np.int64)
            self.stamp = np.zeros(len(nodes), np.int64)
        revision = nodes.revision
        for row in np.flatnonzero((revision != self._revision) | (revision < 0)).tolist():
            self._write(row, int(counts[row]), nodes)
        self._revision = revision.copy()

    def free_without(self, nodes: NodeTable, row: int, pod: Pod) -> npt.NDArray[np.int64]:
        """What is free on a node as if this pod were not there."""
        others = (each for each in nodes.pods_at(row) if each.uid != pod.uid)
        return self._free(int(gpu_counts(nodes)[row]), others)[0]

    def _write(self, row: int, count: int, nodes: NodeTable) -> None:
        free, classes = self._free(count, nodes.pods_at(row))
        cpu_free = nodes.alloc_cpu_milli[row] - nodes.req_cpu_milli[row]
        if self.stamp[row] and cpu_free == self.cpu_free[row] and (free == self.free[row, :count]).all():
            return
        self.free[row] = 0
        self.free[row, :count] = free
        self.classes[row], self.cpu_free[row] = classes, cpu_free
        self._stamps += 1
        self.stamp[row] = self._stamps

    def _free(self, count: int, pods: Iterable[Pod]) -> tuple[npt.NDArray[np.int64], int]:
        free = np.full(count, WHOLE, np.int64)
        classes = 0
        unknown: list[GpuRequest] = []
        for pod in pods:
            request = request_of(pod)
            if not request.milli:
                continue
            classes |= class_bit(request)
            indexes = self._placed(pod) or indexes_of(pod)
            if indexes is None or max(indexes) >= count:
                unknown.append(request)
            else:
                free[list(indexes)] -= request.milli
        for request in sorted(unknown, reverse=True):
            free[tightest(free, request)] -= request.milli
        return free, classes


def gpu_counts(nodes: NodeTable) -> npt.NDArray[np.int64]:
    counts: npt.NDArray[np.int64] = nodes.scalar_alloc(RESOURCE) // WHOLE
    return counts


def class_bit(request: GpuRequest) -> int:
    """Pods that share a GPU are one class, and those with N whole ones are a class for each N."""
    return 1 if request.is_shared else 1 << request.count


def tightest(free: npt.NDArray[np.int64], request: GpuRequest) -> list[int]:
    """The GPUs with the least free that is enough; of equals the first.  Fewer than asked for if there is no room."""
    order = np.argsort(free, kind="stable")
    return order[free[order] >= request.milli][: request.count].tolist()


def model_mask(nodes: NodeTable, request: GpuRequest) -> npt.NDArray[np.bool_]:
    """Which nodes have a model of GPU that will do."""
    column = nodes.label(MODEL)
    good = np.array([*(request.takes(value) for value in column.values), request.takes("")], np.bool_)
    return good[column.ids]
