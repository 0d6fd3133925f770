"""
What an update of a node changed, as the events that plugins register for.

``engine.event_handlers`` and the rebalancer ask.

No event at all when nothing changed that a plugin could care about: a kubelet's heartbeat costs nothing.
"""

from __future__ import annotations

from bayplan.framework.events import Change, ClusterEvent
from bayplan.objects.node import Node


def node_update_events(old: Node, new: Node) -> list[ClusterEvent]:
    """One event for each kind of change."""
    return [ClusterEvent("Node", change) for change in _changes(old, new)]


def _changes(old: Node, new: Node) -> list[Change]:
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
