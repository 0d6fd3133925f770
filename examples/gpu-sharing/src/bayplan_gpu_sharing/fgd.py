"""
FGD: put the pod where the fragmentation of free GPUs grows the least, or shrinks the most.

Fragmentation of a node: of its free GPUs, what a typical pod cannot use, on average over the typical pods.  Where one
does not fit at all (or wants no GPU, or another model) that is everything; where it fits, the GPUs with too little left
for its share.

Extension points: PreFilter, Filter, Score, Reserve.
Requeue: as all policies of ``gpu_policy``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pydantic import Field

from bayplan.framework import MAX_SCORE, PluginArgs
from bayplan_gpu_sharing.gpu_columns import GpuColumns, model_mask
from bayplan_gpu_sharing.gpu_policy import GpuPolicy
from bayplan_gpu_sharing.gpu_request import WHOLE, GpuRequest, request_of

Numbers = npt.NDArray[np.int64]
SCALE = 1000
"""So much less fragmentation is worth some 23 points."""


class Shape(PluginArgs):
    """A typical pod, and how typical it is."""

    cpu_milli: int = Field(ge=0)
    gpu_milli: int = Field(ge=0, le=WHOLE)
    gpus: int = Field(ge=0)
    models: str = ""
    share: float = Field(gt=0)


class FGDArgs(PluginArgs):
    typical: list[Shape] = Field(min_length=1)


class FGD(GpuPolicy):
    name = "FGD"
    Args = FGDArgs

    def __init__(self, args=None, handle=None) -> None:
        super().__init__(args, handle)
        if args is None:
            raise ValueError("FGD needs args: typical, a list of the typical pods")
        self._fragments = Fragments(args.typical)
        self._kept: dict[GpuRequest, tuple[Numbers, Numbers]] = {}
        """For each request seen: the scores, and the stamps of the rows they are for."""

    def score(self, state, pod, nodes):
        self.keep_rank(state, nodes)
        columns, request = self.columns(nodes), request_of(pod)
        if len(nodes) != nodes.total_nodes:
            return self._scores(columns, request, self._models(nodes), np.arange(len(nodes))).max(axis=1)
        scores, stamps = self._kept.get(request, (None, None))
        if scores is None or len(scores) != len(nodes):
            scores, stamps = np.zeros(len(nodes), np.int64), np.full(len(nodes), -1, np.int64)
        rows = np.flatnonzero(stamps != columns.stamp)
        scores[rows] = self._scores(columns, request, self._models(nodes), rows).max(axis=1)
        self._kept[request] = scores, columns.stamp.copy()
        return scores.copy()

    def choose(self, pod, request, free, nodes, row):
        """The GPU with the best score; of equals the first."""
        columns = GpuColumns(lambda pod: None)
        columns.free = free[np.newaxis]
        columns.cpu_free = nodes.alloc_cpu_milli[row : row + 1] - nodes.req_cpu_milli[row : row + 1] + request.cpu_milli
        scores = self._scores(columns, request, self._models(nodes)[row : row + 1], np.zeros(1, np.intp))[0]
        return [int(np.argmax(scores))] if scores.max() >= 0 else []

    def _scores(self, columns: GpuColumns, request: GpuRequest, models, rows: Numbers) -> Numbers:
        """For each row what each GPU, or the only choice, is worth; -1 where it has no room."""
        free, cpu_free, reach = columns.free[rows], columns.cpu_free[rows], models[rows]
        before = self._fragments.amount(free, cpu_free, reach)[:, np.newaxis]
        cpu_left = cpu_free - request.cpu_milli
        if not request.is_shared:
            after = self._fragments.amount(_without_whole(free, request.count), cpu_left, reach)[:, np.newaxis]
            return _worth(before - after)
        after = self._fragments.with_share(free, cpu_left, reach, request.milli)
        return np.where(free >= request.milli, _worth(before - after), -1)

    def _models(self, nodes) -> npt.NDArray[np.bool_]:
        """Which typical pod (column) may use the GPUs of which node (row)."""
        held = getattr(self, "_reach", None)
        if held is None or held[0] != nodes.objects_generation or len(held[1]) != len(nodes):
            shapes = self._fragments.shapes
            reach = np.stack([model_mask(nodes, GpuRequest(0, 1, 1, each.models)) for each in shapes], axis=1)
            if len(nodes) != nodes.total_nodes:
                return reach
            held = self._reach = nodes.objects_generation, reach
        return held[1]


class Fragments:
    """How fragmented GPUs are for the typical pods.  Rows are nodes, columns GPUs or typical pods."""

    def __init__(self, typical: list[Shape]) -> None:
        total = sum(each.share for each in typical)
        self.shapes = typical
        self._share = np.array([each.share / total for each in typical])
        self._cpu = np.array([each.cpu_milli for each in typical], np.int64)
        self._milli = np.array([each.gpu_milli for each in typical], np.int64)
        self._gpus = np.array([each.gpus for each in typical], np.int64)

    def amount(self, free: Numbers, cpu_free: Numbers, reach) -> npt.NDArray[np.float64]:
        """The fragmentation of each row."""
        count, small = self._counted(free)
        return self._sum(count, small, free.sum(axis=1)[:, np.newaxis], cpu_free[:, np.newaxis], reach)

    def with_share(self, free: Numbers, cpu_left: Numbers, reach, milli: int) -> npt.NDArray[np.float64]:
        """The same once a share was taken from one GPU: a column for each GPU."""
        count, small = self._counted(free)
        was, left = free[:, :, np.newaxis], free[:, :, np.newaxis] - milli
        count = count[:, np.newaxis] - (was >= self._milli) + (left >= self._milli)
        small = small[:, np.newaxis] - np.where(was < self._milli, was, 0) + np.where(left < self._milli, left, 0)
        total = free.sum(axis=1)[:, np.newaxis, np.newaxis] - milli
        return self._sum(count, small, total, cpu_left[:, np.newaxis, np.newaxis], reach[:, np.newaxis])

    def _counted(self, free: Numbers) -> tuple[Numbers, Numbers]:
        """For each typical pod: how many GPUs have enough for it, and what is free on the others."""
        enough = free[:, :, np.newaxis] >= self._milli
        return enough.sum(axis=1), np.where(enough, 0, free[:, :, np.newaxis]).sum(axis=1)

    def _sum(self, count, small, total, cpu, reach) -> npt.NDArray[np.float64]:
        fits = (cpu >= self._cpu) & (count >= self._gpus) & (self._milli > 0) & reach
        return (np.where(fits, small, total) * self._share).sum(axis=-1)


def _without_whole(free: Numbers, count: int) -> Numbers:
    """The first idle GPUs of each row taken."""
    if not count:
        return free
    idle = free == WHOLE
    return np.where(idle & (np.cumsum(idle, axis=1) <= count), 0, free)


def _worth(gain: npt.NDArray[np.float64]) -> Numbers:
    # Sums of the same parts in another order differ in the last digit, which must not decide.
    return np.trunc(MAX_SCORE / (1 + np.exp(-np.round(gain, 6) / SCALE))).astype(np.int64)
