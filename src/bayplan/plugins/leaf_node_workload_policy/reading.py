"""
Which policy a pod has, read once per cycle, and how many pods its workloads ask for.

``plugin`` asks ``PolicyReader`` in PreFilter and in its requeue hints.  A policy that cannot be used says so in the
status of the pods that name it, and of no others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bayplan.bounded_cache import BoundedCache
from bayplan.framework import Status, unresolvable
from bayplan.framework.handle import ObjectStore
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import PodTemplate
from bayplan.objects.requirement import IN, Requirement
from bayplan.objects.selector import Selector
from bayplan.objects.third_party.kosmos import POLICY_LABEL, POLICY_LABEL_ALIAS, DomainAllocation, WorkloadPolicy
from bayplan.objects.third_party.kosmos_validating import check_workload_policy
from bayplan.objects.workload import DESIRED_REPLICAS, ReplicaSet, ReplicationController, StatefulSet

WORKLOADS = ("ReplicaSet", "ReplicationController", "StatefulSet")

# Bounds memory; a policy needs one entry of each, or one per revision with matchLabelKeys.
MAX_KNOWN = 4096


@dataclass(frozen=True, slots=True)
class Rules:
    """A policy without mistakes, in the form that is quick to ask."""

    name: str
    topology_key: str
    selector: Selector
    domains: tuple[DomainAllocation, ...]
    match_label_keys: tuple[str, ...]
    is_required: bool
    fills: bool
    allows_unlisted: bool

    @property
    def is_proportional(self) -> bool:
        """Does any number depend on how many pods there are in all?"""
        return any(not isinstance(each.replicas, int) for each in self.domains)

    def selector_for(self, pod: Pod) -> Selector:
        """Which pods count together with this one."""
        labels = pod.labels
        own = [Requirement(key, IN, (labels[key],)) for key in self.match_label_keys if key in labels]
        return self.selector.plus(own) if own else self.selector

    def lists(self, domain: str | None) -> bool:
        return domain is not None and any(each.name == domain for each in self.domains)


def asks(template: PodTemplate) -> bool:
    """Do its pods name a policy?  Pods of DaemonSets belong to their node and to no policy."""
    return names_policy(template) and not any(owner.kind == "DaemonSet" for owner in template.owner_references)


def names_policy(pod: Pod | PodTemplate) -> bool:
    """Does it have a label that names one?"""
    labels = pod.labels
    return POLICY_LABEL in labels or POLICY_LABEL_ALIAS in labels


def policy_name(pod: Pod) -> str | Status:
    """The policy that a pod names, or what is wrong with how it does."""
    name, alias = pod.labels.get(POLICY_LABEL), pod.labels.get(POLICY_LABEL_ALIAS)
    if name is not None and alias is not None and name != alias:
        return unresolvable(
            f'labels {POLICY_LABEL} and {POLICY_LABEL_ALIAS} name two workload policies, "{name}" and "{alias}"'
        )
    found = name if name is not None else alias
    if not found:
        label = POLICY_LABEL if name is not None else POLICY_LABEL_ALIAS
        return unresolvable(f"label {label} names no workload policy")
    return found


class PolicyReader:
    """Policies as rules, and totals, remembered until the objects change."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._rules: BoundedCache[tuple[str, str], tuple[WorkloadPolicy, Rules | Status]] = BoundedCache(MAX_KNOWN)
        self._totals: BoundedCache[tuple[str, Selector], tuple[tuple[int, ...], int]] = BoundedCache(MAX_KNOWN)

    def rules(self, pod: Pod) -> Rules | Status:
        """The rules for a pod that names a policy, or why there are none."""
        name = policy_name(pod)
        if isinstance(name, Status):
            return name
        policy: WorkloadPolicy | None = self._objects.get("WorkloadPolicy", pod.namespace, name)
        if policy is None:
            return unresolvable(f'WorkloadPolicy "{name}" not found in namespace "{pod.namespace}"')
        key = pod.namespace, name
        known = self._rules.get(key)
        if known is None or known[0] is not policy:
            known = self._rules[key] = policy, compiled(policy)
        rules = known[1]
        if isinstance(rules, Rules) and not rules.selector.matches(pod.labels):
            return unresolvable(f'pod\'s labels do not match the labelSelector of WorkloadPolicy "{name}"')
        return rules

    def wanted(self, namespace: str, selector: Selector) -> int:
        """How many pods the workloads ask for whose pods the selector matches."""
        generations = tuple(self._objects.generation(kind) for kind in WORKLOADS)
        key = namespace, selector
        known = self._totals.get(key)
        if known is None or known[0] != generations:
            workloads = (each for kind in WORKLOADS for each in self._objects.list(kind, namespace))
            known = self._totals[key] = generations, _sum(workloads, selector)
        return known[1]


def compiled(policy: WorkloadPolicy) -> Rules | Status:
    """A policy as rules, or what is wrong with it."""
    wrong = next(check_workload_policy(policy), None)
    if wrong is not None:
        return unresolvable(f'WorkloadPolicy "{policy.name}" is not valid: {wrong.field}: {wrong.problem}')
    return Rules(
        name=policy.name,
        topology_key=policy.spec.topology_key,
        selector=policy.selector,
        domains=policy.domains,
        match_label_keys=policy.spec.match_label_keys or (),
        is_required=policy.is_required,
        fills=policy.fills,
        allows_unlisted=policy.allows_unlisted,
    )


def _sum(workloads: Iterable[ReplicaSet | ReplicationController | StatefulSet], selector: Selector) -> int:
    total = 0
    sizes: dict[tuple[str, str], int] = {}
    for each in workloads:
        replicas = 1 if each.spec.replicas is None else each.spec.replicas
        if not replicas or not selector.matches(each.spec.template.metadata.labels or {}):
            continue
        size = each.annotations.get(DESIRED_REPLICAS, "")
        owner = each.controller
        if owner is not None and size.isdecimal():
            # Several ReplicaSets of one Deployment: all of them tell its size, and it counts once.
            deployment = owner.kind, owner.name
            sizes[deployment] = max(sizes.get(deployment, 0), int(size))
        else:
            total += replicas
    return total + sum(sizes.values())
