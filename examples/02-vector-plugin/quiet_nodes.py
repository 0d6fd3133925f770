"""
QuietNodes: prefer nodes that run few pods for their size.

Written twice, side by side: for one node, as one would say it aloud, and for all nodes at once, over columns.  The
engine calls whichever is cheaper, and ``test_quiet_nodes.py`` proves that both say the same.

Extension points: Score.  Requeue: nothing, a score rejects nobody.
"""

import numpy as np

from bayplan.framework import MAX_SCORE, Depends, ScorePlugin


class QuietNodes(ScorePlugin):
    name = "QuietNodes"
    score_depends = Depends.AMOUNTS  # a node's score depends on how many pods it has and may have

    def requeue_on(self):
        return ()

    def signature(self, pod):
        return None  # nothing of the pod is read, so all pods get the same answers

    # -- one node --

    def score_node(self, state, pod, node):
        free = max(node.alloc_pods_count - node.pods_count, 0)
        return free * MAX_SCORE // max(node.alloc_pods_count, 1)

    # -- all nodes --

    def score(self, state, pod, nodes):
        free = np.maximum(nodes.alloc_pods_count - nodes.pods_count, 0)
        return free * MAX_SCORE // np.maximum(nodes.alloc_pods_count, 1)
