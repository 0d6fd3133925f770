"""
Claims as they were before a scheduler gave them something for a pod.

A pod whose claims wait for a node is decided first; then the scheduler writes to the claims (a selected node, a volume,
devices), and the bind comes last.  By then the claims name the node, and whoever decides only now would have no choice
left.  ``judge`` looks at such a pod with its claims as they were before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bayplan.bounded_cache import BoundedCache
from bayplan.engine.events import Event, ObjectAdded, ObjectChanged, ObjectDeleted
from bayplan.engine.store import Store
from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.objects.pod import Pod
from bayplan.objects.volume import SELECTED_NODE, PersistentVolume, PersistentVolumeClaim

CLAIM, VOLUME, DEVICES = (each.__name__ for each in (PersistentVolumeClaim, PersistentVolume, ResourceClaim))
MOST = 4096
"""Claims that are remembered; a pod whose claim was forgotten is judged with the claim as it is."""


class GivenClaims:
    """Told of every event before the engine is; ``number`` counts them."""

    def __init__(self) -> None:
        self._given: BoundedCache[tuple[str, str, str], tuple[int, Any]] = BoundedCache(MOST)
        self._volumes: BoundedCache[tuple[str, str], tuple[int, str, PersistentVolume | None]] = BoundedCache(MOST)

    def note(self, number: int, event: Event) -> None:
        match event:
            case ObjectChanged(kind, old, new) if kind in (CLAIM, DEVICES) and _is_open(old) and not _is_open(new):
                self._given[kind, new.namespace, new.name] = number, old
            case ObjectChanged(kind, PersistentVolume() as old, PersistentVolume() as new) if not old.spec.claim_ref:
                self._note_volume(number, old, new)
            case ObjectAdded(kind, PersistentVolume() as new):
                self._note_volume(number, None, new)

    def _note_volume(self, number: int, old: PersistentVolume | None, new: PersistentVolume) -> None:
        claim = new.spec.claim_ref
        if claim is not None:
            self._volumes[claim.namespace, claim.name] = number, new.name, old

    def undoing(self, pod: Pod, since: int, objects: Store) -> list[Event]:
        """What takes back what this pod's claims were given since it came; nothing for most pods."""
        return [
            event for kind, name in _claims(pod) for event in self._undone(kind, pod.namespace, name, since, objects)
        ]

    def _undone(self, kind: str, namespace: str, name: str, since: int, objects: Store) -> Iterator[Event]:
        now = objects.get(kind, namespace, name)
        number, before = self._given.get((kind, namespace, name)) or (-1, None)
        if now is None or number < since or not _waits(now, objects):
            return
        yield ObjectChanged(kind, now, before)
        number, volume_name, before = self._volumes.get((namespace, name)) or (-1, "", None)
        volume = objects.get(VOLUME, "", volume_name) if kind == CLAIM else None
        if volume is None or number < since:
            return
        yield ObjectDeleted(VOLUME, volume) if before is None else ObjectChanged(VOLUME, volume, before)


def inverse(event: Event) -> Event:
    """What takes back one of these events."""
    match event:
        case ObjectChanged(kind, old, new):
            return ObjectChanged(kind, new, old)
        case ObjectDeleted(kind, value):
            return ObjectAdded(kind, value)
    raise TypeError(f"not a change of a claim: {event!r}")


def _claims(pod: Pod) -> Iterator[tuple[str, str]]:
    for name in pod.claim_names:
        yield CLAIM, name
    told = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses or ()}
    for wanted in pod.spec.resource_claims or ():
        found = wanted.resource_claim_name or told.get(wanted.name)
        if found:
            yield DEVICES, found


def _is_open(claim: Any) -> bool:
    """Has it been given nothing yet?"""
    if isinstance(claim, PersistentVolumeClaim):
        return not claim.spec.volume_name and SELECTED_NODE not in claim.annotations
    return isinstance(claim, ResourceClaim) and not claim.is_allocated


def _waits(claim: Any, objects: Store) -> bool:
    """Is it given something only once its pod has a node?"""
    if not isinstance(claim, PersistentVolumeClaim):
        return True
    storage_class = objects.get("StorageClass", "", claim.storage_class)
    return storage_class is not None and bool(storage_class.waits_for_consumer)
