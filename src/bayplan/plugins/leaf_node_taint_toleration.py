"""
LeafNodeTaintToleration: as TaintToleration filters, but leaf nodes are open to every pod.

A leaf node stands for another cluster and carries the taint ``kosmos.io/node:NoSchedule``, which keeps pods of other
schedulers away.  Pods of a profile with this plugin need no toleration for it, whatever its value; all other taints
count as usual.  Enable it at filter in the place of TaintToleration, whose scores go on as they are.

Extension points: Filter.
Requeue: a node was added or its taints changed so that the pod tolerates them now; the pod's own tolerations changed.
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
from bayplan.objects.node import Node, Taint
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import LEAF_NODE
from bayplan.objects.toleration import DO_NOT_SCHEDULE, EXISTS, NO_SCHEDULE, Toleration, untolerated

UNTOLERATED = Reason(Code.UNRESOLVABLE, "node(s) had untolerated taint(s)")

ALWAYS = Toleration(key=LEAF_NODE, operator=EXISTS, effect=NO_SCHEDULE)


class LeafNodeTaintToleration(FilterPlugin):
    """As TaintToleration filters, but leaf nodes are open to every pod."""

    name = "LeafNodeTaintToleration"
    reasons = (UNTOLERATED,)

    def requeue_on(self) -> tuple[On, ...]:
        return (
            On("Node", Change.ADDED | Change.TAINT, _tolerated_now),
            On("Pod", Change.POD_TOLERATION, _is_own),
        )

    def promise(self, template: PodTemplate) -> Promise | None:
        return Promise(key=template.tolerations, filter=Depends.OBJECT)

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return None if _offending(pod, node.taints) is None else UNTOLERATED

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        answer: Codes = (nodes.untolerated((*pod.tolerations, ALWAYS), DO_NOT_SCHEDULE) > 0).view(np.uint8)
        return answer


def _offending(pod: Pod, taints: tuple[Taint, ...]) -> Taint | None:
    return untolerated((*pod.tolerations, ALWAYS), taints)


def _tolerated_now(pod: Pod, old: Node | None, new: Node) -> bool:
    was_kept_off = old is None or _offending(pod, old.taints) is not None
    return was_kept_off and _offending(pod, new.taints) is None


def _is_own(pod: Pod, old: Pod | None, new: Pod) -> bool:
    return new.uid == pod.uid
