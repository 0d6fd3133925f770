"""
What the disruption controller does: keeps the status of every PodDisruptionBudget in step with the pods.

``cluster`` tells it of pods and passes on the budgets that changed.  A budget that has a status in its file keeps that
one: it was taken from a real cluster, or somebody tries something out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from bayplan.objects.pod import Pod
from bayplan.objects.policy import PodDisruptionBudget, PodDisruptionBudgetStatus

Scale = Callable[[Pod], tuple[str, int] | None]
"""The controller of a pod and how many pods it wants; None for a pod without one."""

Changed = list[tuple[PodDisruptionBudget, PodDisruptionBudget]]


class Budgets:
    """All budgets whose status is worked out here."""

    def __init__(self, budgets: Iterable[PodDisruptionBudget], scale: Scale) -> None:
        self._watched: dict[str, list[_Watched]] = {}
        for budget in budgets:
            self._watched.setdefault(budget.namespace, []).append(_Watched(budget, scale))

    def added(self, pod: Pod) -> Changed:
        """The budgets, before and after, that a new pod changed."""
        return self._told(pod, _Watched.see)

    def changed(self, pod: Pod) -> Changed:
        return self._told(pod, _Watched.see)

    def gone(self, pod: Pod) -> Changed:
        return self._told(pod, _Watched.forget)

    def _told(self, pod: Pod, tell: Callable[[_Watched, Pod], None]) -> Changed:
        changes: Changed = []
        for watched in self._watched.get(pod.namespace, ()):
            if watched.budget.selector.matches(pod.labels):
                tell(watched, pod)
                change = watched.refresh()
                if change is not None:
                    changes.append(change)
        return changes


class _Watched:
    """One budget and the pods it covers."""

    def __init__(self, budget: PodDisruptionBudget, scale: Scale) -> None:
        self.budget = budget
        self._scale = scale
        self._healthy: dict[str, bool] = {}
        self._healthy_count = 0
        self._controllers: Counter[tuple[str, int]] = Counter()

    def see(self, pod: Pod) -> None:
        """A pod it covers, new or changed."""
        is_healthy = _is_healthy(pod)
        before = self._healthy.get(pod.uid)
        if before is None:
            self._count_controller(pod, 1)
        self._healthy[pod.uid] = is_healthy
        self._healthy_count += is_healthy - bool(before)

    def forget(self, pod: Pod) -> None:
        before = self._healthy.pop(pod.uid, None)
        if before is not None:
            self._count_controller(pod, -1)
            self._healthy_count -= before

    def refresh(self) -> tuple[PodDisruptionBudget, PodDisruptionBudget] | None:
        """Work the status out anew; the budget before and after if that changed it."""
        expected, desired = self._expected(), 0
        spec = self.budget.spec
        if spec.max_unavailable is not None:
            desired = max(0, expected - scaled(spec.max_unavailable, expected))
        elif spec.min_available is not None:
            desired = scaled(spec.min_available, expected)
        status = PodDisruptionBudgetStatus(
            disruptions_allowed=max(0, self._healthy_count - desired) if expected > 0 else 0,
            current_healthy=self._healthy_count,
            desired_healthy=desired,
            expected_pods=expected,
        )
        if status == self.budget.status:
            return None
        before, self.budget = self.budget, replace(self.budget, status=status)
        return before, self.budget

    def _expected(self) -> int:
        """A plain ``minAvailable`` counts the pods there are; everything else what their controllers want."""
        spec = self.budget.spec
        if spec.max_unavailable is None and isinstance(spec.min_available, int):
            return len(self._healthy)
        return sum(wanted for _, wanted in self._controllers)

    def _count_controller(self, pod: Pod, change: int) -> None:
        controller = self._scale(pod)
        if controller is not None:
            self._controllers[controller] += change
            if not self._controllers[controller]:
                del self._controllers[controller]


def _is_healthy(pod: Pod) -> bool:
    """On a node and not said to be unready."""
    if not pod.node_name or pod.is_terminating or pod.is_terminal:
        return False
    ready = pod.condition("Ready")
    return ready is None or ready.status == "True"


def scaled(amount: int | str, total: int) -> int:
    """A number as it is, a percentage of the total rounded up."""
    if isinstance(amount, int):
        return amount
    return -(-int(amount.removesuffix("%")) * total // 100)
