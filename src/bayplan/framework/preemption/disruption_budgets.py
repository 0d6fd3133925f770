"""
Disruption budgets: which pods cannot be evicted without breaking one.

``framework.preemption.victims`` asks.  Which budgets a set of labels falls under is worked out once and remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bayplan.objects.pod import Pod
from bayplan.objects.policy import PodDisruptionBudget


class DisruptionBudgets:
    """Some budgets, as they stand now."""

    def __init__(self, budgets: Iterable[PodDisruptionBudget] = ()) -> None:
        self._by_namespace: dict[str, list[PodDisruptionBudget]] = {}
        for budget in budgets:
            if _covers_some(budget):
                self._by_namespace.setdefault(budget.namespace, []).append(budget)
        self._matching: dict[object, tuple[PodDisruptionBudget, ...]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_namespace)

    def over(self, pod: Pod) -> tuple[PodDisruptionBudget, ...]:
        """The budgets that count the pod now.  They never count pods without labels."""
        matching = self._matching.get(pod.label_set)
        if matching is None:
            candidates = self._by_namespace.get(pod.namespace, ()) if pod.labels else ()
            matching = tuple(budget for budget in candidates if budget.selector.matches(pod.labels))
            self._matching[pod.label_set] = matching
        if not matching:
            return ()
        return tuple(budget for budget in matching if pod.name not in budget.disrupted_pods)

    def broken_by(self, pods: Iterable[Pod]) -> list[bool]:
        """For each pod: would its eviction break a budget, after those before it?"""
        allowed: dict[str, int] = {}
        breaks = []
        for pod in pods:
            is_broken = False
            for budget in self.over(pod):
                key = budget.metadata.uid or budget.key
                allowed[key] = allowed.get(key, budget.disruptions_allowed) - 1
                is_broken |= allowed[key] < 0
            breaks.append(is_broken)
        return breaks

    def split(self, pods: Sequence[Pod]) -> tuple[list[Pod], list[Pod]]:
        """(those whose eviction would break a budget, the others), in the order given."""
        if not self:
            return [], list(pods)
        breaks = self.broken_by(pods)
        violating = [pod for pod, is_broken in zip(pods, breaks, strict=True) if is_broken]
        harmless = [pod for pod, is_broken in zip(pods, breaks, strict=True) if not is_broken]
        return violating, harmless


def _covers_some(budget: PodDisruptionBudget) -> bool:
    """An empty selector covers no pod, nor does one that cannot be read; the latter must not stop all preemption."""
    try:
        return not budget.selector.is_empty
    except ValueError:
        return False
