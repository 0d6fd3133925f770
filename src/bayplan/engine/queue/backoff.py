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

    __slots__ = ("_failed", "_initial_s", "_max_s", "_rejected")

    def __init__(self, queue_key: Callable[[QueuedPod], Any], initial_s: float, max_s: float) -> None:
        self._initial_s = initial_s
        self._max_s = max_s
        self._rejected = LazyHeap(lambda queued: (self.expires_at(queued) or 0.0, queue_key(queued)))
        self._failed = LazyHeap(lambda queued: (self.expires_at(queued) or 0.0,))

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
        is_rejected = queued.unschedulable_plugins or queued.pending_plugins
        (self._rejected if is_rejected else self._failed).add(queued)

    def refresh(self, queued: QueuedPod) -> None:
        """The pod was replaced by a newer version, which may change its queue key."""
        if queued.pod.uid in self._rejected:
            self._rejected.refresh(queued)

    def pop_early(self) -> QueuedPod | None:
        """The rejected pod that is next in line, whatever is left of its backoff."""
        return self._rejected.pop()

    def pop_completed(self, now: float) -> list[QueuedPod]:
        """Everyone whose second is over."""
        window = floor(now)
        return [each for heap in (self._rejected, self._failed) for each in heap.pop_while(lambda key: key[0] < window)]

    def next_completion(self) -> float | None:
        """When ``pop_completed`` will have someone to give back."""
        first = (self._rejected.first_key(), self._failed.first_key())
        expiries = [key[0] for key in first if key is not None]
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
