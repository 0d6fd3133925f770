"""
VolumeBinding: a pod runs where its volumes can be reached, or can still be made.

Claims that are bound tie the pod to the nodes that reach their volumes.  Claims whose class waits for the first
consumer are bound together with the pod: on each node to the smallest free volume that would serve, else to one that
the class's provisioner can make for that node, if the driver has room there.  Before the pod is bound the choice is
written to the API and the plugin waits until the claims are bound.

Extension points: PreFilter, Filter, PreScore, Score, Reserve, PreBind.
Requeue: a claim of the pod, a volume, a node's labels, a class, a CSINode, a CSIDriver or a CSIStorageCapacity
changed so that it may help.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from bayplan.framework import (
    SKIP,
    Code,
    CycleState,
    Depends,
    FilterPlugin,
    Key,
    NodeTable,
    NodeView,
    On,
    PluginArgs,
    PodTemplate,
    PreBindPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    Promise,
    Reason,
    ReservePlugin,
    Rows,
    ScorePlugin,
    Scores,
    Status,
    Verdict,
    Verdicts,
    failed,
)
from bayplan.framework.handle import handle_of
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import HasSpec
from bayplan.plugins.csi_nodes import CSINodes
from bayplan.plugins.volume_binding import binding, filtering, requeueing
from bayplan.plugins.volume_binding.assumed import Assumed, OutOfSyncError
from bayplan.plugins.volume_binding.binding import Reserved
from bayplan.plugins.volume_binding.claims import UNBOUND_IMMEDIATE, ClaimReader, PodClaims
from bayplan.plugins.volume_binding.filtering import BIND_CONFLICT, NO_SPACE, NO_VOLUME, NODE_CONFLICT

NOT_PREPARED = failed("VolumeBinding filters what its PreFilter prepares; enable it at preFilter as well")

# Writing comes before the waiting that the profile limits; many claims and a slow API server take a while.
WRITE_S = 300.0

CLAIMS: Key[PodClaims] = Key("VolumeBinding.claims")
RESERVED: Key[Reserved] = Key("VolumeBinding.reserved")


class VolumeBindingArgs(PluginArgs):
    """What the profile may set under ``pluginConfig: VolumeBinding``."""

    bind_timeout_seconds: int = Field(600, ge=0)
    shape: tuple[dict[str, Any], ...] | None = None

    @field_validator("shape")
    @classmethod
    def _no_shape(cls, shape: object) -> None:
        if shape is not None:
            raise ValueError("scoring by storage capacity is an alpha feature that Bayplan does not have; remove it")


class VolumeBinding(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    """A pod runs where its volumes can be reached, or can still be made."""

    name = "VolumeBinding"
    Args = VolumeBindingArgs
    reasons = (
        NODE_CONFLICT,
        BIND_CONFLICT,
        NO_SPACE,
        NO_VOLUME,
        Reason(Code.UNRESOLVABLE, UNBOUND_IMMEDIATE),
    )
    reads = (
        "PersistentVolumeClaim",
        "PersistentVolume",
        "StorageClass",
        "CSINode",
        "CSIDriver",
        "CSIStorageCapacity",
    )
    allows_parallel = True

    def requeue_on(self) -> tuple[On, ...]:
        return requeueing.rules()

    def promise(self, template: PodTemplate) -> Promise | None:
        """Without claims it skips the pod, and has nothing to bind."""
        if _has_claims(template):
            return None
        return Promise(key=(), filter=Depends.OBJECT, score=Depends.OBJECT, reserves=False)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        if not _has_claims(pod):
            return SKIP
        claims = self._reader.read(pod)
        if isinstance(claims, Status):
            return claims
        state[CLAIMS] = claims
        return None

    # -- one node --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        found = self._on_node(state, node)
        return found if isinstance(found, Status) else None

    # -- all nodes --

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdicts:
        claims = state.get(CLAIMS)
        if claims is None:
            return Verdicts(np.ones(len(nodes), np.uint8), (NOT_PREPARED,))
        return filtering.on_all(claims, nodes, self._csi_nodes)

    # -- scoring: only kube-scheduler's alpha feature StorageCapacityScoring would have something to say --

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> Verdict:
        return SKIP

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        return 0

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        return np.zeros(len(nodes), np.int64)

    # -- committing --

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        claims = state.get(CLAIMS)
        if claims is None or not (claims.selected or claims.open):
            return None
        nodes = handle_of(self).snapshot().nodes
        row = nodes.row_of(node_name)
        if row is None:
            return failed(f'node "{node_name}" is not there any more')
        found = self._on_node(state, nodes.node(row))
        if isinstance(found, Status):
            return found
        try:
            state[RESERVED] = binding.reserve(found, node_name, self._assumed)
        except OutOfSyncError as error:
            return failed(error)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        reserved = state.get(RESERVED)
        if reserved is not None:
            reserved.give_back(self._assumed)

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        return None if RESERVED in state else SKIP

    def pre_bind_timeout_s(self) -> float:
        return self._bind_timeout_s + WRITE_S

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Awaitable[Verdict]:
        return binding.bind(state[RESERVED], pod, node_name, handle_of(self), self._bind_timeout_s)

    @property
    def _bind_timeout_s(self) -> float:
        return float((self.args or VolumeBindingArgs()).bind_timeout_seconds)

    # -- what it keeps --

    def _on_node(self, state: CycleState, node: NodeView) -> filtering.Found | Status:
        claims = state.get(CLAIMS)
        if claims is None:
            return NOT_PREPARED
        return filtering.on_node(claims, node.name, node.labels, self._csi_nodes.get(node.name))

    @cached_property
    def _assumed(self) -> Assumed:
        return Assumed(handle_of(self).objects)

    @cached_property
    def _reader(self) -> ClaimReader:
        return ClaimReader(handle_of(self).objects, self._assumed)

    @cached_property
    def _csi_nodes(self) -> CSINodes:
        return CSINodes(handle_of(self).objects)


def _has_claims(pod: HasSpec) -> bool:
    return any(each.has_claim for each in pod.volumes)
