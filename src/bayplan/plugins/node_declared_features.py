"""
NodeDeclaredFeatures: a pod whose spec needs a node feature runs only on nodes that declare it.

Two things in a spec need a feature of the node: a restart rule that restarts all containers, and host network
together with a user namespace of its own.  Nodes list what they can in ``status.declaredFeatures``.

Extension points: PreFilter, Filter.  Requeue: a node was added or declares other features, or the pod changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayplan.framework import (
    SKIP,
    Change,
    Code,
    Codes,
    CycleState,
    Depends,
    FilterPlugin,
    NodeTable,
    NodeView,
    On,
    PodTemplate,
    PreFilterPlugin,
    Promise,
    Reason,
    Verdict,
)
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import HasSpec

LACKS_FEATURE = Reason(Code.UNRESOLVABLE, "node(s) didn't match Pod's required features")

RESTART_ALL_CONTAINERS = "RestartAllContainersOnContainerExits"
HOST_NETWORK_USER_NAMESPACE = "UserNamespacesHostNetworkSupport"


class NodeDeclaredFeatures(PreFilterPlugin, FilterPlugin):
    """A pod whose spec needs a node feature runs only on nodes that declare it."""

    name = "NodeDeclaredFeatures"
    reasons = (LACKS_FEATURE,)

    def requeue_on(self) -> Sequence[On]:
        return (
            On("Node", Change.ADDED | Change.DECLARED_FEATURE, hint=_other_features),
            On("Pod", Change.UPDATED, hint=_other_requirements),
        )

    def promise(self, template: PodTemplate) -> Promise | None:
        return Promise(key=required_features(template), filter=Depends.OBJECT)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        return None if required_features(pod) else SKIP

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return None if required_features(pod) <= set(node.object.declared_features) else LACKS_FEATURE

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        has_all = np.ones(len(nodes), np.bool_)
        for feature in sorted(required_features(pod)):
            has_all &= nodes.derive(f"declares {feature}", _Declares(feature), np.bool_)
        return np.where(has_all, 0, self.code(LACKS_FEATURE)).astype(np.uint8)


class _Declares:
    """Does a node declare a feature?"""

    def __init__(self, feature: str) -> None:
        self._feature = feature

    def __call__(self, node: Node) -> bool:
        return self._feature in node.declared_features


def required_features(pod: HasSpec) -> frozenset[str]:
    """What the pod's spec needs of a node."""
    features = set()
    for container in (*pod.containers, *pod.init_containers):
        if any(rule.action == "RestartAllContainers" for rule in container.restart_policy_rules or ()):
            features.add(RESTART_ALL_CONTAINERS)
    if pod.spec.host_network and pod.spec.host_users is False:
        features.add(HOST_NETWORK_USER_NAMESPACE)
    return frozenset(features)


def _other_features(pod: Pod, old: Any, new: Any) -> bool:
    return old is None or old.declared_features != new.declared_features


def _other_requirements(pod: Pod, old: Any, new: Any) -> bool:
    return bool(new.uid == pod.uid and required_features(old) != required_features(new))
