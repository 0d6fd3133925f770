"""
How a policy stands: pods per domain against the numbers, for the status and for the planner.

Numbers, shares and selectors are those of the plugin LeafNodeWorkloadPolicy, so that what is counted here is what
the scheduler counts.  With ``matchLabelKeys`` every revision is a group of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from bayplan.controllers.rebalancer.observed import Observed, is_ready
from bayplan.framework.status import Status
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import WorkloadPolicy
from bayplan.objects.third_party.kosmos_validating import check_workload_policy
from bayplan.plugins.leaf_node_workload_policy.apportioning import desired
from bayplan.plugins.leaf_node_workload_policy.reading import PolicyReader, Rules, asks, compiled, policy_name

NOWHERE = "<none>"
"""Stands for the domain of nodes that have none; no label has this value."""


@dataclass(slots=True)
class Group:
    """Pods that are counted together."""

    bound: list[Pod]
    """On a node, whatever its domain."""
    pending: list[Pod]
    desired: dict[str, int]
    """By domain, in the order of the policy."""
    current: Counter[str]
    """By domain, those that are not listed included; pods whose node has none are under ``NOWHERE``."""
    expected: int
    """How many pods there should be."""


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain of a policy, all groups together."""

    name: str
    desired: int
    current: int
    ready: int
    pending: int
    """Pods that wait and belong here by the numbers."""
    nodes: int
    unready_nodes: int

    @property
    def is_ready(self) -> bool:
        """Not with more than half of its nodes out of order: then it may be cut off, and nothing is certain."""
        return 2 * self.unready_nodes <= self.nodes


@dataclass(frozen=True, slots=True)
class Survey:
    """One policy, and what there is of it."""

    policy: WorkloadPolicy
    rules: Rules | None
    mistakes: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    domains: tuple[Domain, ...] = ()
    ready: int = 0
    named: frozenset[str] = field(default_factory=frozenset)
    """Uids of the pods that ask for this policy; others only count."""

    @property
    def bound(self) -> int:
        return sum(len(group.bound) for group in self.groups)

    @property
    def pending(self) -> int:
        return sum(len(group.pending) for group in self.groups)

    @property
    def unavailable(self) -> int:
        """How many pods that should be there are not ready."""
        return max(0, self.expected - self.ready)

    @property
    def expected(self) -> int:
        return sum(group.expected for group in self.groups)


class Surveyor:
    """Looks at policies."""

    def __init__(self, observed: Observed) -> None:
        self._observed = observed
        self._reader = PolicyReader(observed.scheduler.cache.objects)

    def survey(self, policy: WorkloadPolicy) -> Survey:
        rules = compiled(policy)
        if isinstance(rules, Status):
            wrong = tuple(map(str, check_workload_policy(policy)))
            return Survey(policy, None, wrong or (rules.message,))
        matching = self._observed.selected(policy.namespace, rules.selector)
        counted = [pod for pod in matching if not pod.is_terminating]
        groups = tuple(self._groups(policy, rules, counted))
        return Survey(
            policy,
            rules,
            groups=groups,
            domains=tuple(self._domains(rules, groups)),
            ready=sum(map(is_ready, counted)),
            named=frozenset(pod.uid for pod in counted if asks(pod.template) and policy_name(pod) == policy.name),
        )

    def domain_of(self, pod: Pod, rules: Rules) -> str:
        """The domain of a pod's node, or ``NOWHERE``."""
        domain = self._observed.domain_of(pod, rules.topology_key)
        return NOWHERE if domain is None else domain

    def has_profile(self, pod: Pod) -> bool:
        return pod.scheduler_name in self._observed.scheduler.profiles

    def _groups(self, policy: WorkloadPolicy, rules: Rules, counted: list[Pod]) -> Iterable[Group]:
        members: dict[tuple[str | None, ...], list[Pod]] = {}
        for pod in counted:
            key = tuple(pod.labels.get(each) for each in rules.match_label_keys)
            members.setdefault(key, []).append(pod)
        # The largest first: a revision that goes comes after the one that stays.
        for pods in sorted(members.values(), key=len, reverse=True) or [[]]:
            yield self._group(policy, rules, pods)

    def _group(self, policy: WorkloadPolicy, rules: Rules, pods: list[Pod]) -> Group:
        selector = rules.selector_for(pods[0]) if pods else rules.selector
        expected = max(self._reader.wanted(policy.namespace, selector), len(pods))
        numbers = desired(rules.domains, expected)
        bound = [pod for pod in pods if pod.node_name]
        return Group(
            bound=bound,
            pending=[pod for pod in pods if not pod.node_name],
            desired={each.name or "": number for each, number in zip(rules.domains, numbers, strict=True)},
            current=Counter(self.domain_of(pod, rules) for pod in bound),
            expected=expected,
        )

    def _domains(self, rules: Rules, groups: tuple[Group, ...]) -> Iterable[Domain]:
        ready = Counter(self.domain_of(pod, rules) for group in groups for pod in group.bound if is_ready(pod))
        pending = _waiting_for(groups)
        nodes, unready = self._nodes(rules.topology_key)
        for each in rules.domains:
            name = each.name or ""
            yield Domain(
                name=name,
                desired=max((group.desired[name] for group in groups), default=0),
                current=sum(group.current[name] for group in groups),
                ready=ready[name],
                pending=pending[name],
                nodes=nodes[name],
                unready_nodes=unready[name],
            )

    def _nodes(self, topology_key: str) -> tuple[Counter[str], Counter[str]]:
        """Nodes per domain, and those of them that are not ready."""
        table = self._observed.scheduler.cache.nodes
        column = table.label(topology_key)
        ids, counts = np.unique(column.ids[column.ids >= 0], return_counts=True)
        nodes = Counter({column.values[at]: int(count) for at, count in zip(ids, counts, strict=True)})
        rows = (table.row_of(name) for name in self._observed.unready)
        labels = (table.object_at(row).labels.get(topology_key) for row in rows if row is not None)
        return nodes, Counter(label for label in labels if label is not None)


def _waiting_for(groups: Iterable[Group]) -> Counter[str]:
    """Pods that wait, given to the domains that lack some, in the order of the policy."""
    found: Counter[str] = Counter()
    for group in groups:
        left = len(group.pending)
        for name, number in group.desired.items():
            here = min(left, max(0, number - group.current[name]))
            found[name] += here
            left -= here
    return found
