"""
SchedulingQueue: where pods wait until it is their turn, and what brings them back.

The scheduler feeds it pod events and cluster events, pops pods, and returns those that failed.

    add, update ---> [active] --- pop ---> [in flight] --- done ---> gone: bound or deleted
       |               ^   ^                    |
       | gated         |   | flush              | requeue_failed
       v               |   |                    v
    [unschedulable] ---+--[backoff] <-----------+   an error, or an event while in flight could help
       ^     move, activate, flush              |
       +----------------------------------------+   rejected, and nothing has happened that could help

A pod is known by its uid and is in exactly one of the four places.  Entering active or backoff means passing the
PreEnqueue plugins; a pod that one of them holds back is parked in unschedulable as *gated*.  When active is empty,
``pop`` takes rejected pods out of backoff early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import structlog

from bayplan.clock import Clock
from bayplan.engine.queue.backoff import BackoffPods
from bayplan.engine.queue.in_flight import InFlight
from bayplan.engine.queue.lazy_heap import LazyHeap
from bayplan.engine.queue.nominations import Nominations
from bayplan.engine.queue.queue_metrics import QueueMetrics
from bayplan.engine.queue.requeueing import QueueProfile, Requeueing, Strategy, closed_gate
from bayplan.engine.queue.unschedulable import UnschedulablePods
from bayplan.engine.update_events import pod_update_events
from bayplan.errors import StateError
from bayplan.framework.config.model import INITIAL_BACKOFF_S, MAX_BACKOFF_S
from bayplan.framework.events import (
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    UNSCHEDULED_POD_ADD,
    UNSCHEDULED_POD_UPDATE,
    ClusterEvent,
)
from bayplan.framework.plugin import QueuedPod
from bayplan.framework.ports import MetricSink, NoMetrics
from bayplan.framework.status import Status
from bayplan.objects.pod import Pod

log = structlog.get_logger(__name__)

ACTIVE, BACKOFF, UNSCHEDULABLE, GATED, IN_FLIGHT = "active", "backoff", "unschedulable", "gated", "in_flight"

# Causes in queue_incoming_pods_total beside the events' own labels.
_ADDED = UNSCHEDULED_POD_ADD.label
_UPDATED = UNSCHEDULED_POD_UPDATE.label
_FAILED = "ScheduleAttemptFailure"
_BACKOFF_OVER = "BackoffComplete"
_POPPED_EARLY = "PopFromBackoffQ"

MAX_UNSCHEDULABLE_S = 300.0
"""After so long a pod is tried again whatever did not happen."""


class SchedulingQueue:
    """The parts of the queue, joined."""

    def __init__(
        self,
        clock: Clock,
        profiles: Mapping[str, QueueProfile],
        queue_key: Callable[[QueuedPod], Any],
        *,
        initial_backoff_s: float = INITIAL_BACKOFF_S,
        max_backoff_s: float = MAX_BACKOFF_S,
        max_unschedulable_s: float = MAX_UNSCHEDULABLE_S,
        metrics: MetricSink | None = None,
        nominations: Nominations | None = None,
    ) -> None:
        metrics = metrics or NoMetrics()
        self._clock = clock
        self._profiles = profiles
        self._numbers = QueueMetrics(metrics)
        self._active = LazyHeap(queue_key)
        self._backoff = BackoffPods(queue_key, initial_backoff_s, max_backoff_s)
        self._unschedulable = UnschedulablePods(clock.now(), max_unschedulable_s)
        self._in_flight = InFlight()
        self.nominations = nominations or Nominations()
        self._requeueing = Requeueing(profiles, clock, metrics)
        self._uids: dict[str, str] = {}

    # -- informer events of unassigned pods --

    def add(self, pod: Pod) -> None:
        """A new pod; one that is known already counts as updated."""
        if pod.key not in self._uids or self.where(pod.uid) is None:
            self._admit(pod, _ADDED)
        else:
            self.update(None, pod)

    def update(self, old: Pod | None, new: Pod) -> None:
        """A newer version of a pod; it comes back only if a plugin that rejected it says the change helps."""
        if old is not None and old.uid != new.uid:
            # Deleted and made again under the same name, and the watch showed only the outcome.
            self.delete(old)
            self.add(new)
            return
        uid = new.uid
        if (queued := self._in_flight.get(uid)) is not None:
            for event in pod_update_events(old or queued.pod, new):
                self._in_flight.record(event, old or queued.pod, new)
        elif (queued := self._active.get(uid)) is not None:
            self._replace(queued, old, new)
            self._active.refresh(queued)
        elif (queued := self._backoff.get(uid)) is not None:
            self._replace(queued, old, new)
            self._backoff.refresh(queued)
        elif (queued := self._unschedulable.get(uid)) is not None:
            before = self._replace(queued, old, new)
            self._reconsider(queued, before)
        else:
            self._admit(new, _UPDATED)

    def delete(self, pod: Pod) -> None:
        """The pod is gone or assigned.  In flight it stays until its cycle ends with ``done``."""
        self.nominations.remove(pod.uid)
        if pod.uid not in self._in_flight:
            self._forget(pod.uid)

    # -- scheduling cycles --

    def pop(self) -> QueuedPod | None:
        """The next pod to schedule, now in flight; None if there is none, or only pods held by an error."""
        queued = self._active.pop()
        if queued is None:
            queued = self._backoff.pop_early()
            if queued is None:
                return None
            self._numbers.entered(ACTIVE, _POPPED_EARLY)
        queued.attempts += 1
        self._in_flight.start(queued)
        if queued.unschedulable_plugins or queued.pending_plugins:
            self._numbers.rejected(queued, -1)
        return queued

    def next_like(self, pod: Pod) -> Pod | None:
        """The next pod, if it is of the same template as this one and nothing sets it apart."""
        queued = self._active.first()
        if queued is None or queued.pod.template is not pod.template:
            return None
        following = queued.pod
        is_apart = following.nominated_node_name or following.is_terminating or following.reports_amounts
        return None if is_apart else following

    def requeue_failed(
        self,
        queued: QueuedPod,
        *,
        unschedulable_plugins: frozenset[str] = frozenset(),
        pending_plugins: frozenset[str] = frozenset(),
        pod: Pod | None = None,
    ) -> None:
        """
        A popped pod could not be scheduled.  Without rejecting plugins it failed with an error and is tried
        again after a backoff; otherwise what happened since its pop decides.  ``pod`` is its newest version.
        """
        uid = queued.pod.uid
        if uid not in self._in_flight and (place := self.where(uid)) is not None:
            log.error("failed pod is in the queue already", pod=queued.pod.key, place=place)
            return
        if self._was_made_again(queued, pod):
            self.done(uid)
            return
        if pod is not None:
            queued.pod = pod
        queued.unschedulable_plugins = frozenset(unschedulable_plugins)
        queued.pending_plugins = frozenset(pending_plugins)
        if queued.unschedulable_plugins or queued.pending_plugins:
            queued.unschedulable_count += 1
            queued.consecutive_errors = 0
        else:
            queued.consecutive_errors += 1
        queued.timestamp = self._clock.now()
        queued.backoff_expires_at = None
        queued.flushed_at = None
        self._numbers.rejected(queued)
        strategy = self._requeueing.worth_of_missed(queued, self._in_flight)
        self._in_flight.finish(uid)
        self._uids[queued.pod.key] = uid
        self._requeue(queued, strategy, _FAILED)

    def done(self, uid: str) -> None:
        """The pod left its cycle without coming back."""
        queued = self._in_flight.finish(uid)
        if queued is not None:
            self._forget_key(queued.pod)

    # -- coming back --

    def move(self, event: ClusterEvent, old: Any, new: Any, *, only: Callable[[Pod], bool] | None = None) -> None:
        """Something changed in the cluster: bring back the waiting pods it could help."""
        interest = self._requeueing.interest(event)
        if not interest:
            return
        label = ""
        for queued in self._unschedulable.touched_by(interest):
            if only is not None and not only(queued.pod):
                continue
            strategy = self._requeueing.worth(interest, queued, event, old, new)
            if strategy is not Strategy.SKIP:
                label = label or event.label
                self._unschedulable.remove(queued.pod.uid)
                self._requeue(queued, strategy, label)
        self._in_flight.record(event, old, new)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Bring these pods to active now, whatever is left of their backoff; unknown pods are ignored."""
        for pod in pods:
            uid = pod.uid
            if (queued := self._unschedulable.get(uid)) is not None:
                self._requeue(queued, Strategy.IMMEDIATELY, FORCE_ACTIVATE.label)
            elif (queued := self._backoff.remove(uid)) is not None:
                # It passed PreEnqueue on the way in.
                self._enter_active(queued, FORCE_ACTIVATE.label)
            elif uid in self._in_flight:
                self._in_flight.record(FORCE_ACTIVATE, None, pod)

    def flush(self) -> None:
        """Whatever time alone brings back: pods whose backoff is over, and pods that waited too long."""
        now = self._clock.now()
        for queued in self._backoff.pop_completed(now):
            self._enter_active(queued, _BACKOFF_OVER)
        overdue = self._unschedulable.pop_overdue(now)
        for queued in overdue:
            queued.flushed_at = now
            self._requeue(queued, Strategy.AFTER_BACKOFF, UNSCHEDULABLE_TIMEOUT.label)
        if overdue:
            self._in_flight.record(UNSCHEDULABLE_TIMEOUT, None, None)

    def next_wakeup(self) -> float | None:
        """The earliest time at which ``flush`` has something to do."""
        backoff, overdue = self._backoff.next_completion(), self._unschedulable.next_overdue()
        if backoff is None or overdue is None:
            return overdue if backoff is None else backoff
        return min(backoff, overdue)

    # -- looking in --

    def where(self, uid: str) -> str | None:
        """The place a pod is in, or None for a pod the queue does not know."""
        if uid in self._active:
            return ACTIVE
        if uid in self._in_flight:
            return IN_FLIGHT
        if uid in self._backoff:
            return BACKOFF
        if uid in self._unschedulable:
            return UNSCHEDULABLE if self._unschedulable.gated_by(uid) is None else GATED
        return None

    def gated_reason(self, uid: str) -> Status | None:
        """What a PreEnqueue plugin said against a gated pod."""
        return self._unschedulable.gated_by(uid)

    def pending(self) -> dict[str, int]:
        """How many pods wait, by place."""
        gated = self._unschedulable.gated_count
        return {
            ACTIVE: len(self._active),
            BACKOFF: len(self._backoff),
            UNSCHEDULABLE: len(self._unschedulable) - gated,
            GATED: gated,
        }

    def entries(self) -> Iterator[tuple[str, QueuedPod]]:
        """Everyone with the place they are in; active and backoff in the order they would be popped."""
        for part in (self._active, self._backoff, self._unschedulable, self._in_flight):
            for queued in part:
                yield self.where(queued.pod.uid) or "", queued

    def __contains__(self, key: object) -> bool:
        """Is a pod with this ``namespace/name`` waiting or in flight?"""
        return key in self._uids

    def publish_gauges(self) -> None:
        """Write the queue's gauges, which are about to be read."""
        self._numbers.publish(self.pending(), self._in_flight)

    # -- moving --

    def _admit(self, pod: Pod, cause: str) -> None:
        if pod.scheduler_name not in self._profiles:
            known = ", ".join(sorted(self._profiles))
            raise StateError(f"pod {pod.key} names scheduler {pod.scheduler_name!r}, profiles are: {known}")
        key = pod.key
        namesake = self._uids.get(key)
        if namesake is not None and namesake != pod.uid and namesake not in self._in_flight:
            self._forget(namesake)
        self._uids[key] = pod.uid
        place = self._requeue(QueuedPod(pod, self._clock.now()), Strategy.IMMEDIATELY, cause)
        if place == ACTIVE and pod.nominated_node_name:
            self.nominations.nominate(pod, pod.nominated_node_name)

    def _replace(self, queued: QueuedPod, old: Pod | None, new: Pod) -> Pod:
        """Put the newer version in; returns the one before."""
        before = old or queued.pod
        queued.pod = new
        self.nominations.update(before, new)
        return before

    def _reconsider(self, queued: QueuedPod, old: Pod) -> None:
        """The waiting pod itself changed: go through its changes until one brings it back."""
        for event in pod_update_events(old, queued.pod):
            interest = self._requeueing.interest(event)
            strategy = self._requeueing.worth(interest, queued, event, old, queued.pod)
            if strategy is Strategy.SKIP:
                continue
            if self._requeue(queued, strategy, event.label) in (ACTIVE, BACKOFF):
                return

    def _was_made_again(self, queued: QueuedPod, newest: Pod | None) -> bool:
        """Another pod has its name by now, so this one need not be scheduled any more."""
        uid = queued.pod.uid
        return (newest is not None and newest.uid != uid) or self._uids.get(queued.pod.key, uid) != uid

    def _requeue(self, queued: QueuedPod, strategy: Strategy, cause: str) -> str:
        """Put a pod where the strategy says, if PreEnqueue lets it; returns the place it got."""
        if strategy is Strategy.SKIP:
            return self._park(queued, None, cause)
        gated_by = self._gate(queued)
        if gated_by is not None:
            return self._park(queued, gated_by, cause)
        self._unschedulable.remove(queued.pod.uid)
        if strategy is Strategy.IMMEDIATELY or not self._backoff.is_backing_off(queued, self._clock.now()):
            return self._enter_active(queued, cause)
        self._backoff.add(queued)
        self._numbers.entered(BACKOFF, cause)
        return BACKOFF

    def _enter_active(self, queued: QueuedPod, cause: str) -> str:
        if queued.initial_attempt_at is None:
            queued.initial_attempt_at = self._clock.now()
        self._active.add(queued)
        self._numbers.entered(ACTIVE, cause)
        return ACTIVE

    def _park(self, queued: QueuedPod, gated_by: Status | None, cause: str) -> str:
        if queued.pod.uid not in self._unschedulable:
            self._numbers.entered(UNSCHEDULABLE, cause)
        self._unschedulable.add(queued, gated_by)
        return UNSCHEDULABLE if gated_by is None else GATED

    def _gate(self, queued: QueuedPod) -> Status | None:
        before = queued.unschedulable_plugins
        gated_by = closed_gate(queued, self._profiles[queued.pod.scheduler_name].pre_enqueue)
        if gated_by is not None and gated_by.plugin not in before | queued.pending_plugins:
            self._numbers.rejected_by(gated_by.plugin, queued)
        return gated_by

    # -- forgetting --

    def _forget(self, uid: str) -> None:
        queued = self._active.remove(uid) or self._backoff.remove(uid) or self._unschedulable.remove(uid)
        if queued is not None:
            self.nominations.remove(uid)
            self._forget_key(queued.pod)
            self._numbers.rejected(queued, -1)

    def _forget_key(self, pod: Pod) -> None:
        key = pod.key
        if self._uids.get(key) == pod.uid:
            del self._uids[key]
