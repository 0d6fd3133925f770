"""
BestFit: prefer nodes on which the least CPU and GPU are left over.

Extension points: PreFilter, Filter, Score, Reserve.
Requeue: as all policies of ``gpu_policy``.
"""

from __future__ import annotations

import numpy as np

from bayplan.framework import MAX_SCORE
from bayplan_gpu_sharing.dot_prod import MOST_CPU_MILLI, MOST_GPU_MILLI
from bayplan_gpu_sharing.gpu_policy import GpuPolicy
from bayplan_gpu_sharing.gpu_request import request_of


class BestFit(GpuPolicy):
    name = "BestFit"

    def score(self, state, pod, nodes):
        self.keep_rank(state, nodes)
        columns, request = self.columns(nodes), request_of(pod)
        left = (columns.cpu_free - request.cpu_milli) / MOST_CPU_MILLI * 0.5
        left = left + (columns.free.sum(axis=1) - request.total) / MOST_GPU_MILLI * 0.5
        return np.trunc((1.0 - left) * MAX_SCORE).astype(np.int64)

    def normalize(self, state, pod, scores, feasible):
        """The whole range from 0 to 100, then as every policy."""
        lowest, highest = int(scores.min()), int(scores.max())
        spread = (scores - lowest) * MAX_SCORE // max(highest - lowest, 1)
        return super().normalize(state, pod, spread, feasible)
