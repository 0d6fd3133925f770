"""
What a plugin promises about its answers, so that the engine may keep them from one pod to the next.

``Plugin.promise`` gives one for each template; ``engine.promises`` asks for it.  A plugin that promises nothing is
asked again for every pod: right, and slower.  ``bayplan.testing.assert_promises_hold`` proves that a promise is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from bayplan.objects.pod import Pod


class Depends(IntEnum):
    """What a plugin's answer for one node depends on, beside the template and API objects that are not nodes."""

    OBJECT = 1
    """That node's object alone, whatever runs on it."""
    AMOUNTS = 2
    """What that node has of each resource, and what its pods take of it and how many they are."""
    ROW = 3
    """That node's own row: its object, the pods on it, and what the plugin tells of by ``Handle.node_changed``."""
    NODES = 4
    """The objects of all nodes, whatever runs on them."""
    TERMS = 5
    """Affinity terms of pods on nodes that select the pod; while there are none it skips the pod."""
    DOMAIN = 6
    """Its row, and counts of pods over a topology domain."""
    ANYTHING = 7
    """Nothing is promised; the plugin is asked again every time."""


class Promise(Struct, frozen=True, kw_only=True):
    """
    What a plugin's answers for the pods of one template depend on.

    It is asked for again when an object of a kind that the plugin ``reads`` changes, or a Namespace.  Pods whose status
    says what they take are evaluated in full.
    """

    key: Hashable
    """All that it reads of the template, and of API objects that are not nodes: equal keys get equal answers."""
    filter: Depends = Depends.ANYTHING
    """What PreFilter and Filter say depends on this."""
    score: Depends = Depends.ANYTHING
    """What PreScore and Score say depends on this."""
    reserves: bool = True
    """False if Reserve, Unreserve and Permit have nothing to do for such a pod, and never reject it."""
    keep: bool = True
    """False if it is quicker to ask again than to keep answers about all nodes, as for pods that name their nodes."""
    pod_key: Callable[[Pod], Hashable] | None = None
    """
    What it reads of objects that are one pod's own, such as claims that were made for it.  Pods of one template with
    equal ones get equal answers.  ``None`` for a pod: nothing is promised for this one.  It is asked for every pod.
    """

    def for_pod(self, pod: Pod) -> Promise | None:
        """What is promised for one pod of the template."""
        if self.pod_key is None:
            return self
        own = self.pod_key(pod)
        return None if own is None else replace(self, key=(self.key, own), pod_key=None)
