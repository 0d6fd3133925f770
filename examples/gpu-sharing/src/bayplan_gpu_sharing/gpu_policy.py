"""
What the six policies share: pods go where a GPU has room for their share, and ties are broken in one fixed order.

A policy says how good nodes are (``score``) and, if it minds, which GPU of a node a pod that shares gets (``choose``).

Extension points: PreFilter, Filter, Score, Reserve.
Requeue: a pod went, or a node came or changed in what it has.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from bayplan.framework import (
    MAX_SCORE,
    Change,
    Code,
    CycleState,
    FilterPlugin,
    Key,
    NodeTable,
    On,
    PreFilterPlugin,
    Reason,
    ReservePlugin,
    Rows,
    ScorePlugin,
    Scores,
    Verdict,
    unresolvable,
    unschedulable,
)
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan_gpu_sharing.gpu_columns import GpuColumns, gpu_counts, model_mask, tightest
from bayplan_gpu_sharing.gpu_request import GpuRequest, request_of

OTHER_MODEL = Reason(Code.UNRESOLVABLE, "node(s) had no GPU of a model that the pod can use")
NO_ROOM = Reason(Code.UNSCHEDULABLE, "node(s) had too little free on each GPU")

REQUEST: Key[GpuRequest] = Key("GpuSharing/request")
RANK: Key[npt.NDArray[np.int64]] = Key("GpuSharing/rank")
BEFORE: Key[tuple[int, ...] | None] = Key("GpuSharing/before")


class GpuPolicy(PreFilterPlugin, FilterPlugin, ScorePlugin, ReservePlugin):
    """Filter and bookkeeping of shared GPUs; subclasses score."""

    reasons = (OTHER_MODEL, NO_ROOM)

    def __init__(self, args=None, handle=None) -> None:
        super().__init__(args, handle)
        self._placed: dict[str, tuple[int, ...]] = {}
        self._columns = GpuColumns(lambda pod: self._placed.get(pod.uid))

    def requeue_on(self):
        changed = Change.ADDED | Change.ALLOCATABLE | Change.LABEL
        return On("Pod", Change.DELETED), On("Node", changed)

    # -- filtering --

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        try:
            state[REQUEST] = request_of(pod)
        except ValueError as error:
            return unresolvable(f"the pod {error}")
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable):
        request = state[REQUEST]
        codes = np.zeros(len(nodes), np.uint8)
        if request.milli:
            columns = self.columns(nodes)
            codes[(columns.free >= request.milli).sum(axis=1) < request.count] = self.code(NO_ROOM)
            if request.models:
                codes[~model_mask(nodes, request)] = self.code(OTHER_MODEL)
        return codes

    # -- scoring --

    def normalize(self, state: CycleState, pod: Pod, scores: Scores, feasible: Rows) -> Scores:
        """One node gets 100 and the others less: of the best, the first in an order that stands for the whole run."""
        best = np.flatnonzero(scores == scores.max())
        normal = np.minimum(scores, MAX_SCORE - 1)
        normal[best[np.argmin(state[RANK][feasible[best]])]] = MAX_SCORE
        return normal

    def columns(self, nodes: NodeTable) -> GpuColumns:
        """The GPUs of the table's nodes.  Those of all nodes are kept, those of a single one are worked out."""
        columns = self._columns
        if len(nodes) != nodes.total_nodes:
            columns = GpuColumns(lambda pod: self._placed.get(pod.uid))
        columns.refresh(nodes)
        return columns

    def keep_rank(self, state: CycleState, nodes: NodeTable) -> None:
        """Each node's place in the fixed order, for ``normalize``."""
        seed = self.handle.seed if self.handle else 0
        state[RANK] = nodes.derive(f"GpuSharing/rank/{seed}", lambda node: _rank(seed, node), np.int64)

    # -- taking GPUs --

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        request = request_of(pod)
        if not request.milli:
            return None
        nodes = self.handle.snapshot().nodes
        row = nodes.row_of(node_name)
        free = self._columns.free_without(nodes, row, pod)
        indexes = self.choose(pod, request, free, nodes, row) if request.is_shared else tightest(free, request)
        if len(indexes) < request.count:
            return unschedulable(NO_ROOM.message)
        state[BEFORE] = self._placed.get(pod.uid)
        self._placed[pod.uid] = tuple(indexes)
        return None

    def choose(self, pod: Pod, request: GpuRequest, free, nodes: NodeTable, row: int) -> list[int]:
        """Which GPU of the node a pod that shares gets."""
        return tightest(free, request)

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        before = state.get(BEFORE)
        if before is not None:
            self._placed[pod.uid] = before
        else:
            self._placed.pop(pod.uid, None)

    def tell(self, pod: Pod, node) -> list[str]:
        table = node.as_table()
        free = self.columns(table).free[0, : int(gpu_counts(table)[0])]
        return [f"free on its GPUs: {', '.join(map(str, free.tolist())) or 'it has none'}"]


def draw(*parts: object) -> int:
    """A number of 63 bits that is always the same for the same parts."""
    digest = blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def _rank(seed: int, node: Node) -> int:
    return draw(seed, node.name)
