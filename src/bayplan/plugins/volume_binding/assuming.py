"""
What volumes and claims will say once the API server has heard of our decisions.

Between choosing a node and the news that claims are bound lie seconds.  Until then the next pods must see a chosen
volume as taken: ``Assumed`` shows the changed object in place of the stored one, as long as the stored one is the
version that was changed.  News from the API server always wins.

``plugin`` has one for each profile, as kube-scheduler does.  Pods of two profiles can so choose the same volume at
the same time; the second write then fails with a conflict and its pod is tried again.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from bayplan.framework.handle import ObjectStore
from bayplan.objects.volume import PersistentVolume, PersistentVolumeClaim
from bayplan.plugins.following import Index

Changeable: TypeAlias = "PersistentVolume | PersistentVolumeClaim"

# Entries that the news made void are only looked for when there are this many.
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
        self._by_class: Index[PersistentVolume] = Index(
            objects, "PersistentVolume", lambda volume: volume.storage_class
        )

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None:
        found: PersistentVolumeClaim | None = self._objects.get("PersistentVolumeClaim", namespace, name)
        changed = None if found is None else self._changed(found)
        return changed if isinstance(changed, PersistentVolumeClaim) else found

    def volume(self, name: str) -> PersistentVolume | None:
        found: PersistentVolume | None = self._objects.get("PersistentVolume", "", name)
        return None if found is None else self._as_assumed(found)

    def volumes_of(self, storage_class: str) -> list[PersistentVolume]:
        """The volumes of a class, the smallest first and by name, so that a choice among equals repeats itself."""
        volumes = map(self._as_assumed, self._by_class.at(storage_class))
        return sorted(volumes, key=lambda volume: (volume.capacity_bytes, volume.name))

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


def _key(thing: Changeable) -> tuple[str, str, str]:
    return type(thing).__name__, thing.namespace, thing.name


def _is_same(base: Changeable, stored: Changeable) -> bool:
    """The same version: the same object, or one that was read again and has the same number."""
    version = stored.metadata.resource_version
    return base is stored or bool(version and version == base.metadata.resource_version)
