"""
NodeUnschedulable: keep pods off cordoned nodes.

``spec.unschedulable`` counts like the taint ``node.kubernetes.io/unschedulable:NoSchedule``: a pod that
tolerates that taint may still go there, as DaemonSet pods do.

Extension points: Filter.
Requeue: a schedulable node was added or a node uncordoned; the pod itself tolerates cordoned nodes now.
"""

from __future__ import annotations

import numpy as np

from bayplan.framework import (
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
    Promise,
    Reason,
    Verdict,
)
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import HasSpec
from bayplan.objects.toleration import NO_SCHEDULE, UNSCHEDULABLE_TAINT_KEY, Taint, tolerates

CORDONED = Reason(Code.UNRESOLVABLE, "node(s) were unschedulable")

CORDON_TAINT = Taint(key=UNSCHEDULABLE_TAINT_KEY, effect=NO_SCHEDULE)


class NodeUnschedulable(FilterPlugin):
    """Keep pods off cordoned nodes."""

    name = "NodeUnschedulable"
    reasons = (CORDONED,)

    def requeue_on(self) -> tuple[On, ...]:
        return (
            On("Node", Change.ADDED | Change.TAINT, _is_open_now),
            On("Pod", Change.POD_TOLERATION, _tolerates_now),
        )

    def promise(self, template: PodTemplate) -> Promise | None:
        return Promise(key=_may_use_cordoned(template), filter=Depends.OBJECT)

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return CORDONED if node.unschedulable and not _may_use_cordoned(pod) else None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        if _may_use_cordoned(pod):
            return np.zeros(len(nodes), np.uint8)
        return nodes.unschedulable.astype(np.uint8)


def _may_use_cordoned(pod: HasSpec) -> bool:
    return any(tolerates(toleration, CORDON_TAINT) for toleration in pod.tolerations)


def _is_open_now(pod: Pod, old: Node | None, new: Node) -> bool:
    return not new.unschedulable and (old is None or old.unschedulable)


def _tolerates_now(pod: Pod, old: Pod | None, new: Pod) -> bool:
    return new.uid == pod.uid and _may_use_cordoned(new)
