"""
SameRack: a pod that names a rack in its annotations runs only there.

Extension points: Filter.  Requeue: a node of that rack was added, or a node was put into it.
"""

from bayplan.framework import Change, Code, FilterPlugin, On, Reason

ANNOTATION = "racks.example.com/rack"
LABEL = "rack"
OTHER_RACK = Reason(Code.UNRESOLVABLE, "node(s) were in another rack")


class SameRack(FilterPlugin):
    name = "SameRack"
    reasons = (OTHER_RACK,)

    def requeue_on(self):
        return (On("Node", Change.ADDED | Change.LABEL, hint=lambda pod, old, new: suits(pod, new.labels)),)

    def filter_node(self, state, pod, node):
        return None if suits(pod, node.labels) else OTHER_RACK


def suits(pod, labels):
    wanted = pod.annotations.get(ANNOTATION)
    return wanted is None or labels.get(LABEL) == wanted
