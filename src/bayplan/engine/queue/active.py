"""
ActivePods: pods that may be scheduled now, in the order of the profile's QueueSort plugin.

``SchedulingQueue`` pushes pods that passed PreEnqueue and pops the head.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayplan.engine.queue.lazy_heap import LazyHeap
from bayplan.framework.plugin import QueuedPod


class ActivePods(LazyHeap):
    """The pod with the smallest queue key comes out first."""

    __slots__ = ("_queue_key",)

    def __init__(self, queue_key: Callable[[QueuedPod], Any]) -> None:
        super().__init__()
        self._queue_key = queue_key

    def add(self, queued: QueuedPod) -> None:
        self.push(self._queue_key(queued), queued)

    def refresh(self, queued: QueuedPod) -> None:
        """The pod was replaced by a newer version, which may change its key."""
        self.rekey(self._queue_key(queued), queued)
