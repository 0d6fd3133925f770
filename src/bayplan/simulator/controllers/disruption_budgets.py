"""
What the disruption controller does: keeps the status of every PodDisruptionBudget in step with the pods.

``cluster`` tells it of pods and passes on the budgets that changed.  A budget that has a status in its file keeps that
one: it was taken from a real cluster, or is there to try something out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from bayplan.errors import EvictionRefusedError
from bayplan.objects.pod import Pod
from bayplan.objects.policy import PodDisruptionBudget, PodDisruptionBudgetStatus

Scale = Callable[[Pod], tuple[str, int] | None]
"""The controller of a pod and how many pods it wants; None for a pod without one."""

Changed = list[tuple[PodDisruptionBudget, PodDisruptionBudget]]


class DisruptionController:
    """All budgets; the status of those that are not ``kept`` as they were given is worked out here."""

    def __init__(
        self, budgets: Iterable[PodDisruptionBudget], scale: Scale, kept: Iterable[PodDisruptionBudget] = ()
    ) -> None:
        self._watched: dict[str, list[_Watched]] = {}
        self._scale = scale
        for budget in budgets:
            self._watched.setdefault(budget.namespace, []).append(_Watched(budget, scale))
        for budget in kept:
            self._watched.setdefault(budget.namespace, []).append(_Watched(budget, scale, is_kept=True))

    def put(self, budget: PodDisruptionBudget, pods: Iterable[Pod], *, is_kept: bool) -> PodDisruptionBudget:
        """A budget that comes, or says something else, while these pods are there; with its status as it is then."""
        self.drop(budget)
        watched = _Watched(budget, self._scale, is_kept=is_kept)
        self._watched.setdefault(budget.namespace, []).append(watched)
        for pod in pods:
            if pod.namespace == budget.namespace and watched.covers(pod):
                watched.see(pod)
        watched.refresh()
        return watched.budget

    def drop(self, budget: PodDisruptionBudget) -> None:
        others = [each for each in self._watched.get(budget.namespace, ()) if each.budget.name != budget.name]
        self._watched[budget.namespace] = others

    def added(self, pod: Pod) -> Changed:
        """The budgets, before and after, that a new pod changed."""
        return self._told(pod, _Watched.see)

    def changed(self, pod: Pod) -> Changed:
        return self._told(pod, _Watched.see)

    def gone(self, pod: Pod) -> Changed:
        return self._told(pod, _Watched.forget)

    def spend(self, pod: Pod) -> Changed:
        """Take one disruption of the budget that covers the pod; ``EvictionRefusedError`` if there is none left."""
        covering = [each for each in self._watched.get(pod.namespace, ()) if each.covers(pod)]
        if len(covering) > 1:
            raise EvictionRefusedError(
                500,
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
            )
        return [change for watched in covering if (change := watched.spend(pod)) is not None]

    def all(self) -> list[PodDisruptionBudget]:
        """Every budget, with its status of now."""
        return [each.budget for watched in self._watched.values() for each in watched]

    def covering(self, pod: Pod) -> list[PodDisruptionBudget]:
        """The budgets that this pod counts for."""
        return [each.budget for each in self._watched.get(pod.namespace, ()) if each.covers(pod)]

    def _told(self, pod: Pod, tell: Callable[[_Watched, Pod], None]) -> Changed:
        changes: Changed = []
        for watched in self._watched.get(pod.namespace, ()):
            if watched.covers(pod):
                tell(watched, pod)
                change = watched.refresh()
                if change is not None:
                    changes.append(change)
        return changes


class _Watched:
    """One budget and the pods it covers."""

    def __init__(self, budget: PodDisruptionBudget, scale: Scale, *, is_kept: bool = False) -> None:
        self.budget = budget
        self._scale = scale
        self._is_kept = is_kept
        self._healthy: dict[str, bool] = {}
        self._healthy_count = 0
        self._controllers: dict[str, dict[str, Pod]] = {}
        """Their pods by uid; how many pods each wants is asked when it is needed, since that changes."""

    def covers(self, pod: Pod) -> bool:
        return self.budget.selector.matches(pod.labels)

    def see(self, pod: Pod) -> None:
        """A pod it covers, new or changed."""
        healthy = is_healthy(pod)
        before = self._healthy.get(pod.uid)
        if before is None:
            controller = self._scale(pod)
            if controller is not None:
                self._controllers.setdefault(controller[0], {})[pod.uid] = pod
        self._healthy[pod.uid] = healthy
        self._healthy_count += healthy - bool(before)

    def forget(self, pod: Pod) -> None:
        before = self._healthy.pop(pod.uid, None)
        if before is not None:
            for pods in self._controllers.values():
                pods.pop(pod.uid, None)
            self._healthy_count -= before

    def refresh(self) -> tuple[PodDisruptionBudget, PodDisruptionBudget] | None:
        """Work the status out anew; the budget before and after if that changed it."""
        if self._is_kept:
            return None
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
        return self._become(status)

    def spend(self, pod: Pod) -> tuple[PodDisruptionBudget, PodDisruptionBudget] | None:
        """An eviction: a pod that is not healthy costs nothing while enough others are."""
        budget, status = self.budget, self.budget.status
        if not is_ready(pod) and (
            budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow"
            or status.current_healthy >= status.desired_healthy > 0
        ):
            return None
        if status.disruptions_allowed <= 0:
            raise EvictionRefusedError(
                429,
                f"The disruption budget {budget.name} needs {status.desired_healthy} healthy pods "
                f"and has {status.current_healthy} currently",
            )
        return self._become(replace(status, disruptions_allowed=status.disruptions_allowed - 1))

    def _become(self, status: PodDisruptionBudgetStatus) -> tuple[PodDisruptionBudget, PodDisruptionBudget] | None:
        if status == self.budget.status:
            return None
        before, self.budget = self.budget, replace(self.budget, status=status)
        return before, self.budget

    def _expected(self) -> int:
        """A plain ``minAvailable`` counts the pods there are; everything else what their controllers want."""
        spec = self.budget.spec
        if spec.max_unavailable is None and isinstance(spec.min_available, int):
            return len(self._healthy)
        examples = (next(iter(pods.values())) for pods in self._controllers.values() if pods)
        return sum(scale[1] for pod in examples if (scale := self._scale(pod)) is not None)


def is_healthy(pod: Pod) -> bool:
    """On a node, there to stay and not said to be unready."""
    return bool(pod.node_name) and not pod.is_terminating and not pod.is_terminal and is_ready(pod)


def is_ready(pod: Pod) -> bool:
    """Simulated pods say nothing of it: they are ready at once."""
    ready = pod.condition("Ready")
    return ready is None or ready.status == "True"


def scaled(amount: int | str, total: int, *, up: bool = True) -> int:
    """A number as it is, a percentage of the total rounded up, or down."""
    if isinstance(amount, int):
        return amount
    share = int(amount.removesuffix("%")) * total
    return -(-share // 100) if up else share // 100
