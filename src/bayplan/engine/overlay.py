"""
Dictionaries that a fork of the cluster shares with what it was forked from, until it writes to them.

``engine.cache`` and ``engine.table`` keep pods by uid, by node port, by volume and by owner in them.  Writes go to the
fork alone; the base must not change while the fork is in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")
M = TypeVar("M")

_GONE: Any = object()
_NO_MEMBERS: Mapping[Any, Any] = {}


class Overlay(MutableMapping[K, V]):
    """A dictionary on top of another one, which it leaves as it is."""

    __slots__ = ("_base", "_count", "_own")

    def __init__(self, base: Mapping[K, V]) -> None:
        self._base = base
        self._own: dict[K, V] = {}
        self._count = len(base)

    def __getitem__(self, key: K) -> V:
        own = self._own.get(key)
        if own is None:
            return self._base[key]
        if own is _GONE:
            raise KeyError(key)
        return own

    def __setitem__(self, key: K, value: V) -> None:
        self._count += key not in self
        self._own[key] = value

    def __delitem__(self, key: K) -> None:
        if key not in self:
            raise KeyError(key)
        self._count -= 1
        self._own[key] = _GONE

    def __iter__(self) -> Iterator[K]:
        yield from (key for key in self._base if key not in self._own)
        yield from (key for key, value in self._own.items() if value is not _GONE)

    def __len__(self) -> int:
        return self._count


class Groups(Generic[K, M, V]):
    """Members by group.  A fork shares each group until it writes to it."""

    __slots__ = ("_base", "_groups")

    def __init__(self, base: Groups[K, M, V] | None = None) -> None:
        self._base = base
        self._groups: dict[K, dict[M, V]] = {}

    def fork(self) -> Groups[K, M, V]:
        return Groups(self)

    def of(self, key: K) -> Mapping[M, V]:
        """The members of a group, to read."""
        group: Mapping[M, V] | None = self._groups.get(key)
        if group is None:
            group = _NO_MEMBERS if self._base is None else self._base.of(key)
        return group

    def put(self, key: K, member: M, value: V) -> None:
        self._own(key)[member] = value

    def drop(self, key: K, member: M) -> None:
        """Remove a member, if it is there."""
        group = self._own(key)
        group.pop(member, None)
        # An empty group of a fork stays, since it hides that of the base.
        if not group and self._base is None:
            del self._groups[key]

    def _own(self, key: K) -> dict[M, V]:
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = {} if self._base is None else dict(self._base.of(key))
        return group
