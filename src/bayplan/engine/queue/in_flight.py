"""
InFlight: pods that were popped and have not come back, and what happened in the cluster meanwhile.

``SchedulingQueue`` starts a pod here at pop and finishes it when it is bound, gone or back in the queue.  An
event that arrives while a pod is being scheduled may make that pod fit, but the pod is not yet waiting for
it; so events are kept as long as any pod that was in flight when they came is still in flight, and replayed
when the pod comes back unschedulable.

Events have running numbers.  Each pod remembers the number of the next event at its pop; pods are popped in
order, so what lies before the oldest pod's number is no longer needed by anyone.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from bayplan.framework.events import ClusterEvent
from bayplan.framework.plugin import QueuedPod


class ClusterChange(NamedTuple):
    """One event with the objects it is about."""

    event: ClusterEvent
    old: Any
    new: Any


class InFlight:
    """Popped pods by uid, and the events since the oldest of them was popped."""

    __slots__ = ("_dropped", "_events", "_pods")

    def __init__(self) -> None:
        # An OrderedDict finds its oldest entry at once; a dict walks over all that were removed before it.
        self._pods: OrderedDict[str, tuple[int, QueuedPod]] = OrderedDict()
        self._events: deque[ClusterChange] = deque()
        self._dropped = 0

    def start(self, queued: QueuedPod) -> None:
        self._pods[queued.pod.uid] = (self._dropped + len(self._events), queued)

    def record(self, event: ClusterEvent, old: Any, new: Any) -> None:
        """Remember an event for the pods in flight, if there are any."""
        if self._pods:
            self._events.append(ClusterChange(event, old, new))

    def since_pop(self, uid: str) -> Iterator[ClusterChange]:
        """What happened after this pod was popped."""
        return islice(self._events, self._pods[uid][0] - self._dropped, None)

    def finish(self, uid: str) -> QueuedPod | None:
        """The pod is no longer in flight; events that only it needed are forgotten."""
        entry = self._pods.pop(uid, None)
        if entry is None:
            return None
        if self._events:
            self._forget_events()
        return entry[1]

    def get(self, uid: str) -> QueuedPod | None:
        entry = self._pods.get(uid)
        return None if entry is None else entry[1]

    def event_counts(self) -> Counter[str]:
        """How many events of each label are kept."""
        return Counter(happening.event.label for happening in self._events)

    def __contains__(self, uid: object) -> bool:
        return uid in self._pods

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[QueuedPod]:
        return (queued for _, queued in self._pods.values())

    def _forget_events(self) -> None:
        oldest = next(iter(self._pods.values()), None)
        needed_from = oldest[0] if oldest else self._dropped + len(self._events)
        while self._dropped < needed_from:
            self._events.popleft()
            self._dropped += 1
