"""
BackoffPods: pods that failed a short while ago and may come back when their backoff is over.

``SchedulingQueue`` asks it whether a pod is backing off, and takes back those who are done once a second.

Time runs in windows of one second.  An expiry is cut to the whole second it falls in, and a pod whose expiry
lies in the running second still waits, so that a whole window comes back at once and in queue order.  A pod
therefore waits for its backoff and up to a second more.

Two heaps, because one kind may be cut short and the other may not: pods that a plugin rejected can be popped
early when nothing else is left to do; pods that failed with an error cannot, or a broken API server would be
asked again without pause.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import floor
from typing import Any

from bayplan.backoff import backoff_s
from bayplan.engine.queue.lazy_heap import LazyHeap
from bayplan.framework.plugin import QueuedPod

WINDOW_S = 1.0


class BackoffPods:
    """Two heaps ordered by expiry: rejected pods (then by queue key) and pods that failed with an error."""

    __slots__ = ("_failed", "_initial_s", "_max_s", "_queue_key", "_rejected")

    def __init__(self, queue_key: Callable[[QueuedPod], Any], initial_s: float, max_s: float) -> None:
        self._queue_key = queue_key
        self._initial_s = initial_s
        self._max_s = max_s
        self._rejected = LazyHeap()
        self._failed = LazyHeap()

    # -- how long --

    def backoff_s(self, failures: int) -> float:
        """1, 2, 4, 8, 10, 10 … seconds with the default settings; nothing for a pod that never failed."""
        return backoff_s(failures, self._initial_s, self._max_s)

    def expires_at(self, queued: QueuedPod) -> float | None:
        """The start of the second in which the backoff ends, or None for a pod that has none."""
        if self._max_s == 0:
            return None
        failures = queued.consecutive_errors or queued.unschedulable_count
        if failures == 0:
            return None
        if queued.backoff_expires_at is None:
            queued.backoff_expires_at = float(floor(queued.timestamp + self.backoff_s(failures)))
        return queued.backoff_expires_at

    def is_backing_off(self, queued: QueuedPod, now: float) -> bool:
        expires_at = self.expires_at(queued)
        return expires_at is not None and expires_at >= floor(now)

    # -- who waits --

    def add(self, queued: QueuedPod) -> None:
        if queued.unschedulable_plugins or queued.pending_plugins:
            self._rejected.push(self._rejected_key(queued), queued)
        else:
            self._failed.push(self.expires_at(queued) or 0.0, queued)

    def refresh(self, queued: QueuedPod) -> None:
        """The pod was replaced by a newer version, which may change its queue key."""
        if queued.pod.uid in self._rejected:
            self._rejected.rekey(self._rejected_key(queued), queued)

    def pop_early(self) -> QueuedPod | None:
        """The rejected pod that is next in line, whatever is left of its backoff."""
        return self._rejected.pop()

    def pop_completed(self, now: float) -> list[QueuedPod]:
        """Everyone whose second is over."""
        window = floor(now)
        completed: list[QueuedPod] = []
        while (key := self._rejected.first_key()) is not None and key[0] < window:
            completed.append(_popped(self._rejected))
        while (expires_at := self._failed.first_key()) is not None and expires_at < window:
            completed.append(_popped(self._failed))
        return completed

    def next_completion(self) -> float | None:
        """When ``pop_completed`` will have someone to give back."""
        rejected = self._rejected.first_key()
        failed = self._failed.first_key()
        expiries = [key for key in (rejected[0] if rejected else None, failed) if key is not None]
        return min(expiries) + WINDOW_S if expiries else None

    def remove(self, uid: str) -> QueuedPod | None:
        return self._rejected.remove(uid) or self._failed.remove(uid)

    def get(self, uid: str) -> QueuedPod | None:
        return self._rejected.get(uid) or self._failed.get(uid)

    def __contains__(self, uid: object) -> bool:
        return uid in self._rejected or uid in self._failed

    def __len__(self) -> int:
        return len(self._rejected) + len(self._failed)

    def __iter__(self) -> Iterator[QueuedPod]:
        yield from self._rejected
        yield from self._failed

    def _rejected_key(self, queued: QueuedPod) -> tuple[float, Any]:
        return self.expires_at(queued) or 0.0, self._queue_key(queued)


def _popped(heap: LazyHeap) -> QueuedPod:
    queued = heap.pop()
    assert queued is not None, "the heap had a first key"
    return queued
