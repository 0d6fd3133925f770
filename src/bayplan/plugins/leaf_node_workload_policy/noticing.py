"""
Policies that count pods which name none: such pods go anywhere, and nothing else would say so.

``app.scheduler.live`` says it in the log, ``simulator.policy_checking`` in a warning, and
``controllers.rebalancer.status`` in the status of the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from bayplan.bounded_cache import BoundedCache
from bayplan.framework.handle import ObjectStore
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import PodTemplate
from bayplan.objects.third_party.kosmos import POLICY_LABEL, WorkloadPolicy
from bayplan.plugins.leaf_node_workload_policy.reading import MAX_KNOWN, Rules, compiled, names_policy

Counted = tuple[WorkloadPolicy, Rules]


def usable(policies: Iterable[WorkloadPolicy]) -> list[Counted]:
    """Those that pods can go by, each with its rules."""
    return [(each, rules) for each in policies if isinstance(rules := compiled(each), Rules)]


def overlooking(pod: Pod, policies: Iterable[Counted]) -> Iterator[WorkloadPolicy]:
    """Of these policies, those of its namespace that count the pod, although it names none."""
    if not names_policy(pod) and not pod.is_daemonset:
        for policy, rules in policies:
            if policy.namespace == pod.namespace and rules.selector.matches(pod.labels):
                yield policy


def advice(policy: WorkloadPolicy) -> str:
    """What to write, so that pods go by it."""
    return f"write the label {POLICY_LABEL}: {policy.name} under spec.template.metadata.labels"


class Overlooked:
    """Tells of every policy once that counts a pod which names none."""

    def __init__(self, objects: ObjectStore, tell: Callable[[WorkloadPolicy, Pod], None]) -> None:
        self._objects = objects
        self._tell = tell
        self._generation = 0
        self._policies: list[Counted] = []
        self._seen: BoundedCache[PodTemplate, bool] = BoundedCache(MAX_KNOWN)
        self._told: BoundedCache[tuple[str, str], bool] = BoundedCache(MAX_KNOWN)

    def look(self, pod: Pod) -> None:
        """Costs next to nothing for a template that was looked at, and where there are no policies."""
        generation = self._objects.generation("WorkloadPolicy")
        if generation != self._generation:
            self._generation = generation
            self._policies = usable(self._objects.list("WorkloadPolicy"))
            self._seen.clear()
        if not self._policies or pod.template in self._seen:
            return
        self._seen[pod.template] = True
        for policy in overlooking(pod, self._policies):
            key = policy.namespace, policy.name
            if key not in self._told:
                self._told[key] = True
                self._tell(policy, pod)
