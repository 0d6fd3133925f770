"""
What an update of a pod or a node changed, as the events that plugins register for.

``engine.event_handlers`` asks for pods on nodes and for nodes, ``SchedulingQueue.update`` for waiting pods, and the
rebalancer for nodes.
"""

from __future__ import annotations

from bayplan.framework.events import ASSIGNED_POD, UNSCHEDULED_POD, Change, ClusterEvent
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.requests import Resources


def pod_update_events(old: Pod, new: Pod) -> list[ClusterEvent]:
    """One event for each kind of change; a plain update when nothing that matters by itself changed."""
    kind = ASSIGNED_POD if new.node_name else UNSCHEDULED_POD
    return [ClusterEvent(kind, change) for change in _pod_changes(old, new)] or [ClusterEvent(kind, Change.UPDATED)]


def _pod_changes(old: Pod, new: Pod) -> list[Change]:
    changes: list[Change] = []
    if old.labels != new.labels:
        changes.append(Change.POD_LABEL)
    if _has_shrunk(old.accounted, new.accounted):
        changes.append(Change.POD_SCALE_DOWN)
    if old.gates and not new.gates:
        changes.append(Change.POD_GATES_ELIMINATED)
    # The API server lets tolerations be added, never changed or removed, so counting them is enough.
    if len(old.tolerations) != len(new.tolerations):
        changes.append(Change.POD_TOLERATION)
    if (old.status.resource_claim_statuses or ()) != (new.status.resource_claim_statuses or ()):
        changes.append(Change.POD_GENERATED_CLAIM)
    return changes


def _has_shrunk(old: Resources, new: Resources) -> bool:
    return (
        new.cpu_milli < old.cpu_milli
        or new.memory_bytes < old.memory_bytes
        or new.ephemeral_bytes < old.ephemeral_bytes
        or any(new.scalars.get(name, -1) < amount for name, amount in old.scalars.items())
    )


def node_update_events(old: Node, new: Node) -> list[ClusterEvent]:
    """One event for each kind of change; none if no plugin could care: a kubelet's heartbeat costs nothing."""
    return [ClusterEvent("Node", change) for change in _node_changes(old, new)]


def _node_changes(old: Node, new: Node) -> list[Change]:
    changes: list[Change] = []
    if old.unschedulable and not new.unschedulable:
        # Uncordoning counts as a taint that went, since that is what it does.
        changes.append(Change.TAINT)
    if old.allocatable_map != new.allocatable_map:
        changes.append(Change.ALLOCATABLE)
    if old.labels != new.labels:
        changes.append(Change.LABEL)
    if old.taints != new.taints and Change.TAINT not in changes:
        changes.append(Change.TAINT)
    if _conditions(old) != _conditions(new):
        changes.append(Change.CONDITION)
    if old.annotations != new.annotations:
        changes.append(Change.ANNOTATION)
    if set(old.declared_features) != set(new.declared_features):
        changes.append(Change.DECLARED_FEATURE)
    return changes


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.conditions}
