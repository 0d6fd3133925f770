"""
LeafNodeWorkloadPolicy: so many pods of a workload in this domain, so many in that one.

A pod names a WorkloadPolicy of its namespace in the label ``workload-policy/kosmos.io``.  The policy names a node
label, whose values are its domains, and how many of the pods that its selector matches belong in each.  Required
policies keep pods out of domains that have theirs; Preferred ones only rank them last, so pods beyond the numbers
still go somewhere.  Fill completes one domain after the other, Balance lets all grow at the same pace.

Extension points: PreFilter (with add and remove), Filter, PreScore, Score, Reserve.
Requeue: the pod's policy came, changed or went; a pod that it counts went, or changed its labels; a node came, went or
moved to another domain; for shares, a workload changed its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from bayplan.framework import (
    SKIP,
    Change,
    CycleState,
    Depends,
    FilterPlugin,
    NodeTable,
    NodeView,
    On,
    PluginArgs,
    PodTemplate,
    PreFilterExtensions,
    PreScorePlugin,
    Promise,
    ReservePlugin,
    Rows,
    ScorePlugin,
    Scores,
    Status,
    Verdict,
    Verdicts,
)
from bayplan.framework.handle import handle_of
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import WorkloadPolicy
from bayplan.plugins.leaf_node_workload_policy.allocating import STATE, allocate
from bayplan.plugins.leaf_node_workload_policy.reading import (
    WORKLOADS,
    PolicyReader,
    Rules,
    asks,
    policy_name,
)


class LeafNodeWorkloadPolicyArgs(PluginArgs):
    """Accepted so that files written for the Kosmos scheduler load."""

    kube_config_path: str = ""
    """Without effect: policies are read with the scheduler's own credentials."""


class LeafNodeWorkloadPolicy(PreFilterExtensions, FilterPlugin, PreScorePlugin, ScorePlugin, ReservePlugin):
    """So many pods of a workload in this domain, so many in that one."""

    name = "LeafNodeWorkloadPolicy"
    Args = LeafNodeWorkloadPolicyArgs
    reads = ("WorkloadPolicy", *WORKLOADS)
    # More than all default plugins together can say against it (15 * 100): the policy chooses the domain, the others
    # choose the node in it.
    default_weight = 2000

    def requeue_on(self) -> Sequence[On]:
        came = Change.ADDED | Change.UPDATED
        return (
            On("WorkloadPolicy", came | Change.DELETED, _is_own_policy),
            On("Pod", came | Change.DELETED, self._pod_could_help),
            On("Node", Change.ADDED | Change.LABEL | Change.DELETED, self._node_could_help),
            *(On(kind, came, self._workload_could_help) for kind in WORKLOADS),
        )

    def promise(self, template: PodTemplate) -> Promise | None:
        if asks(template):
            return Promise(key=template.label_set, filter=Depends.DOMAIN, score=Depends.DOMAIN, reserves=False)
        return Promise(key=(), filter=Depends.OBJECT, score=Depends.OBJECT, reserves=False)

    # -- filtering --

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        """Read the policy once: whatever becomes of it during the cycle, the cycle sees one version."""
        if not asks(pod.template):
            return SKIP
        rules = self._reader.rules(pod)
        if isinstance(rules, Status):
            return rules
        state[STATE] = allocate(rules, pod, nodes, self._reader)
        return None

    def add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        state[STATE].move(pod, other, node, 1)

    def remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        state[STATE].move(pod, other, node, -1)

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return state[STATE].verdict(node) if STATE in state else None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdicts:
        if STATE not in state:  # a profile that enables it at filter alone
            return Verdicts(np.zeros(len(nodes), np.uint8), ())
        return state[STATE].verdicts(nodes)

    # -- scoring --

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> Verdict:
        return None if STATE in state else SKIP

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        return state[STATE].score(node) if STATE in state else 0

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        return state[STATE].scores(nodes) if STATE in state else np.zeros(len(nodes), np.int64)

    def normalize(self, state: CycleState, pod: Pod, scores: Scores, feasible: Rows) -> Scores:
        if STATE not in state:
            return scores
        return state[STATE].tiered(scores, handle_of(self).snapshot().nodes, feasible)

    # -- committing: the pod is counted from the moment the engine has assumed it, so there is nothing to keep --

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        return None

    # -- what could change its mind --

    def _rules(self, pod: Pod) -> Rules | None:
        """The rules of a waiting pod; None if something is wrong that only the policy or the pod itself can mend."""
        rules = self._reader.rules(pod)
        return rules if isinstance(rules, Rules) else None

    def _pod_could_help(self, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
        if new is not None and new.uid == pod.uid:
            return old is None or old.labels != new.labels
        rules = self._rules(pod)
        if rules is None:
            return False
        was, now = _counts(rules, pod, old), _counts(rules, pod, new)
        return (was and not now) or (now and not was and rules.is_proportional)

    def _node_could_help(self, pod: Pod, old: Node | None, new: Node | None) -> bool:
        rules = self._rules(pod)
        if rules is None:
            return False
        was = None if old is None else old.labels.get(rules.topology_key)
        now = None if new is None else new.labels.get(rules.topology_key)
        if old is not None and new is not None:
            return was != now and (rules.lists(was) or rules.lists(now) or rules.allows_unlisted)
        return rules.lists(was) or rules.lists(now) or (new is not None and rules.allows_unlisted)

    def _workload_could_help(self, pod: Pod, old: object, new: object) -> bool:
        rules = self._rules(pod)
        return rules is not None and rules.is_proportional

    @cached_property
    def _reader(self) -> PolicyReader:
        return PolicyReader(handle_of(self).objects)


def _is_own_policy(pod: Pod, old: WorkloadPolicy | None, new: WorkloadPolicy | None) -> bool:
    """
    A change of the status alone, which controllers write, helps no pod.

    One that went helps no pod either, but what the pod's condition says of it is not true any more.
    """
    policy = new or old
    if policy is None or policy.namespace != pod.namespace or policy.name != policy_name(pod):
        return False
    return old is None or new is None or old.spec != new.spec


def _counts(rules: Rules, pod: Pod, other: Pod | None) -> bool:
    """Is the other pod one of those that fill the domains of this one?"""
    if other is None or other.is_terminating or other.namespace != pod.namespace:
        return False
    return bool(other.node_name or other.nominated_node_name) and rules.selector_for(pod).matches(other.labels)
