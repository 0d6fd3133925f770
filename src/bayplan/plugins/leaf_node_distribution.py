"""
LeafNodeDistribution: which pods run on leaf nodes, which on real ones, and which on chosen ones.

A DistributionPolicy of the pod's namespace, or else a ClusterDistributionPolicy, selects pods by name, by how the name
begins, or by labels, in this order, and gives them a term: ``host`` (real nodes), ``leaf`` (nodes with the label
``kosmos.io/node``), ``mix`` (all), or ``adv`` (a node by name, nodes by labels, or nodes whose taints are tolerated;
any one is enough).  Pods that no policy selects, and those of DaemonSets, run anywhere.

Extension points: Filter.
Requeue: a policy came, changed or went; a node came or changed its labels or taints; the pod's own labels changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import cached_property
from typing import TypeAlias

import numpy as np

from bayplan.framework import (
    Change,
    Codes,
    CycleState,
    Depends,
    FilterPlugin,
    Key,
    Mask,
    NodeTable,
    NodeView,
    On,
    PluginArgs,
    PodTemplate,
    Promise,
    Status,
    Verdict,
    Verdicts,
    unresolvable,
)
from bayplan.framework.handle import ObjectStore, handle_of
from bayplan.objects.pod import Pod
from bayplan.objects.selector import NodeRequirement, compile_label_selector
from bayplan.objects.third_party.kosmos import (
    ADVANCED,
    HOST,
    LEAF,
    LEAF_NODE,
    MIX,
    AdvancedTerm,
    ClusterDistributionPolicy,
    DistributionPolicy,
    PolicyTerm,
    ResourceSelector,
)
from bayplan.objects.third_party.kosmos_validating import check_distribution_policy
from bayplan.objects.toleration import DO_NOT_SCHEDULE, untolerated

Policy: TypeAlias = DistributionPolicy | ClusterDistributionPolicy

KINDS = ("DistributionPolicy", "ClusterDistributionPolicy")
"""In the order in which they are asked."""

Found: TypeAlias = "tuple[Policy, PolicyTerm] | Status | None"
"""The term of a pod and where it stands, what is wrong with it, or nothing."""

FOUND: Key[Found] = Key("LeafNodeDistribution")

_SOUGHT = {HOST: "real nodes", LEAF: "leaf nodes", ADVANCED: "the nodes of its advancedTerm"}


class _Rank(IntEnum):
    """How closely a selector names a pod; the smallest goes first."""

    NAME = 0
    PREFIX = 1
    LABELS = 2


class LeafNodeDistributionArgs(PluginArgs):
    """Accepted so that files written for the Kosmos scheduler load."""

    kube_config_path: str = ""
    """Without effect: policies are read with the scheduler's own credentials."""


class LeafNodeDistribution(FilterPlugin):
    """Which pods run on leaf nodes, which on real ones, and which on chosen ones."""

    name = "LeafNodeDistribution"
    Args = LeafNodeDistributionArgs
    reads = KINDS

    def requeue_on(self) -> tuple[On, ...]:
        return (
            *(On(kind, Change.ADDED | Change.UPDATED | Change.DELETED, _is_in_scope) for kind in KINDS),
            On("Node", Change.ADDED | Change.LABEL | Change.TAINT),
            On("Pod", Change.POD_LABEL, lambda pod, old, new: new is not None and new.uid == pod.uid),
        )

    def promise(self, template: PodTemplate) -> Promise | None:
        """Policies select pods by name, which a template does not have; without policies every node passes."""
        return None if any(True for _ in self._policies(template)) else Promise(key=(), filter=Depends.OBJECT)

    # -- one node --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        found = self._found(state, pod)
        if found is None or isinstance(found, Status):
            return found
        return None if _suits(found[1], node) else _rejection(*found)

    # -- all nodes --

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdicts:
        found = self._found(state, pod)
        if found is None:
            return Verdicts(np.zeros(len(nodes), np.uint8), ())
        if isinstance(found, Status):
            return Verdicts(np.ones(len(nodes), np.uint8), (found,))
        codes: Codes = (~_suited(found[1], nodes)).view(np.uint8)
        return Verdicts(codes, (_rejection(*found),))

    # -- which term holds for a pod --

    def _found(self, state: CycleState, pod: Pod) -> Found:
        """Looked up at the first node.  There is no PreFilter: profiles of Kosmos name the plugin at filter alone."""
        if FOUND not in state:
            state[FOUND] = self._term(pod)
        return state[FOUND]

    def _policies(self, template: PodTemplate) -> Iterator[Policy]:
        """Those that could select it: of its namespace first, by name, so that the answer does not depend on chance."""
        if any(owner.kind == "DaemonSet" for owner in template.owner_references):
            return
        for kind, namespace in zip(KINDS, (template.namespace, None), strict=True):
            yield from sorted(self._objects.list(kind, namespace), key=lambda policy: str(policy.name))

    def _term(self, pod: Pod) -> Found:
        policies = list(self._policies(pod.template))
        for cls in (DistributionPolicy, ClusterDistributionPolicy):
            found = _closest([each for each in policies if isinstance(each, cls)], pod)
            if found is not None:
                return _resolved(*found)
        return None

    @cached_property
    def _objects(self) -> ObjectStore:
        return handle_of(self).objects


def _closest(policies: Iterable[Policy], pod: Pod) -> tuple[Policy, ResourceSelector] | None:
    """The selector that names the pod most closely; of equals in one policy the last, of equal policies the first."""
    best: tuple[tuple[int, int, int, int], Policy, ResourceSelector] | None = None
    for number, policy in enumerate(policies):
        for index, selector in enumerate(policy.spec.resource_selectors or ()):
            rank = _rank(selector, pod)
            if rank is not None:
                longest = len(selector.name_prefix) if rank is _Rank.PREFIX else 0
                key = rank, -longest, number, -index
                if best is None or key < best[0]:
                    best = key, policy, selector
    return None if best is None else best[1:]


def _rank(selector: ResourceSelector, pod: Pod) -> _Rank | None:
    if selector.name and selector.name == pod.name:
        return _Rank.NAME
    if selector.name_prefix and pod.name.startswith(selector.name_prefix):
        return _Rank.PREFIX
    written = selector.label_selector
    if written is None or not (written.match_labels or written.match_expressions):
        return None
    try:
        return _Rank.LABELS if compile_label_selector(written).matches(pod.labels) else None
    except ValueError:
        return None  # it is not known which pods it selects


def _resolved(policy: Policy, selector: ResourceSelector) -> Found:
    wrong = next(check_distribution_policy(policy), None)
    if wrong is not None:
        return unresolvable(f"{_described(policy)} is not valid: {wrong.field}: {wrong.problem}")
    term = next(term for term in policy.spec.policy_terms or () if term.name == selector.policy_name)
    return None if term.kind_of_nodes == MIX else (policy, term)


def _described(policy: Policy) -> str:
    return f'{type(policy).__name__} "{policy.name}"'


def _rejection(policy: Policy, term: PolicyTerm) -> Status:
    return unresolvable(
        f"node(s) didn't match {_described(policy)} that asks for {_SOUGHT[term.kind_of_nodes]} by term {term.name}"
    )


# -- which nodes a term accepts --


def _suits(term: PolicyTerm, node: NodeView) -> bool:
    if term.kind_of_nodes in (HOST, LEAF):
        return (LEAF_NODE in node.labels) == (term.kind_of_nodes == LEAF)
    chosen = term.advanced_term or AdvancedTerm()
    if chosen.node_name and chosen.node_name == node.name:
        return True
    wanted = _requirement(chosen)
    if wanted is not None and wanted.matches(node.name, node.labels):
        return True
    return bool(chosen.tolerations) and untolerated(chosen.tolerations or (), node.taints) is None


def _suited(term: PolicyTerm, nodes: NodeTable) -> Mask:
    if term.kind_of_nodes in (HOST, LEAF):
        is_leaf: Mask = nodes.label(LEAF_NODE).ids >= 0
        return is_leaf if term.kind_of_nodes == LEAF else ~is_leaf
    chosen = term.advanced_term or AdvancedTerm()
    suited = np.zeros(len(nodes), np.bool_)
    row = nodes.row_of(chosen.node_name) if chosen.node_name else None
    if row is not None:
        suited[row] = True
    wanted = _requirement(chosen)
    if wanted is not None:
        suited |= nodes.matching(wanted)
    if chosen.tolerations:
        suited |= nodes.tolerating(chosen.tolerations, DO_NOT_SCHEDULE)
    return suited


def _requirement(chosen: AdvancedTerm) -> NodeRequirement | None:
    return NodeRequirement(tuple(sorted(chosen.node_selector.items()))) if chosen.node_selector else None


def _is_in_scope(pod: Pod, old: Policy | None, new: Policy | None) -> bool:
    changed = new if new is not None else old
    return changed is not None and changed.namespace in ("", pod.namespace)
