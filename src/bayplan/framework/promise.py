"""
What a plugin promises about its answers, so that the engine may keep them from one pod to the next.

``Plugin.promise`` gives one for each template; ``engine.promises`` asks for it.  A plugin that promises nothing is
asked again for every pod: right, and slower.  ``bayplan.testing.assert_promises_hold`` proves that a promise is kept.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import IntEnum

from msgspec import Struct


class Depends(IntEnum):
    """What a plugin's answer for one node depends on, beside the template and API objects that are not nodes."""

    OBJECT = 1
    """That node's object alone, whatever runs on it."""
    AMOUNTS = 2
    """What that node has of each resource, and what its pods take of it and how many they are."""
    ROW = 3
    """That node's own row: its object, and the pods on it."""
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

    It is asked for again when an API object changes.  Pods whose status says what they take are evaluated in full.
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
