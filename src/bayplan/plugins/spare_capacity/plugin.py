"""
SpareCapacity: pods of the class ``spare`` go where guaranteed pods leave idle what they asked for.

Each node has a second ledger, an annotation that the controller of spare capacity keeps.  A spare pod fits if what it
declares, with all that is declared on the node already, is within that ledger, CPU and memory alike; on the emptiest
ledger it fits best.  A ledger whose load is too old is closed.  Other pods are not looked at, and nothing here counts
among requests: the two ledgers never touch.  Profiles with this plugin have NodeResourcesFit ignore the resources of
the group ``spare.bayplan.io``.

Extension points: PreFilter, Filter, PreScore, Score.
Requeue: a spare pod left its node; a node was added or its ledger grew or was opened again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from bayplan.framework import (
    MAX_SCORE,
    MIN_SCORE,
    SKIP,
    Change,
    Code,
    Codes,
    CycleState,
    Depends,
    FilterPlugin,
    Handle,
    NodeTable,
    NodeView,
    On,
    PodTemplate,
    PreFilterPlugin,
    PreScorePlugin,
    Promise,
    Reason,
    Rows,
    ScorePlugin,
    Scores,
    Verdict,
    unresolvable,
)
from bayplan.objects import spare
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.spare import CPU_MILLI, LEDGER, MEMORY_MIB, MIB, Declared, Ledger
from bayplan.objects.third_party.crane_annotations import is_good
from bayplan.plugins.spare_capacity import text
from bayplan.plugins.spare_capacity.args import SpareCapacityArgs

NO_LEDGER = Reason(Code.UNRESOLVABLE, "node(s) offer no spare capacity")
CLOSED = Reason(Code.UNRESOLVABLE, "node(s) closed their spare capacity: their load is not known")
SHORT_OF_CPU = Reason(Code.UNSCHEDULABLE, "node(s) had too little spare cpu")
SHORT_OF_MEMORY = Reason(Code.UNSCHEDULABLE, "node(s) had too little spare memory")
SHORT_OF_BOTH = Reason(Code.UNSCHEDULABLE, "node(s) had too little spare cpu and memory")


class SpareCapacity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Pods of the class ``spare`` go where guaranteed pods leave idle what they asked for."""

    name = "SpareCapacity"
    Args = SpareCapacityArgs
    reasons = (NO_LEDGER, CLOSED, SHORT_OF_CPU, SHORT_OF_MEMORY, SHORT_OF_BOTH)

    # A ledger closes by the mere passing of time, so no answer is kept.
    def __init__(self, args: Any = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        settings = cast(SpareCapacityArgs, args or SpareCapacityArgs())
        self.close_after_s = settings.close_after
        self._now: Callable[[], float] = handle.clock.now if handle is not None else lambda: 0.0

    def requeue_on(self) -> tuple[On, ...]:
        return (
            On("Pod", Change.DELETED, _spare_pod_left),
            On("Node", Change.ADDED | Change.ANNOTATION, self._has_more),
        )

    def promise(self, template: PodTemplate) -> Promise | None:
        """Ledgers grow old, so nothing is promised for spare pods; it skips all others."""
        return None if spare.is_spare(template) else Promise(key=(), filter=Depends.OBJECT, score=Depends.OBJECT)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        if not spare.is_spare(pod):
            return SKIP
        mistake = spare.mistake_in(pod)
        return None if mistake is None else unresolvable(mistake)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> Verdict:
        return None if spare.is_spare(pod) else SKIP

    # -- one node --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        declared = spare.declared(pod)
        if declared is None:
            return None
        ledger = spare.read_ledger(node.annotations.get(LEDGER))
        if ledger is None:
            return NO_LEDGER
        if self.is_closed(ledger):
            return CLOSED
        lacks_cpu = node.scalar_req(CPU_MILLI) + declared.cpu_milli > ledger.cpu_milli
        lacks_memory = node.scalar_req(MEMORY_MIB) + declared.memory_mib > ledger.memory_mib
        if lacks_cpu and lacks_memory:
            return SHORT_OF_BOTH
        return SHORT_OF_CPU if lacks_cpu else SHORT_OF_MEMORY if lacks_memory else None

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        return int(self.score(state, pod, node.as_table())[0])

    # -- all nodes --

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        declared = spare.declared(pod)
        codes = np.zeros(len(nodes), np.uint8)
        if declared is None:
            return codes
        cpu, memory, at = _ledgers(nodes)
        lacks_cpu = nodes.scalar_req(CPU_MILLI) + declared.cpu_milli > cpu
        lacks_memory = nodes.scalar_req(MEMORY_MIB) + declared.memory_mib > memory
        codes[lacks_memory] = self.code(SHORT_OF_MEMORY)
        codes[lacks_cpu] = self.code(SHORT_OF_CPU)
        codes[lacks_cpu & lacks_memory] = self.code(SHORT_OF_BOTH)
        closed = ~is_good(at, self.close_after_s, self._now())
        codes[closed] = self.code(CLOSED)
        codes[np.isnan(at)] = self.code(NO_LEDGER)
        self._count(nodes, int(closed.sum()))
        return codes

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        """What would be left of the node's ledger, as a share of the node; the scarcer resource counts."""
        declared = spare.declared(pod) or Declared(0, 0)
        cpu, memory, _ = _ledgers(nodes)
        cpu_left = cpu - nodes.scalar_req(CPU_MILLI) - declared.cpu_milli
        memory_left = (memory - nodes.scalar_req(MEMORY_MIB) - declared.memory_mib) * MIB
        share = np.minimum(
            cpu_left * MAX_SCORE // np.maximum(nodes.alloc_cpu_milli, 1),
            memory_left * MAX_SCORE // np.maximum(nodes.alloc_mem_bytes, 1),
        )
        scores: Scores = np.clip(share, MIN_SCORE, MAX_SCORE)
        return scores

    # -- for people --

    def tell(self, pod: Pod, node: NodeView) -> Sequence[str]:
        if not spare.is_spare(pod):
            return ()
        return text.lines(node, self.close_after_s, self._now())

    # -- private --

    def is_closed(self, ledger: Ledger) -> bool:
        return spare.is_closed(ledger.sampled_at, self.close_after_s, self._now())

    def _has_more(self, pod: Pod, old: Node | None, new: Node) -> bool:
        """The node's ledger is open, and has more than before or was closed before."""
        ledger = spare.read_ledger(new.annotations.get(LEDGER))
        if ledger is None or self.is_closed(ledger):
            return False
        before = None if old is None else spare.read_ledger(old.annotations.get(LEDGER))
        if before is None or self.is_closed(before):
            return True
        return ledger.cpu_milli > before.cpu_milli or ledger.memory_mib > before.memory_mib

    def _count(self, nodes: NodeTable, closed: int) -> None:
        """Only a look at all nodes counts them all."""
        if self.handle is not None and len(nodes) == nodes.total_nodes:
            self.handle.metrics.gauge("bayplan_spare_closed_nodes", closed)


def _ledgers(nodes: NodeTable) -> tuple[Any, Any, Any]:
    """CPU, memory and time of every node's ledger; the time is not a number where there is none."""
    return (
        nodes.derive("SpareCapacity.cpu", lambda node: _read(node, 0), np.int64),
        nodes.derive("SpareCapacity.memory", lambda node: _read(node, 1), np.int64),
        nodes.derive("SpareCapacity.at", _sampled_at, np.float64),
    )


def _read(node: Node, part: int) -> int:
    ledger = spare.read_ledger(node.annotations.get(LEDGER))
    return 0 if ledger is None else int(ledger[part])


def _sampled_at(node: Node) -> float:
    ledger = spare.read_ledger(node.annotations.get(LEDGER))
    return float("nan") if ledger is None else ledger.sampled_at


def _spare_pod_left(pod: Pod, old: Pod, new: Pod | None) -> bool:
    return bool(old.node_name) and spare.is_spare(old)
