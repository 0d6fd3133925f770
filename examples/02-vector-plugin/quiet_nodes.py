"""
QuietNodes: prefer nodes that run few pods for their size.

Written twice, side by side: for one node, as one would say it aloud, and for all nodes at once, over columns.  The
engine calls whichever is cheaper, and ``test_quiet_nodes.py`` proves that both say the same.

Extension points: Score.  Requeue: nothing, a score rejects nobody.
"""

import numpy as np

from bayplan.framework import MAX_SCORE, Depends, Promise, ScorePlugin


class QuietNodes(ScorePlugin):
    name = "QuietNodes"

    def requeue_on(self):
        return ()

    def promise(self, template):
        # Nothing is read of a pod, and a node's score depends on how many pods it has and may have.
        return Promise(key=(), score=Depends.AMOUNTS)

    # -- one node --

    def score_node(self, state, pod, node):
        free = max(node.alloc_pods_count - node.pods_count, 0)
        return free * MAX_SCORE // max(node.alloc_pods_count, 1)

    # -- all nodes --

    def score(self, state, pod, nodes):
        free = np.maximum(nodes.alloc_pods_count - nodes.pods_count, 0)
        return free * MAX_SCORE // np.maximum(nodes.alloc_pods_count, 1)
