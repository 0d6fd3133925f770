"""
TaintToleration: keep pods off nodes whose taints they do not tolerate, and prefer nodes with fewer of them.

NoSchedule and NoExecute taints keep a pod away.  PreferNoSchedule taints only count against a node: the
score is the number of those the pod does not tolerate, turned round so that the node with none gets 100.

Extension points: Filter, PreScore, Score (normalised).
Requeue: a node was added or its taints changed so that the pod tolerates them now; the pod's own tolerations
changed.
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
    PreScorePlugin,
    Promise,
    Reason,
    Rows,
    ScorePlugin,
    Scores,
    Verdict,
)
from bayplan.framework.normalize import by_maximum
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.toleration import DO_NOT_SCHEDULE, PREFER_NO_SCHEDULE, tolerates, untolerated

UNTOLERATED = Reason(Code.UNRESOLVABLE, "node(s) had untolerated taint(s)")

_PREFER = frozenset((PREFER_NO_SCHEDULE,))


class TaintToleration(FilterPlugin, PreScorePlugin, ScorePlugin):
    """Keep pods off nodes whose taints they do not tolerate, and prefer nodes with fewer of them."""

    name = "TaintToleration"
    reasons = (UNTOLERATED,)

    def requeue_on(self) -> tuple[On, ...]:
        return (
            On("Node", Change.ADDED | Change.TAINT, _tolerated_now),
            On("Pod", Change.POD_TOLERATION, _is_own),
        )

    def promise(self, template: PodTemplate) -> Promise | None:
        return Promise(key=template.tolerations, filter=Depends.OBJECT, score=Depends.OBJECT)

    # -- one node --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return None if untolerated(pod.tolerations, node.taints) is None else UNTOLERATED

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        avoided = (taint for taint in node.taints if taint.effect == PREFER_NO_SCHEDULE)
        return sum(not any(tolerates(each, taint) for each in pod.tolerations) for taint in avoided)

    # -- all nodes --

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        answer: Codes = (nodes.untolerated(pod.tolerations, DO_NOT_SCHEDULE) > 0).view(np.uint8)
        return answer

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> Verdict:
        """Nothing to prepare: the extension point exists so that profiles may name the plugin there."""
        return None

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        return nodes.untolerated(pod.tolerations, _PREFER)

    def normalize(self, state: CycleState, pod: Pod, scores: Scores, feasible: Rows) -> Scores:
        return by_maximum(scores, reverse=True)


def _tolerated_now(pod: Pod, old: Node | None, new: Node) -> bool:
    was_kept_off = old is None or untolerated(pod.tolerations, old.taints) is not None
    return was_kept_off and untolerated(pod.tolerations, new.taints) is None


def _is_own(pod: Pod, old: Pod | None, new: Pod) -> bool:
    return new.uid == pod.uid
