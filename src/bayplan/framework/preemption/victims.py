"""
Who would have to go: victims on one node, and the best node to make room on.

Shared by preemption plugins.  ``victims_on`` imagines pods away on one node and asks the profile's filters; ``best``
compares candidates as kube-scheduler does.  Nothing is evicted here.  ``framework.preemption.dry_run`` is the same rule
for many nodes at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.errors import PluginError
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.handle import FilterRunner
from bayplan.framework.preemption.disruption_budgets import DisruptionBudgets
from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.framework.snapshot import NodeView
from bayplan.framework.status import Code, Status
from bayplan.objects.pod import Pod

NO_VICTIMS = Status(Code.UNRESOLVABLE, ("No preemption victims found for incoming pod",))

Costs: TypeAlias = "npt.NDArray[np.float64]"
"""A line for each candidate: what ``cost`` gives.  Whole numbers of this size are exact in it."""

# Keeps sums of negative priorities from looking better the more pods are evicted.
PRIORITY_OFFSET = 1 << 31


@dataclass(frozen=True, slots=True)
class Candidate:
    """One node with the pods that would have to leave it, most important first."""

    node_name: str
    victims: tuple[Pod, ...]
    pdb_violations: int


class DryRun:
    """One preemptor's question, asked of many nodes."""

    def __init__(
        self, pod: Pod, state: CycleState, filters: FilterRunner, budgets: DisruptionBudgets, now: float
    ) -> None:
        self._pod = pod
        self._state = state
        self._filters = filters
        self._budgets = budgets
        self._now = now

    def victims_on(self, node: NodeView) -> Candidate | Status:
        """The fewest, least important pods that must leave this node; or why even all would not help."""
        lower = [other for other in node.pods if other.priority < self._pod.priority]
        if not lower:
            return NO_VICTIMS
        try:
            return self._victims_among(lower, node)
        except PluginError as error:
            # A plugin that breaks on one node must not spoil the others.
            return Status(Code.ERROR, (str(error),), error.plugin, error)

    def _victims_among(self, lower: list[Pod], node: NodeView) -> Candidate | Status:
        imagined, state = WhatIfNode(node), self._state.clone()
        for other in lower:
            self._take(state, imagined, other)
        status = self._filters.fits(state, self._pod, imagined)
        if not status.is_success:
            return status
        lower.sort(key=self._importance)
        violating, harmless = self._budgets.split(lower)
        victims, violations = [], 0
        for others, breaks_budget in ((violating, True), (harmless, False)):
            for other in others:
                if not self._reprieve(state, imagined, other):
                    victims.append(other)
                    violations += breaks_budget
        victims.sort(key=self._importance)
        if not victims:
            return nobody_has_to_go(node.name)
        return Candidate(node.name, tuple(victims), violations)

    def _reprieve(self, state: CycleState, node: WhatIfNode, other: Pod) -> bool:
        """Put a pod back; it may stay if the preemptor still fits."""
        node.add_pod(other)
        self._filters.add_pod(state, self._pod, other, node)
        if self._filters.fits(state, self._pod, node).is_success:
            return True
        self._take(state, node, other)
        return False

    def _take(self, state: CycleState, node: WhatIfNode, other: Pod) -> None:
        node.remove_pod(other)
        self._filters.remove_pod(state, self._pod, other, node)

    def _importance(self, pod: Pod) -> tuple[int, float]:
        return importance(pod, self._now)


def importance(pod: Pod, now: float) -> tuple[int, float]:
    """Sorts the most important first: higher priority, then longer running."""
    return -pod.priority, started_at(pod, now)


def started_at(pod: Pod, now: float) -> float:
    started = pod.start_time
    return now if started is None else started


def nobody_has_to_go(node_name: str) -> Status:
    """What is said of a node that was turned down before and now is not."""
    return Status(Code.ERROR, (f'expected at least one victim pod on node "{node_name}"',))


def cost(candidate: Candidate, now: float) -> tuple[float, ...]:
    """What evictions cost, by what counts most: budgets, then priorities, then numbers, then how long they have run."""
    victims = candidate.victims
    highest = victims[0].priority if victims else -PRIORITY_OFFSET
    earliest = min((started_at(pod, now) for pod in victims if pod.priority == highest), default=now)
    total = sum(pod.priority + PRIORITY_OFFSET for pod in victims)
    return candidate.pdb_violations, highest, total, len(victims), -earliest


def cheapest(costs: Costs) -> int:
    """The first of the lines that are smaller than all others."""
    left = np.arange(len(costs))
    for column in costs.T:
        if len(left) == 1:
            break
        rates = column[left]
        left = left[rates == rates.min()]
    return int(left[0])


def best(candidates: Sequence[Candidate], now: float) -> Candidate:
    """The cheapest candidate; of equals the first."""
    return candidates[cheapest(np.array([cost(candidate, now) for candidate in candidates], np.float64))]
