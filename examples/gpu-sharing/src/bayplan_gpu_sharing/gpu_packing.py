"""
GpuPacking: first GPUs that are shared already, then free ones of nodes in use, idle nodes last.

Extension points: PreFilter, Filter, Score, Reserve.
Requeue: as all policies of ``gpu_policy``.
"""

from __future__ import annotations

import numpy as np

from bayplan.framework import MAX_SCORE
from bayplan_gpu_sharing.gpu_columns import gpu_counts
from bayplan_gpu_sharing.gpu_policy import GpuPolicy
from bayplan_gpu_sharing.gpu_request import WHOLE, request_of

HALF, THIRD = MAX_SCORE // 2, MAX_SCORE // 3


class GpuPacking(GpuPolicy):
    name = "GpuPacking"

    def score(self, state, pod, nodes):
        self.keep_rank(state, nodes)
        columns, request = self.columns(nodes), request_of(pod)
        if not request.milli:
            return np.zeros(len(nodes), np.int64)
        # The GPUs that the pod would get: the tightest that have enough, so the first of these in ascending order.
        free = np.sort(columns.free, axis=1)
        enough = free >= request.milli
        taken = enough & (np.cumsum(enough, axis=1) <= request.count)
        idle_taken = (taken & (free == WHOLE)).sum(axis=1)
        percent = np.where(taken, free * 100 // WHOLE, 0).sum(axis=1)
        shared = np.maximum(MAX_SCORE - percent // 10, HALF)
        idle = (free == WHOLE).sum(axis=1)
        scores = np.where(idle_taken > 0, np.maximum(HALF - idle_taken, THIRD), shared)
        return np.where(idle == gpu_counts(nodes), np.maximum(THIRD - idle, idle), scores)
