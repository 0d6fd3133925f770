"""
DefaultPreemption: when no node fits, find the node where evicting lower-priority pods costs least.

Only nodes whose first no could be lifted by evictions are tried.  On each, all lower-priority pods are
imagined away and put back one by one, the most important first and those protected by a disruption budget
before the others; a pod that cannot be put back is a victim.  While the victims are being told to go the
preemptor is held back by PreEnqueue, so that it does not preempt twice.

Extension points: PreEnqueue, PostFilter.  Requeue: a pod was deleted (re-evaluates held preemptors only).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from pydantic import Field, model_validator

from bayplan.framework import (
    Change,
    Code,
    CycleState,
    Diagnosis,
    Handle,
    Nomination,
    On,
    PluginArgs,
    PostFilterPlugin,
    PostFilterResult,
    PreEnqueuePlugin,
    Reason,
    Status,
    Verdict,
    failed,
    unschedulable,
)
from bayplan.framework.diagnosis import fit_error, histogram
from bayplan.framework.handle import handle_of
from bayplan.framework.preemption.disruption_budgets import DisruptionBudgets
from bayplan.framework.preemption.dry_run import NO_COSTS, Found, RowsDryRun, chunks, enough_of
from bayplan.framework.preemption.ranked_pods import RankedPods
from bayplan.framework.preemption.victims import NO_VICTIMS, Candidate, DryRun, best, cheapest
from bayplan.framework.snapshot import NodeTable, Rows
from bayplan.objects.pod import Pod

WAITING = Reason(Code.UNRESOLVABLE, "waiting for the preemption for this pod to be finished")
NEVER = "preemption: not eligible due to preemptionPolicy=Never."
TERMINATING = "preemption: not eligible due to a terminating pod on the nominated node."
NO_CANDIDATE = "preemption: no candidate node for preemption"
NOT_HELPFUL = "Preemption is not helpful for scheduling"


class DefaultPreemptionArgs(PluginArgs):
    """How many nodes to try: at least this share of the hopeful ones, and at least this many."""

    min_candidate_nodes_percentage: int = Field(10, ge=0, le=100)
    min_candidate_nodes_absolute: int = Field(100, ge=0, le=2**31 - 1)

    @model_validator(mode="after")
    def _not_both_zero(self) -> DefaultPreemptionArgs:
        if not self.min_candidate_nodes_percentage and not self.min_candidate_nodes_absolute:
            raise ValueError("minCandidateNodesPercentage and minCandidateNodesAbsolute cannot both be zero")
        return self


class DefaultPreemption(PreEnqueuePlugin, PostFilterPlugin):
    """When no node fits, find the node where evicting lower-priority pods costs least."""

    name = "DefaultPreemption"
    Args = DefaultPreemptionArgs
    reasons = (WAITING,)
    reads = ("PodDisruptionBudget",)
    args: DefaultPreemptionArgs

    def __init__(self, args: Any = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        self._ranked: WeakKeyDictionary[NodeTable, RankedPods] = WeakKeyDictionary()
        self._known_budgets: tuple[int, DisruptionBudgets] | None = None

    def requeue_on(self) -> Sequence[On]:
        return (On("Pod", Change.DELETED, hint=lambda pod, old, new: False),)

    def pre_enqueue(self, pod: Pod) -> Verdict:
        return WAITING if handle_of(self).is_preempting(pod.uid) else None

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> PostFilterResult | Verdict:
        handle = handle_of(self)
        if not state.is_dry_run:
            handle.metrics.counter("preemption_attempts_total")
        ineligible = _ineligible(pod, diagnosis)
        if ineligible:
            return unschedulable(ineligible)
        hopeful = diagnosis.rows_with(Code.UNSCHEDULABLE)
        found = self._try(state, pod, diagnosis.nodes, hopeful)
        if not found.candidates:
            broken = dict.fromkeys(status.message for status, _ in found.failures if status.is_error)
            if broken:
                return failed(f"preemption: {', '.join(broken)}")
            text = _hopeless(len(diagnosis.nodes), found.failures)
            return PostFilterResult(Nomination(""), status=unschedulable(text))
        chosen = found.candidates[cheapest(found.costs)]
        return PostFilterResult(Nomination(chosen.node_name), chosen.victims, candidates=found.candidates)

    def choose(self, candidates: tuple[Candidate, ...] | Status) -> PostFilterResult | Verdict:
        if isinstance(candidates, Status):
            return failed(f"preemption: {candidates.message}")
        if not candidates:
            return unschedulable(NO_CANDIDATE)
        chosen = best(candidates, handle_of(self).clock.now())
        return PostFilterResult(Nomination(chosen.node_name), chosen.victims, candidates=candidates)

    def how_many(self, hopeful: int) -> int:
        """How many candidates are enough to choose from."""
        share = hopeful * self.args.min_candidate_nodes_percentage // 100
        return min(hopeful, max(share, self.args.min_candidate_nodes_absolute))

    def _try(self, state: CycleState, pod: Pod, nodes: NodeTable, hopeful: Rows) -> Found:
        """Dry-run node after node, from a varying start, until there are candidates enough."""
        if not len(hopeful):
            return Found((), NO_COSTS, [])
        start = (hash_of(pod.uid) + handle_of(self).seed) % len(hopeful)
        enough = self.how_many(len(hopeful))
        # Nodes without a pod to evict are no candidates, wherever the search would come upon them.
        worth_trying = self._ranked_in(nodes).with_lower(nodes, np.roll(hopeful, -start), pod.priority)
        found = enough_of(self._tried(state, pod, nodes, worth_trying, enough), enough)
        vain = len(hopeful) - len(worth_trying)
        if vain:
            found.failures.append((NO_VICTIMS, vain))
        return found

    def _tried(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, enough: int) -> Iterator[Found]:
        """What comes of the nodes, many at a time where the filters allow it and one by one where they do not."""
        handle = handle_of(self)
        filters, budgets, now = handle.filters, self._budgets(), handle.clock.now()
        over_rows = RowsDryRun(pod, state, filters, budgets, now, self._ranked_in(nodes))
        for chunk in chunks(rows, enough):
            found = over_rows.run(nodes, chunk)
            if found is None:
                break
            yield found
            rows = rows[len(chunk) :]
        one_by_one = DryRun(pod, state, filters, budgets, now)
        for row in rows.tolist():
            yield Found.on_one(one_by_one.victims_on(nodes.node(row)), now)

    def _ranked_in(self, nodes: NodeTable) -> RankedPods:
        ranked = self._ranked.get(nodes)
        if ranked is None:
            ranked = self._ranked[nodes] = RankedPods()
        return ranked

    def _budgets(self) -> DisruptionBudgets:
        objects = handle_of(self).objects
        generation = objects.generation("PodDisruptionBudget")
        if self._known_budgets is None or self._known_budgets[0] != generation:
            self._known_budgets = generation, DisruptionBudgets(objects.list("PodDisruptionBudget"))
        return self._known_budgets[1]


def hash_of(text: str) -> int:
    """A number from a text that is the same in every process."""
    return int.from_bytes(text.encode()[-8:], "big")


def _ineligible(pod: Pod, diagnosis: Diagnosis) -> str:
    """Why this pod may not preempt now, or ""."""
    if pod.preemption_policy == "Never":
        return NEVER
    row = diagnosis.nodes.row_of(pod.nominated_node_name) if pod.nominated_node_name else None
    if row is None:
        return ""
    status = diagnosis.status_of(row)
    if status is not None and status.code is Code.UNRESOLVABLE:
        return ""
    leaving = (_is_leaving(other) and other.priority < pod.priority for other in diagnosis.nodes.pods_at(row))
    return TERMINATING if any(leaving) else ""


def _is_leaving(pod: Pod) -> bool:
    """Is it terminating because a scheduler preempted it?"""
    if not pod.is_terminating:
        return False
    condition = pod.condition("DisruptionTarget")
    return condition is not None and condition.status == "True" and condition.reason == "PreemptionByScheduler"


def _hopeless(total: int, failures: list[tuple[Status, int]]) -> str:
    reasons = histogram(failures)
    tried = sum(count for _, count in failures)
    if total > tried:
        reasons[NOT_HELPFUL] += total - tried
    return f"preemption: {fit_error(total, reasons)}"
