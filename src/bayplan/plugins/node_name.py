"""
NodeName: a pod that names a node runs on that node only.

Pods with a node name are usually on that node already and never come here; this guards the pods that do.

Extension points: Filter.  Requeue: a node was added.
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
from bayplan.objects.pod import Pod

OTHER_NAME = Reason(Code.UNRESOLVABLE, "node(s) didn't match the requested node name")


class NodeName(FilterPlugin):
    """A pod that names a node runs on that node only."""

    name = "NodeName"
    reasons = (OTHER_NAME,)

    def requeue_on(self) -> tuple[On, ...]:
        return (On("Node", Change.ADDED),)

    def promise(self, template: PodTemplate) -> Promise | None:
        return Promise(key=template.spec.node_name, filter=Depends.OBJECT)

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return OTHER_NAME if pod.node_name and pod.node_name != node.name else None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        if not pod.node_name:
            return np.zeros(len(nodes), np.uint8)
        codes = np.full(len(nodes), self.code(OTHER_NAME), np.uint8)
        row = nodes.row_of(pod.node_name)
        if row is not None:
            codes[row] = 0
        return codes
