"""Rules about pods that live in objects of their own: disruption budgets, priority classes, runtime classes.

Preemption asks the budgets; `defaulting` reads the two kinds of classes when a pod comes from a file.
"""

from __future__ import annotations

from bayplan.objects.cached_property import cached_property
from bayplan.objects.meta import ApiObject, LabelSelector, Wire
from bayplan.objects.quantity import Quantity
from bayplan.objects.selector import Selector, compile_label_selector
from bayplan.objects.toleration import Toleration

SYSTEM_CLUSTER_CRITICAL = "system-cluster-critical"
SYSTEM_NODE_CRITICAL = "system-node-critical"


class PodDisruptionBudgetSpec(Wire, frozen=True, kw_only=True):
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Wire, frozen=True, kw_only=True):
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    observed_generation: int = 0
    disrupted_pods: dict[str, str] | None = None


class PodDisruptionBudget(ApiObject, frozen=True, kw_only=True):
    """How many pods of a group may be missing; preemption tries not to take more."""

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()

    @cached_property
    def selector(self) -> Selector:
        return compile_label_selector(self.spec.selector)

    @property
    def disruptions_allowed(self) -> int:
        return self.status.disruptions_allowed

    @property
    def disrupted_pods(self) -> frozenset[str]:
        """Names of the pods whose eviction is already counted."""
        return frozenset(self.status.disrupted_pods or ())


class PriorityClass(ApiObject, frozen=True, kw_only=True):
    value: int = 0
    global_default: bool = False
    preemption_policy: str | None = None
    description: str = ""


class RuntimeClassOverhead(Wire, frozen=True, kw_only=True):
    pod_fixed: dict[str, Quantity] | None = None


class RuntimeClassScheduling(Wire, frozen=True, kw_only=True):
    node_selector: dict[str, str] | None = None
    tolerations: tuple[Toleration, ...] | None = None


class RuntimeClass(ApiObject, frozen=True, kw_only=True):
    """What running under another runtime costs, and where that runtime is."""

    handler: str = ""
    overhead: RuntimeClassOverhead | None = None
    scheduling: RuntimeClassScheduling | None = None
