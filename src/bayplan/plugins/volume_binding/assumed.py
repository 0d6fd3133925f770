"""
What volumes and claims will say once the API server has heard of our decisions.

Between choosing a node and the event that claims are bound lie seconds.  Until then the next pods must see a chosen
volume as taken: ``Assumed`` shows the changed object in place of the stored one, as long as the stored one is the
version that was changed.  What the API server says always wins.

``plugin`` has one for each profile, as kube-scheduler does.  Pods of two profiles can so choose the same volume at
the same time; the second write then fails with a conflict and its pod is tried again.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import NamedTuple, TypeAlias

from bayplan.framework.handle import ObjectStore
from bayplan.objects.volume import PersistentVolume, PersistentVolumeClaim
from bayplan.plugins.object_index import Follower

Changeable: TypeAlias = "PersistentVolume | PersistentVolumeClaim"

# Entries that events made void are only looked for when there are this many.
MANY = 256


class _Change(NamedTuple):
    base: Changeable
    changed: Changeable


class OutOfSyncError(Exception):
    """The object changed since the decision was made about it."""


class Assumed:
    """PersistentVolumes and PersistentVolumeClaims as they will be."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._changes: dict[tuple[str, str, str], _Change] = {}
        self._free: dict[str, list[tuple[int, str]]] = {}
        """By class, size and name of the volumes that name no claim, in this order."""
        self._set_aside: dict[str, dict[str, None]] = {}
        """By claim, the names of the volumes that name it."""
        self._follower: Follower[PersistentVolume] = Follower(objects, "PersistentVolume", self._moved)

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        found: PersistentVolumeClaim | None = self._objects.get("PersistentVolumeClaim", namespace, name)
        changed = None if found is None else self._changed(found)
        return changed if isinstance(changed, PersistentVolumeClaim) else found

    def volume(self, name: str) -> PersistentVolume | None:
        found: PersistentVolume | None = self._objects.get("PersistentVolume", "", name)
        return None if found is None else self._as_assumed(found)

    def free_volumes(self, storage_class: str, at_least_bytes: int) -> list[PersistentVolume]:
        """Volumes that name no claim, the smallest first and by name, so that a choice among equals repeats itself."""
        self._follower.catch_up()
        known = self._free.get(storage_class, [])
        large_enough = known[bisect_left(known, (at_least_bytes, "")) :]
        if not self._changes:
            get = self._objects.get
            return [found for _, name in large_enough if (found := get("PersistentVolume", "", name)) is not None]
        volumes = (self.volume(name) for _, name in large_enough)
        return [each for each in volumes if each is not None and each.spec.claim_ref is None]

    def volumes_for(self, claim: PersistentVolumeClaim) -> list[PersistentVolume]:
        """Volumes that name the claim, in the same order."""
        self._follower.catch_up()
        names = dict.fromkeys(self._set_aside.get(claim.key, ()))
        names.update((key[2], None) for key in self._changes if key[0] == "PersistentVolume")
        volumes = (self.volume(name) for name in names)
        found = [each for each in volumes if each is not None and each.is_set_aside_for(claim)]
        return sorted(found, key=_by_size)

    def assume(self, base: Changeable, changed: Changeable) -> None:
        """Show ``changed`` in place of ``base``."""
        if not self._is_current(base):
            raise OutOfSyncError(f'"{base.key}" changed while the pod was being placed')
        if len(self._changes) >= MANY:
            self._sweep()
        self._changes[_key(base)] = _Change(base, changed)

    def restore(self, changed: Changeable) -> None:
        """Take it back, unless something else was assumed since."""
        known = self._changes.get(_key(changed))
        if known is not None and known.changed is changed:
            del self._changes[_key(changed)]

    def _moved(self, volume: PersistentVolume, sign: int) -> None:
        named = volume.spec.claim_ref
        if named is not None:
            known = self._set_aside.setdefault(f"{named.namespace}/{named.name}", {})
            if sign > 0:
                known[volume.name] = None
            else:
                del known[volume.name]
            return
        free = self._free.setdefault(volume.storage_class, [])
        if sign > 0:
            insort(free, _by_size(volume))
        else:
            del free[bisect_left(free, _by_size(volume))]

    def _as_assumed(self, volume: PersistentVolume) -> PersistentVolume:
        changed = self._changed(volume) if self._changes else None
        return changed if isinstance(changed, PersistentVolume) else volume

    def _changed(self, stored: Changeable) -> Changeable | None:
        known = self._changes.get(_key(stored))
        return known.changed if known is not None and _is_same(known.base, stored) else None

    def _is_current(self, base: Changeable) -> bool:
        stored = self._objects.get(*_key(base))
        return stored is not None and _is_same(base, stored)

    def _sweep(self) -> None:
        self._changes = {key: change for key, change in self._changes.items() if self._is_current(change.base)}


def _by_size(volume: PersistentVolume) -> tuple[int, str]:
    return volume.capacity_bytes, volume.name


def _key(thing: Changeable) -> tuple[str, str, str]:
    return type(thing).__name__, thing.namespace, thing.name


def _is_same(base: Changeable, stored: Changeable) -> bool:
    """The same version: the same object, or one that was read again and has the same number."""
    version = stored.metadata.resource_version
    return base is stored or bool(version and version == base.metadata.resource_version)
