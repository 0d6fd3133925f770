"""
LeafNodeVolumeBinding: VolumeBinding for clusters with leaf nodes, whose volumes live in the clusters behind them.

A node that stands for a whole cluster (annotation ``leafNodeMode: one2cluster``) is suitable if the volumes are in that
cluster: they say so in the annotation ``kosmos-io/cluster-owners``, or their node affinity matches; claims without a
volume need one that can be reached there or a provisioner.  Other leaf nodes take pods without bound claims as they
are.  Real nodes never take claims that belong to a cluster.  Everything else is as VolumeBinding has it.  On leaf nodes
nothing is bound here: the cluster behind them does that.  Enable it in the place of VolumeBinding.

Extension points: PreFilter, Filter, Reserve, PreBind.
Requeue: as VolumeBinding; besides, a node's annotations changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt
from pydantic import Field

from bayplan.framework import (
    SKIP,
    Change,
    Code,
    CycleState,
    FilterPlugin,
    Mask,
    NodeTable,
    NodeView,
    On,
    PluginArgs,
    PodTemplate,
    PreBindPlugin,
    PreFilterPlugin,
    Promise,
    Reason,
    ReservePlugin,
    Verdict,
    Verdicts,
)
from bayplan.framework.handle import Handle, handle_of
from bayplan.framework.plugin import MaybeAwaitable
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import CLUSTER_OWNERS, LEAF_MODE, LEAF_NODE, OWNED_BY_CLUSTER, WHOLE_CLUSTER
from bayplan.objects.toleration import NO_SCHEDULE
from bayplan.plugins.volume_binding import VolumeBinding, VolumeBindingArgs
from bayplan.plugins.volume_binding.claims import DelayedClaim, PodClaims
from bayplan.plugins.volume_binding.filtering import BIND_CONFLICT, NO_VOLUME, NODE_CONFLICT
from bayplan.plugins.volume_binding.plugin import CLAIMS
from bayplan.plugins.volume_binding.reaching import reached_by

OTHER_CLUSTER = Reason(Code.UNRESOLVABLE, "node(s) had volumes or claims that belong to another cluster")

LEAF_VERDICTS = (NO_VOLUME, OTHER_CLUSTER, NODE_CONFLICT, BIND_CONFLICT)
_NO_VOLUME, _OTHER_CLUSTER, _NODE_CONFLICT, _BIND_CONFLICT = range(1, 5)

Faults = npt.NDArray[np.uint16]


class LeafNodeVolumeBindingArgs(PluginArgs):
    """What the profile may set under ``pluginConfig: LeafNodeVolumeBinding``."""

    bind_timeout_seconds: int = Field(600, ge=0)


class LeafNodeVolumeBinding(PreFilterPlugin, FilterPlugin, ReservePlugin, PreBindPlugin):
    """VolumeBinding for clusters with leaf nodes, whose volumes live in the clusters behind them."""

    name = "LeafNodeVolumeBinding"
    Args = LeafNodeVolumeBindingArgs
    reasons = (*VolumeBinding.reasons, OTHER_CLUSTER)
    reads = VolumeBinding.reads
    allows_parallel = True

    def __init__(self, args: LeafNodeVolumeBindingArgs | None = None, handle: Handle | None = None) -> None:
        super().__init__(args or LeafNodeVolumeBindingArgs(), handle)
        timeout = VolumeBindingArgs(bind_timeout_seconds=self.args.bind_timeout_seconds)
        self._in_tree = VolumeBinding(timeout, handle)

    def requeue_on(self) -> tuple[On, ...]:
        return (*self._in_tree.requeue_on(), On("Node", Change.ANNOTATION))

    def promise(self, template: PodTemplate) -> Promise | None:
        return self._in_tree.promise(template)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        return self._in_tree.pre_filter(state, pod, nodes)

    # -- one node --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        claims = state.get(CLAIMS)
        if claims is None:
            return self._in_tree.filter_node(state, pod, node)
        if _is_whole_cluster(node.object):
            return _fault(claims, node.name, node.labels, node.annotations.get(OWNED_BY_CLUSTER, ""))
        if _is_leaf(node.object):
            return None if not claims.bound else self._in_tree.filter_node(state, pod, node)
        if any(_owners(each) for each in _owned(claims)):
            return OTHER_CLUSTER
        return self._in_tree.filter_node(state, pod, node)

    # -- all nodes --

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdicts:
        claims = state.get(CLAIMS)
        in_tree = self._in_tree.filter(state, pod, nodes)
        if claims is None:
            return in_tree
        statuses = (*LEAF_VERDICTS, *in_tree.statuses)
        codes: Faults = in_tree.codes.astype(np.uint16)
        codes[codes > 0] += len(LEAF_VERDICTS)
        is_leaf = nodes.derive("kosmos leaf", _is_leaf, np.bool_)
        is_cluster = nodes.derive("kosmos whole cluster", _is_whole_cluster, np.bool_)
        if not claims.bound:
            codes[is_leaf] = 0
        if any(_owners(each) for each in _owned(claims)):
            codes[~is_leaf] = _OTHER_CLUSTER
        if is_cluster.any():
            codes = np.where(is_cluster, _faults(claims, nodes), codes)
        return Verdicts(codes, statuses)

    # -- committing: claims of pods on leaf nodes are bound in the cluster behind --

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        return None if self._binds_elsewhere(node_name) else self._in_tree.reserve(state, pod, node_name)

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._in_tree.unreserve(state, pod, node_name)

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        return SKIP if self._binds_elsewhere(node_name) else self._in_tree.pre_bind_pre_flight(state, pod, node_name)

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> MaybeAwaitable:
        return self._in_tree.pre_bind(state, pod, node_name)

    def _binds_elsewhere(self, node_name: str) -> bool:
        nodes = handle_of(self).snapshot().nodes
        row = nodes.row_of(node_name)
        return row is not None and any(
            (taint.key, taint.value, taint.effect) == (LEAF_NODE, "true", NO_SCHEDULE)
            for taint in nodes.object_at(row).taints
        )


# -- what nodes and volumes say of themselves --


def _is_leaf(node: Node) -> bool:
    return node.labels.get(LEAF_NODE) == "true"


def _is_whole_cluster(node: Node) -> bool:
    return _is_leaf(node) and node.annotations.get(LEAF_MODE) == WHOLE_CLUSTER


def _owners(thing: ApiObject) -> frozenset[str]:
    return frozenset(filter(None, (name.strip() for name in thing.annotations.get(CLUSTER_OWNERS, "").split(","))))


def _owned(claims: PodClaims) -> Iterable[ApiObject]:
    """Everything of a pod that may belong to a cluster."""
    for bound in claims.bound:
        yield bound.claim
        if bound.volume is not None:
            yield bound.volume
    for delayed in (*claims.selected, *claims.open):
        yield delayed.claim


# -- nodes that stand for a cluster: one, then all --


def _fault(claims: PodClaims, name: str, labels: Mapping[str, str], cluster: str) -> Reason | None:
    """The first thing that is wrong with a node that stands for a cluster."""
    for bound in claims.bound:
        if bound.volume is None:
            return NO_VOLUME
        owners = _owners(bound.volume)
        if owners and cluster not in owners:
            return OTHER_CLUSTER
        wanted = bound.volume.node_requirement
        # A volume that names neither clusters nor nodes is one of this cluster, and not reached from another.
        if not owners and (wanted is None or not wanted.matches("", labels)):
            return NODE_CONFLICT
    for delayed in (*claims.selected, *claims.open):
        owners = _owners(delayed.claim)
        if owners and cluster not in owners:
            return OTHER_CLUSTER
        if delayed.selected_node not in (None, name):
            return BIND_CONFLICT
        if not owners and not _can_have(delayed, labels):
            return BIND_CONFLICT
    return None


def _can_have(delayed: DelayedClaim, labels: Mapping[str, str]) -> bool:
    """Is there a volume for the claim, or can one be made?"""
    for volume in (*delayed.set_aside, *delayed.open):
        wanted = volume.node_requirement
        if wanted is None or wanted.matches("", labels):
            return True
    return delayed.storage_class.can_provision and delayed.storage_class.allows(labels)


class _Clusters:
    """A number for each cluster behind a leaf node, so that one column holds them."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, node: Node) -> int:
        return self._numbers.setdefault(node.annotations.get(OWNED_BY_CLUSTER, ""), len(self._numbers))

    def among(self, nodes: NodeTable, names: frozenset[str]) -> Mask:
        column = nodes.derive("kosmos cluster", self.of, np.int32)
        wanted = [self._numbers[name] for name in names if name in self._numbers]
        found: Mask = np.isin(column, wanted)
        return found


# Tables keep a derived column under its name, so all profiles must number clusters alike.
_CLUSTERS = _Clusters()


def _faults(claims: PodClaims, nodes: NodeTable) -> Faults:
    """``_fault`` for every row, as codes."""
    faults = np.zeros(len(nodes), np.uint16)

    def mark(where: Mask, code: int) -> None:
        faults[where & (faults == 0)] = code

    everywhere = np.ones(len(nodes), np.bool_)
    for bound in claims.bound:
        if bound.volume is None:
            mark(everywhere, _NO_VOLUME)
            break
        owners = _owners(bound.volume)
        if owners:
            mark(~_CLUSTERS.among(nodes, owners), _OTHER_CLUSTER)
        else:
            wanted = bound.volume.node_requirement
            mark(everywhere if wanted is None else ~nodes.matching(wanted), _NODE_CONFLICT)
    for delayed in (*claims.selected, *claims.open):
        owners = _owners(delayed.claim)
        if owners:
            mark(~_CLUSTERS.among(nodes, owners), _OTHER_CLUSTER)
        if delayed.selected_node is not None:
            others = everywhere.copy()
            row = nodes.row_of(delayed.selected_node)
            if row is not None:
                others[row] = False
            mark(others, _BIND_CONFLICT)
        if not owners:
            mark(~_could_have(delayed, nodes), _BIND_CONFLICT)
    return faults


def _could_have(delayed: DelayedClaim, nodes: NodeTable) -> Mask:
    found = np.zeros(len(nodes), np.bool_)
    if delayed.storage_class.can_provision:
        found = found | reached_by(nodes, delayed.storage_class.node_requirement)
    for volume in (*delayed.set_aside, *delayed.open):
        if found.all():
            break
        found = found | reached_by(nodes, volume.node_requirement)
    return found
