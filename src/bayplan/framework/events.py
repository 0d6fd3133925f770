"""
What can happen in a cluster, and how a plugin says which of it could change its mind.

The engine describes every change as a ``ClusterEvent``; a plugin's ``requeue_on`` lists ``On(...)`` entries.
``ClusterEvent`` and ``On`` are compared by ``On.matches``, the rule of the scheduling framework.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntFlag
from typing import Any, TypeAlias

from bayplan.objects.pod import Pod


class Change(IntFlag):
    """What changed.  The bits are in upstream's order, since matching compares them as numbers."""

    ADDED = 1 << 0
    DELETED = 1 << 1
    ALLOCATABLE = 1 << 2
    LABEL = 1 << 3
    TAINT = 1 << 4
    CONDITION = 1 << 5
    ANNOTATION = 1 << 6
    DECLARED_FEATURE = 1 << 7
    POD_LABEL = 1 << 8
    POD_SCALE_DOWN = 1 << 9
    POD_TOLERATION = 1 << 10
    POD_GATES_ELIMINATED = 1 << 11
    POD_GENERATED_CLAIM = 1 << 12
    UPDATED = (1 << 13) - 1 - ADDED - DELETED
    ANY = (1 << 13) - 1


# Upstream's names, for metrics and logs: "NodeUpdateNodeTaint", "AssignedPodDelete".
_ACTION_NAMES = {
    Change.ADDED: "Add",
    Change.DELETED: "Delete",
    Change.ALLOCATABLE: "UpdateNodeAllocatable",
    Change.LABEL: "UpdateNodeLabel",
    Change.TAINT: "UpdateNodeTaint",
    Change.CONDITION: "UpdateNodeCondition",
    Change.ANNOTATION: "UpdateNodeAnnotation",
    Change.DECLARED_FEATURE: "UpdateNodeDeclaredFeature",
    Change.POD_LABEL: "UpdatePodLabel",
    Change.POD_SCALE_DOWN: "UpdatePodScaleDown",
    Change.POD_TOLERATION: "UpdatePodToleration",
    Change.POD_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    Change.POD_GENERATED_CLAIM: "UpdatePodGeneratedResourceClaim",
    Change.UPDATED: "Update",
}

ASSIGNED_POD = "AssignedPod"
UNSCHEDULED_POD = "UnschedulablePod"
POD_KINDS = frozenset({"Pod", ASSIGNED_POD, UNSCHEDULED_POD})


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """One change in the cluster, as the queue sees it."""

    kind: str
    change: Change
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or f"{self.kind}{_ACTION_NAMES.get(self.change, 'Update')}"

    @property
    def is_wildcard(self) -> bool:
        return self.kind == "*" and self.change == Change.ANY


UNSCHEDULABLE_TIMEOUT = ClusterEvent("*", Change.ANY, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent("*", Change.ANY, "ForceActivate")
ASSIGNED_POD_ADD = ClusterEvent(ASSIGNED_POD, Change.ADDED)
ASSIGNED_POD_DELETE = ClusterEvent(ASSIGNED_POD, Change.DELETED)
UNSCHEDULED_POD_ADD = ClusterEvent(UNSCHEDULED_POD, Change.ADDED)
UNSCHEDULED_POD_UPDATE = ClusterEvent(UNSCHEDULED_POD, Change.UPDATED)
NODE_ADD = ClusterEvent("Node", Change.ADDED)

Hint: TypeAlias = "Callable[[Pod, Any, Any], bool]"
"""``hint(waiting_pod, old, new)``: could this change let the pod be scheduled?  Objects, or None where absent."""


@dataclass(frozen=True, slots=True)
class On:
    """Ask the plugin again when ``kind`` changes so; with a hint, only when the hint says it could help."""

    kind: str
    change: Change
    hint: Hint | None = None

    def matches(self, event: ClusterEvent) -> bool:
        if self.kind == "*" and self.change == Change.ANY:
            return True
        if not _same_kind(self.kind, event.kind):
            return False
        return bool(self.change & event.change) and event.change <= self.change


ON_ANYTHING = (On("*", Change.ANY),)


def _same_kind(registered: str, incoming: str) -> bool:
    if registered in ("*", incoming):
        return True
    return registered == "Pod" and incoming in POD_KINDS
