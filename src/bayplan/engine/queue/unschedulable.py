"""
UnschedulablePods: pods that wait for an event, either because plugins rejected them or because one gates them.

``SchedulingQueue`` parks pods here and takes them out when an event is worth another try.  Pods are indexed
by the plugins that rejected them, so an event costs nothing for pods whose rejectors do not care for it:

    rejected pod   found under (profile, plugin) for each of its rejectors
    gated pod      found under its gating plugin alone, whatever else rejected it before

Hints can be wrong, so no pod waits longer than ``max_wait_s``: every half minute the pods that did are handed
back.  A pod that was handed back and is still gated counts from that moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor

from bayplan.engine.queue.lazy_heap import LazyHeap
from bayplan.engine.queue.requeueing import Interest
from bayplan.framework.plugin import QueuedPod
from bayplan.framework.status import Status

CHECK_PERIOD_S = 30.0


@dataclass(slots=True)
class Parked:
    """A waiting pod, where the index has it, and why it is gated if it is."""

    queued: QueuedPod
    sequence: int
    buckets: tuple[dict[str, Parked], ...]
    gated_by: Status | None


class UnschedulablePods:
    """Waiting pods by uid, by rejector and by age."""

    def __init__(self, started_at: float, max_wait_s: float) -> None:
        self._started_at = started_at
        self._max_wait_s = max_wait_s
        self._checked = -1
        self._pods: dict[str, Parked] = {}
        self._by_rejector: dict[tuple[str, str], dict[str, Parked]] = {}
        self._by_gate: dict[str, dict[str, Parked]] = {}
        self._ages = LazyHeap(lambda queued: max(queued.timestamp, queued.flushed_at or 0.0))
        self._parked_so_far = 0
        self.gated_count = 0

    def add(self, queued: QueuedPod, gated_by: Status | None = None) -> None:
        uid = queued.pod.uid
        self.remove(uid)
        self._parked_so_far += 1
        parked = Parked(queued, self._parked_so_far, self._buckets_for(queued), gated_by)
        self._pods[uid] = parked
        for bucket in parked.buckets:
            bucket[uid] = parked
        self._ages.add(queued)
        self.gated_count += gated_by is not None

    def remove(self, uid: str) -> QueuedPod | None:
        parked = self._pods.pop(uid, None)
        if parked is None:
            return None
        for bucket in parked.buckets:
            del bucket[uid]
        self._ages.remove(uid)
        self.gated_count -= parked.gated_by is not None
        return parked.queued

    def get(self, uid: str) -> QueuedPod | None:
        parked = self._pods.get(uid)
        return None if parked is None else parked.queued

    def gated_by(self, uid: str) -> Status | None:
        parked = self._pods.get(uid)
        return None if parked is None else parked.gated_by

    def touched_by(self, interest: Interest) -> list[QueuedPod]:
        """The pods an event could concern, in the order they were parked."""
        if not self._pods:
            return []
        if interest.is_wildcard:
            return [parked.queued for parked in self._pods.values()]
        buckets = [
            bucket
            for profile, plugins in interest.hints.items()
            for plugin in plugins
            if (bucket := self._by_rejector.get((profile, plugin)))
        ]
        buckets += [bucket for plugin in sorted(interest.gates) if (bucket := self._by_gate.get(plugin))]
        if len(buckets) <= 1:
            return [parked.queued for bucket in buckets for parked in bucket.values()]
        # A pod with several rejectors is in several buckets but must be asked once.
        unique = {parked.sequence: parked.queued for bucket in buckets for parked in bucket.values()}
        return [unique[sequence] for sequence in sorted(unique)]

    # -- the longest wait --

    def pop_overdue(self, now: float) -> list[QueuedPod]:
        """Who had waited too long when the last half minute began; each half minute is looked at once."""
        check = self._check_at_or_before(now)
        if check <= self._checked:
            return []
        self._checked = check
        moment = self._moment(check)
        overdue = self._ages.pop_while(lambda since: self._is_overdue(since, moment))
        for queued in overdue:
            self.remove(queued.pod.uid)
        return overdue

    def next_overdue(self) -> float | None:
        """When ``pop_overdue`` will have someone to give back."""
        since = self._ages.first_key()
        if since is None:
            return None
        check = max(floor((since + self._max_wait_s - self._started_at) / CHECK_PERIOD_S), self._checked + 1)
        while not self._is_overdue(since, self._moment(check)):
            check += 1
        return self._moment(check)

    def __contains__(self, uid: object) -> bool:
        return uid in self._pods

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[QueuedPod]:
        return (parked.queued for parked in self._pods.values())

    def _buckets_for(self, queued: QueuedPod) -> tuple[dict[str, Parked], ...]:
        if queued.gating_plugin:
            return (self._by_gate.setdefault(queued.gating_plugin, {}),)
        profile = queued.pod.scheduler_name
        rejectors = queued.unschedulable_plugins | queued.pending_plugins
        return tuple(self._by_rejector.setdefault((profile, plugin), {}) for plugin in rejectors)

    def _is_overdue(self, since: float, moment: float) -> bool:
        return moment - since > self._max_wait_s

    def _moment(self, check: int) -> float:
        return self._started_at + CHECK_PERIOD_S * check

    def _check_at_or_before(self, now: float) -> int:
        # The division may round down where _moment(check) is exactly now; a check must not be missed then.
        check = floor((now - self._started_at) / CHECK_PERIOD_S)
        return check + 1 if self._moment(check + 1) <= now else check
