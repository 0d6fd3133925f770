"""
DotProd: prefer nodes of whose free CPU and GPUs the pod's request is the least aligned part.

The product of the two vectors, each part as a share of the largest node, is to be small.

Extension points: PreFilter, Filter, Score, Reserve.
Requeue: as all policies of ``gpu_policy``.
"""

from __future__ import annotations

import numpy as np

from bayplan.framework import MAX_SCORE
from bayplan_gpu_sharing.gpu_policy import GpuPolicy
from bayplan_gpu_sharing.gpu_request import request_of

MOST_CPU_MILLI = 128_000
MOST_GPU_MILLI = 8_000
"""What the largest node of the published cluster has."""


class DotProd(GpuPolicy):
    name = "DotProd"

    def score(self, state, pod, nodes):
        self.keep_rank(state, nodes)
        columns, request = self.columns(nodes), request_of(pod)
        product = (columns.cpu_free / MOST_CPU_MILLI) * (request.cpu_milli / MOST_CPU_MILLI)
        product = product + (columns.free.sum(axis=1) / MOST_GPU_MILLI) * (request.total / MOST_GPU_MILLI)
        scores = MAX_SCORE * (1 - product / 2)
        return np.clip(np.trunc(scores), 0, MAX_SCORE).astype(np.int64)
