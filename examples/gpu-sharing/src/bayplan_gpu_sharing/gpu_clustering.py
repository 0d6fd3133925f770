"""
GpuClustering: pods of one class together.  Those that share a GPU are a class, and those with N GPUs one for each N.

Extension points: PreFilter, Filter, Score, Reserve.
Requeue: as all policies of ``gpu_policy``.
"""

from __future__ import annotations

import numpy as np

from bayplan_gpu_sharing.dot_prod import MOST_GPU_MILLI
from bayplan_gpu_sharing.gpu_columns import class_bit
from bayplan_gpu_sharing.gpu_policy import GpuPolicy
from bayplan_gpu_sharing.gpu_request import request_of

ONLY_ITS_OWN, AMONG_OTHERS, NOBODY, ONLY_OTHERS = 75, 50, 25, 0
"""What a node is worth by the classes of pods on it; up to 25 more for how full its GPUs are."""
FOR_FULLNESS = 25


class GpuClustering(GpuPolicy):
    name = "GpuClustering"

    def score(self, state, pod, nodes):
        self.keep_rank(state, nodes)
        columns, request = self.columns(nodes), request_of(pod)
        if not request.milli:
            return np.zeros(len(nodes), np.int64)
        own, classes = class_bit(request), columns.classes
        worth = np.full(len(nodes), ONLY_OTHERS)
        worth[(classes & own) != 0] = AMONG_OTHERS
        worth[classes == own] = ONLY_ITS_OWN
        worth[classes == 0] = NOBODY
        used = np.maximum(MOST_GPU_MILLI - columns.free.sum(axis=1), 0)
        return FOR_FULLNESS * used // MOST_GPU_MILLI + worth
