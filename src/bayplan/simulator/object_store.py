"""
Objects of a simulation that plugins may write to: neither pods nor nodes, nor claims and volumes (see ``volumes``).

``cluster`` passes on what plugins write; the controllers that are played call ``put`` and ``drop``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from bayplan.engine.events import Event, ObjectAdded, ObjectChanged, ObjectDeleted
from bayplan.errors import ConflictError, NotFoundError
from bayplan.objects import kinds
from bayplan.objects.meta import ApiObject


class StoredObjects:
    """Objects by kind, namespace and name, as an API server would keep them."""

    def __init__(self, objects: Iterable[ApiObject] = ()) -> None:
        self._objects = {_key(each): each for each in objects}
        self._version = 0

    def get(self, kind: str, namespace: str, name: str) -> Any:
        return self._objects.get((kind, namespace, name))

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        """Kind, namespace and name of every object."""
        return iter(self._objects)

    def put(self, thing: ApiObject) -> Event:
        """The object is there from now on, or has changed; one that was going goes with its last finalizer."""
        self._version += 1
        old = self._objects.get(_key(thing))
        if old is not None and old.is_terminating and not thing.metadata.finalizers:
            return self.drop(old)
        new = thing.evolve(metadata=replace(thing.metadata, resource_version=str(self._version)))
        self._objects[_key(thing)] = new
        kind = kinds.kind_of(thing)
        return ObjectAdded(kind, new) if old is None else ObjectChanged(kind, old, new)

    def create(self, thing: ApiObject) -> Event:
        """The object is new; ``ConflictError`` if there is one of its name."""
        if _key(thing) in self._objects:
            raise ConflictError(409, f'{kinds.kind_of(thing)} "{thing.name}" already exists')
        return self.put(thing)

    def delete(self, thing: ApiObject, at: str) -> Event:
        """The object goes, or is marked as going while a finalizer keeps it."""
        known: ApiObject = self._objects[_key(thing)]
        if not known.metadata.finalizers:
            return self.drop(known)
        return self.put(known.evolve(metadata=replace(known.metadata, deletion_timestamp=at)))

    def drop(self, thing: ApiObject) -> Event:
        return ObjectDeleted(kinds.kind_of(thing), self._objects.pop(_key(thing)))

    def patched(
        self, kind: str, namespace: str, name: str, patch: dict[str, Any], version: str
    ) -> tuple[str, list[Event]]:
        """Merge a patch into an object; gives its new version."""
        known = self.get(kind, namespace, name)
        if known is None:
            raise NotFoundError(404, f'{kind} "{name}" not found')
        if version and version != known.metadata.resource_version:
            raise ConflictError(409, f'{kind} "{name}" has been modified; try again with the newest version')
        event = self.put(kinds.convert(merged(kinds.as_written(known), patch), type(known)))
        return str(self._version), [event]


def merged(value: Any, patch: Any) -> Any:
    """A JSON merge patch: null takes a field away."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for key, part in patch.items():
        if part is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), part)
    return result


def _key(thing: ApiObject) -> tuple[str, str, str]:
    return kinds.kind_of(thing), thing.namespace, thing.name
