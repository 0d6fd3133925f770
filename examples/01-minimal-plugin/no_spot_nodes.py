"""NoSpotNodes: pods keep off nodes that may go away at any time, unless they say they do not mind."""

from bayplan.framework import Code, FilterPlugin, Reason

SPOT = Reason(Code.UNRESOLVABLE, "node(s) may go away at any time")


class NoSpotNodes(FilterPlugin):
    name = "NoSpotNodes"
    reasons = (SPOT,)

    def filter_node(self, state, pod, node):
        return SPOT if node.labels.get("lifetime") == "spot" and pod.labels.get("spot") != "ok" else None
