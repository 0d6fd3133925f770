"""
What an update of a pod changed, as the events that plugins register for.

``SchedulingQueue.update`` uses it for waiting pods; the scheduler uses it for assigned pods.
"""

from __future__ import annotations

from bayplan.framework.events import ASSIGNED_POD, UNSCHEDULED_POD, Change, ClusterEvent
from bayplan.objects.pod import Pod
from bayplan.objects.requests import Resources


def pod_update_events(old: Pod, new: Pod) -> list[ClusterEvent]:
    """One event for each kind of change; a plain update when nothing that matters by itself changed."""
    kind = ASSIGNED_POD if new.node_name else UNSCHEDULED_POD
    return [ClusterEvent(kind, change) for change in _changes(old, new)] or [ClusterEvent(kind, Change.UPDATED)]


def _changes(old: Pod, new: Pod) -> list[Change]:
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
