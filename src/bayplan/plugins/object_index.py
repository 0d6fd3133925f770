"""
Following objects of one kind: what plugins work out of them is kept, and moves with each object that changed.

The volume plugins look objects up by more than their name (volumes by class, attachments by node).  Going through
all of them for every pod would cost more than the rest of the cycle, so they catch up with what changed instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Generic, TypeVar

from bayplan.framework.handle import ObjectStore
from bayplan.objects.meta import ApiObject

T = TypeVar("T", bound=ApiObject)


class Follower(Generic[T]):
    """Calls ``moved(object, +1)`` for what appeared and ``moved(object, -1)`` for what went, since it last looked."""

    def __init__(self, objects: ObjectStore, kind: str, moved: Callable[[T, int], None]) -> None:
        self._objects = objects
        self._kind = kind
        self._moved = moved
        self._seen: dict[tuple[str, str], T] = {}
        self._generation = 0

    def catch_up(self) -> None:
        generation = self._objects.generation(self._kind)
        if generation == self._generation:
            return
        changed = self._objects.changes(self._kind, self._generation)
        self._generation = generation
        if changed is None:
            self._start_over()
        else:
            for namespace, name in dict.fromkeys(changed):
                self._replace((namespace, name), self._objects.get(self._kind, namespace, name))

    def _start_over(self) -> None:
        now: dict[tuple[str, str], T] = {(each.namespace, each.name): each for each in self._objects.list(self._kind)}
        for key in [*self._seen, *now]:
            self._replace(key, now.get(key))

    def _replace(self, key: tuple[str, str], new: Any) -> None:
        old = self._seen.pop(key, None)
        if old is not None:
            self._moved(old, -1)
        if new is not None:
            self._seen[key] = new
            self._moved(new, 1)


class Index(Generic[T]):
    """Objects of one kind by something they say of themselves."""

    def __init__(self, objects: ObjectStore, kind: str, key_of: Callable[[T], str]) -> None:
        self._key_of = key_of
        self._found: dict[str, dict[str, T]] = {}
        self._follower: Follower[T] = Follower(objects, kind, self._moved)

    def at(self, key: str) -> Collection[T]:
        """The objects with this key, as they are now."""
        self._follower.catch_up()
        return self._found.get(key, {}).values()

    def _moved(self, thing: T, sign: int) -> None:
        key = self._key_of(thing)
        if sign > 0:
            self._found.setdefault(key, {})[thing.key] = thing
            return
        del self._found[key][thing.key]
        if not self._found[key]:
            del self._found[key]
