"""What an API server does to a pod between the file and the scheduler.

`defaulting.default_pod` calls this, for pods from files and for pods that workloads make in the simulator. It
can be applied again to its own result, or to a pod that comes from a cluster, without changing it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeVar

from msgspec.structs import replace

from bayplan.errors import InputError
from bayplan.objects.affinity import Affinity, PodAffinity, PodAffinityTerm, TopologySpreadConstraint
from bayplan.objects.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from bayplan.objects.pod import DEFAULT_SCHEDULER, PREEMPT_LOWER_PRIORITY, Pod
from bayplan.objects.pod_spec import ALWAYS, Container, ContainerPort, PodSpec, ResourceRequirements
from bayplan.objects.policy import (
    SYSTEM_CLUSTER_CRITICAL,
    SYSTEM_NODE_CRITICAL,
    PriorityClass,
    RuntimeClass,
)
from bayplan.objects.quantity import Quantity, format_decimal
from bayplan.objects.requests import container_limits, container_requests
from bayplan.objects.requirement import IN, NOT_IN
from bayplan.objects.resources import CPU, MEMORY, is_pod_level_name
from bayplan.objects.toleration import (
    EXISTS,
    NO_EXECUTE,
    NOT_READY_TAINT_KEY,
    UNREACHABLE_TAINT_KEY,
    Toleration,
)

TOLERATION_SECONDS = 300
GRACE_PERIOD_SECONDS = 30
_Affinity = TypeVar("_Affinity", bound=PodAffinity)

SYSTEM_PRIORITY_CLASSES: Mapping[str, PriorityClass] = {
    name: PriorityClass(metadata=ObjectMeta(name=name), value=value, preemption_policy=PREEMPT_LOWER_PRIORITY)
    for name, value in ((SYSTEM_CLUSTER_CRITICAL, 2_000_000_000), (SYSTEM_NODE_CRITICAL, 2_000_001_000))
}
"""The two classes every cluster has."""


def default_pod_spec(
    pod: Pod,
    priority_classes: Mapping[str, PriorityClass],
    runtime_classes: Mapping[str, RuntimeClass],
) -> PodSpec:
    """The spec of `pod` with everything filled in; InputError if its priority or runtime class is not known."""
    spec = with_container_defaults(pod.spec)
    spec = replace(
        spec,
        scheduler_name=spec.scheduler_name or DEFAULT_SCHEDULER,
        restart_policy=spec.restart_policy or ALWAYS,
        termination_grace_period_seconds=_patience(spec),
        affinity=_affinity(spec.affinity, pod.labels),
        topology_spread_constraints=_spread(spec.topology_spread_constraints, pod.labels),
        tolerations=_tolerations(spec.tolerations),
    )
    spec = _with_pod_resources(spec)
    spec = _with_priority(spec, priority_classes, is_stored=bool(pod.uid))
    return _with_runtime_class(spec, _runtime_class(spec.runtime_class_name, runtime_classes, must_exist=not pod.uid))


def _patience(spec: PodSpec) -> int:
    given = spec.termination_grace_period_seconds
    return GRACE_PERIOD_SECONDS if given is None else given


# -- containers --


def with_container_defaults(spec: PodSpec) -> PodSpec:
    """Requests from limits, and ports."""
    return replace(
        spec,
        containers=_containers(spec.containers, spec.host_network),
        init_containers=_containers(spec.init_containers, spec.host_network),
    )


def _containers(containers: tuple[Container, ...] | None, host_network: bool) -> tuple[Container, ...] | None:
    return containers and tuple(
        replace(each, resources=_requests_from_limits(each.resources), ports=_ports(each.ports, host_network))
        for each in containers
    )


def _requests_from_limits(resources: ResourceRequirements) -> ResourceRequirements:
    if not resources.limits:
        return resources
    return replace(resources, requests={**resources.limits, **(resources.requests or {})})


def _ports(ports: tuple[ContainerPort, ...] | None, host_network: bool) -> tuple[ContainerPort, ...] | None:
    return ports and tuple(
        replace(
            port,
            protocol=port.protocol or "TCP",
            host_port=port.host_port or (port.container_port if host_network else 0),
        )
        for port in ports
    )


# -- the pod as a whole --


def _with_pod_resources(spec: PodSpec) -> PodSpec:
    """Pod-level limits give pod-level requests, unless the containers ask for CPU or memory themselves."""
    resources = spec.resources
    if resources is None or not (resources.limits or resources.requests):
        return spec
    limits = _with_huge_pages(spec, resources)
    if not limits:
        return spec
    asked = container_requests(spec)
    requests: dict[str, Quantity] = dict(resources.requests or {})
    for name in (CPU, MEMORY):
        if name in asked:
            requests.setdefault(name, _written(asked[name]))
    for name, limit in limits.items():
        if is_pod_level_name(name):
            requests.setdefault(name, limit)
    return replace(spec, resources=replace(resources, limits=limits, requests=requests or None))


def _with_huge_pages(spec: PodSpec, resources: ResourceRequirements) -> dict[str, Quantity]:
    limits: dict[str, Quantity] = dict(resources.limits or {})
    for name, amount in container_limits(spec).items():
        if name.startswith("hugepages-") and name not in (resources.requests or {}):
            limits.setdefault(name, _written(amount))
    return limits


def _written(milli: int) -> str:
    return format_decimal(Fraction(milli, 1000))


def _with_priority(spec: PodSpec, classes: Mapping[str, PriorityClass], is_stored: bool) -> PodSpec:
    """A priority that is a number already stays: it was admitted once, or is there to try something out."""
    name = spec.priority_class_name
    chosen = _priority_class(name, classes, must_exist=spec.priority is None)
    number = 0 if chosen is None else chosen.value
    own_policy = (chosen.preemption_policy if chosen is not None else None) or PREEMPT_LOWER_PRIORITY
    if name and chosen is not None and not is_stored and spec.priority not in (None, number):
        raise InputError(
            f'{spec.priority} is not the value of PriorityClass "{name}", which is {number}',
            field="spec.priority",
            fix="remove it, the class sets it",
        )
    if name and chosen is not None and not is_stored and spec.preemption_policy not in (None, own_policy):
        raise InputError(
            f'"{spec.preemption_policy}" is not that of PriorityClass "{name}", which is {own_policy}',
            field="spec.preemptionPolicy",
            fix="remove it, the class sets it",
        )
    return replace(
        spec,
        priority=number if spec.priority is None else spec.priority,
        priority_class_name=chosen.name if chosen is not None and spec.priority is None else name,
        preemption_policy=spec.preemption_policy or own_policy,
    )


def _priority_class(name: str, classes: Mapping[str, PriorityClass], must_exist: bool) -> PriorityClass | None:
    if not name:
        defaults = [each for each in classes.values() if each.global_default]
        return min(defaults, key=lambda each: each.value, default=None)
    chosen = classes.get(name) or SYSTEM_PRIORITY_CLASSES.get(name)
    if chosen is None and must_exist:
        known = ", ".join(sorted({*classes, *SYSTEM_PRIORITY_CLASSES}))
        raise InputError(
            f'there is no PriorityClass "{name}"',
            field="spec.priorityClassName",
            fix=f"add that PriorityClass or write one of {known}",
        )
    return chosen


def _runtime_class(name: str | None, classes: Mapping[str, RuntimeClass], must_exist: bool) -> RuntimeClass | None:
    """What a server holds has got its part from the class already."""
    chosen = classes.get(name or "")
    if name and chosen is None and must_exist:
        fix = "add that RuntimeClass or remove the field"
        raise InputError(f'there is no RuntimeClass "{name}"', field="spec.runtimeClassName", fix=fix)
    return chosen


def _with_runtime_class(spec: PodSpec, runtime: RuntimeClass | None) -> PodSpec:
    if runtime is None:
        return spec
    overhead, scheduling = runtime.overhead, runtime.scheduling
    if overhead is not None and not spec.overhead:
        spec = replace(spec, overhead=overhead.pod_fixed)
    if scheduling is None:
        return spec
    own = spec.tolerations or ()
    added = tuple(each for each in scheduling.tolerations or () if each not in own)
    return replace(
        spec,
        node_selector={**(spec.node_selector or {}), **(scheduling.node_selector or {})} or None,
        tolerations=(*own, *added),
    )


def _tolerations(tolerations: tuple[Toleration, ...] | None) -> tuple[Toleration, ...]:
    """Five minutes of patience with a node that is not ready or reachable, unless the pod says otherwise."""
    own = tolerations or ()
    added = tuple(
        Toleration(key=key, operator=EXISTS, effect=NO_EXECUTE, toleration_seconds=TOLERATION_SECONDS)
        for key in (NOT_READY_TAINT_KEY, UNREACHABLE_TAINT_KEY)
        if not any(each.key in ("", key) and each.effect in ("", NO_EXECUTE) for each in own)
    )
    return (*own, *added)


# -- label keys, merged into the selectors they narrow --


def _affinity(affinity: Affinity | None, labels: Mapping[str, str]) -> Affinity | None:
    return affinity and replace(
        affinity,
        pod_affinity=_pod_affinity(affinity.pod_affinity, labels),
        pod_anti_affinity=_pod_affinity(affinity.pod_anti_affinity, labels),
    )


def _pod_affinity(written: _Affinity | None, labels: Mapping[str, str]) -> _Affinity | None:
    if written is None:
        return None
    required = written.required_during_scheduling_ignored_during_execution
    preferred = written.preferred_during_scheduling_ignored_during_execution
    return replace(
        written,
        required_during_scheduling_ignored_during_execution=required
        and tuple(_term(each, labels) for each in required),
        preferred_during_scheduling_ignored_during_execution=preferred
        and tuple(replace(each, pod_affinity_term=_term(each.pod_affinity_term, labels)) for each in preferred),
    )


def _term(term: PodAffinityTerm, labels: Mapping[str, str]) -> PodAffinityTerm:
    selector = _narrowed(term.label_selector, term.match_label_keys, IN, labels)
    return replace(term, label_selector=_narrowed(selector, term.mismatch_label_keys, NOT_IN, labels))


def _spread(
    constraints: tuple[TopologySpreadConstraint, ...] | None, labels: Mapping[str, str]
) -> tuple[TopologySpreadConstraint, ...] | None:
    return constraints and tuple(
        replace(each, label_selector=_narrowed(each.label_selector, each.match_label_keys, IN, labels))
        for each in constraints
    )


def _narrowed(
    selector: LabelSelector | None, keys: Iterable[str] | None, operator: str, labels: Mapping[str, str]
) -> LabelSelector | None:
    """With ``key operator (the pod's own value)`` for every key, each of them once."""
    if selector is None or not keys:
        return selector
    expressions = list(selector.match_expressions or ())
    for key in keys:
        if key in labels:
            extra = LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],))
            if extra not in expressions:
                expressions.append(extra)
    return replace(selector, match_expressions=tuple(expressions) or None)
