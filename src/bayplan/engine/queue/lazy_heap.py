"""
LazyHeap: pods in the order of a key, equal keys in the order they came in.

Active, backoff and the ages of unschedulable pods are kept in one of these.  Most pods come in the order they go, so
those that do wait in a line, and only who would jump it goes to a heap.  Taking a pod out of the middle only forgets
it; its entry is thrown away when it comes to the front, or when dead entries outnumber live ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeAlias

from bayplan.framework.plugin import QueuedPod

Entry: TypeAlias = tuple[Any, int, QueuedPod]
"""Key, sequence number, pod.  The number is unique, so two pods are never compared with each other."""

# A few dead entries cost less than a new line again and again.
_DEAD_ALLOWED = 64


class LazyHeap:
    """Pods in order, at most one entry for each uid."""

    __slots__ = ("_heap", "_key", "_line", "_live", "_sequence")

    def __init__(self, key: Callable[[QueuedPod], Any]) -> None:
        self._key = key
        self._line: deque[Entry] = deque()
        """In order; each new entry is either the last of these or in the heap."""
        self._heap: list[Entry] = []
        self._live: dict[str, Entry] = {}
        self._sequence = count()

    def add(self, queued: QueuedPod) -> None:
        key = self._key(queued)
        entry = (key, next(self._sequence), queued)
        self._live[queued.pod.uid] = entry
        line = self._line
        if not line or not key < line[-1][0]:
            line.append(entry)
        else:
            heappush(self._heap, entry)

    def refresh(self, queued: QueuedPod) -> None:
        """The pod was replaced by a newer version, which may change its key; among equals it keeps its place."""
        uid, key = queued.pod.uid, self._key(queued)
        entry = self._live[uid]
        if entry[0] == key:
            return
        moved = (key, entry[1], queued)
        self._live[uid] = moved
        heappush(self._heap, moved)
        self._drop_dead()

    def pop(self) -> QueuedPod | None:
        """The pod with the smallest key, or None."""
        live = self._live
        while (entry := self._take()) is not None:
            queued = entry[2]
            uid = queued.pod.uid
            if live.get(uid) is entry:
                del live[uid]
                return queued
        return None

    def pop_while(self, is_due: Callable[[Any], bool]) -> list[QueuedPod]:
        """Everyone up to the first key that is not due."""
        popped: list[QueuedPod] = []
        while (entry := self._first()) is not None and is_due(entry[0]):
            self._take()
            del self._live[entry[2].pod.uid]
            popped.append(entry[2])
        return popped

    def first_key(self) -> Any | None:
        """The smallest key, or None when the heap is empty."""
        entry = self._first()
        return None if entry is None else entry[0]

    def first(self) -> QueuedPod | None:
        """Who would be popped."""
        entry = self._first()
        return None if entry is None else entry[2]

    def _first(self) -> Entry | None:
        live = self._live
        while (entry := self._front()) is not None:
            if live.get(entry[2].pod.uid) is entry:
                return entry
            self._take()
        return None

    def _front(self) -> Entry | None:
        line, heap = self._line, self._heap
        if not heap:
            return line[0] if line else None
        return line[0] if line and line[0] < heap[0] else heap[0]

    def _take(self) -> Entry | None:
        line, heap = self._line, self._heap
        if not heap:
            return line.popleft() if line else None
        return line.popleft() if line and line[0] < heap[0] else heappop(heap)

    def remove(self, uid: str) -> QueuedPod | None:
        entry = self._live.pop(uid, None)
        if entry is None:
            return None
        self._drop_dead()
        return entry[2]

    def get(self, uid: str) -> QueuedPod | None:
        entry = self._live.get(uid)
        return None if entry is None else entry[2]

    def __contains__(self, uid: object) -> bool:
        return uid in self._live

    def __len__(self) -> int:
        return len(self._live)

    def __iter__(self) -> Iterator[QueuedPod]:
        """Everyone, in the order they would be popped."""
        for entry in sorted(self._live.values(), key=lambda entry: entry[:2]):
            yield entry[2]

    def _drop_dead(self) -> None:
        if len(self._heap) + len(self._line) > 2 * len(self._live) + _DEAD_ALLOWED:
            self._heap.clear()
            self._line = deque(sorted(self._live.values(), key=lambda entry: entry[:2]))
