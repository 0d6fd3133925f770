"""
Random: a random node that has room, and on it a random GPU.

Extension points: PreFilter, Filter, Score, Reserve.
Requeue: as all policies of ``gpu_policy``.
"""

from __future__ import annotations

import numpy as np

from bayplan.framework import MAX_SCORE
from bayplan_gpu_sharing.gpu_policy import GpuPolicy, draw


class Random(GpuPolicy):
    name = "Random"

    def score(self, state, pod, nodes):
        return np.zeros(len(nodes), np.int64)

    def normalize(self, state, pod, scores, feasible):
        normal = np.zeros(len(scores), np.int64)
        normal[draw(self._seed, "node", pod.key) % len(scores)] = MAX_SCORE
        return normal

    def choose(self, pod, request, free, nodes, row):
        enough = np.flatnonzero(free >= request.milli)
        return [int(enough[draw(self._seed, "gpu", pod.key) % len(enough)])] if len(enough) else []

    @property
    def _seed(self) -> int:
        return self.handle.seed if self.handle else 0
