"""
A dictionary that holds no more than so many entries: the one that was not used for longest goes first.

For answers that can be worked out again, wherever the number of different questions has no bound of its own.
``functools.lru_cache`` does the same for a plain function; this is for caches whose entries go stale, are owned by an
object, or must be told when they are dropped.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """The ``limit`` entries that were used last; the limit may change, and holds from the next entry on."""

    __slots__ = ("limit", "_dropped", "_entries", "_latest")

    def __init__(self, limit: int, *, dropped: Callable[[V], None] | None = None) -> None:
        """``dropped`` is called with each value that has to make room for another, once it is out."""
        self.limit = limit
        self._entries: OrderedDict[K, V] = OrderedDict()
        self._dropped = dropped
        self._latest: tuple[K, V] | None = None
        """The entry used last: often it is asked for again, by the same key."""

    def get(self, key: K) -> V | None:
        """The value, which counts as used; ``None`` if there is none."""
        latest = self._latest
        if latest is not None and latest[0] is key:
            return latest[1]
        value = self._entries.get(key)
        if value is not None:
            self._entries.move_to_end(key)
            self._latest = key, value
        return value

    def __getitem__(self, key: K) -> V:
        value = self._entries[key]
        self._entries.move_to_end(key)
        self._latest = key, value
        return value

    def __setitem__(self, key: K, value: V) -> None:
        entries = self._entries
        entries[key] = value
        entries.move_to_end(key)
        self._latest = (key, value) if self.limit > 0 else None
        while len(entries) > self.limit:
            _, old = entries.popitem(last=False)
            if self._dropped is not None:
                self._dropped(old)

    def __contains__(self, key: object) -> bool:
        """Whether there is an entry; asking is not using it."""
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def values(self) -> Iterable[V]:
        """The values, the one unused for longest first; reading them so is not using them."""
        return self._entries.values()

    def clear(self) -> None:
        """Forget everything, without a word to ``dropped``."""
        self._entries.clear()
        self._latest = None
