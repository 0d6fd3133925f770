"""PreferFastDisks: pods that ask for fast disks go to nodes that have them, where possible."""

from bayplan.framework import ScorePlugin


class PreferFastDisks(ScorePlugin):
    name = "PreferFastDisks"

    def score_node(self, state, pod, node):
        return 100 if pod.labels.get("disk") == "fast" and node.labels.get("disk") == "fast" else 0
