"""
PrioritySort: pods of higher priority come out of the queue first, equal ones in the order they entered it.

The time that counts is when the pod last entered the queue: it moves on with every failed attempt, so a pod
that cannot be placed does not stand in the way of its equals.

Extension points: QueueSort.  Requeue: nothing, it never rejects a pod.
"""

from __future__ import annotations

from bayplan.framework import On, QueuedPod, QueueSortPlugin


class PrioritySort(QueueSortPlugin):
    """Pods of higher priority come out of the queue first, equal ones in the order they entered it."""

    name = "PrioritySort"

    def requeue_on(self) -> tuple[On, ...]:
        return ()

    def queue_key(self, queued: QueuedPod) -> tuple[int, float]:
        return -queued.pod.priority, queued.timestamp
