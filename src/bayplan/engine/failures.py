"""
What happens to a pod that was not placed: back to the queue, an event, a condition, a nomination, evictions.

Called by ``engine.scheduler`` after a cycle without a node, a refused commit, or a failed binding cycle.
"""

from __future__ import annotations

from bayplan.engine.event_handlers import EventHandlers
from bayplan.engine.events import BindFailed
from bayplan.engine.intents import Emit, Evict, FollowUp, Intent, PatchStatus
from bayplan.engine.plugin_calls import log
from bayplan.engine.queue.scheduling_queue import SchedulingQueue
from bayplan.errors import ConflictError, LeadershipLostError, NotFoundError
from bayplan.framework.decision import Decision
from bayplan.framework.diagnosis import fit_error
from bayplan.framework.plugin import QueuedPod
from bayplan.framework.ports import MetricSink
from bayplan.framework.status import Code, Status

# The API limits an event's note; the condition's message has no such limit.
MAX_NOTE_BYTES = 1024

SCHEDULER_ERROR = "SchedulerError"
"""The reason in the condition of a pod that an error, not a plugin's no, kept from a node."""


class Failures:
    """Turns failures into intents."""

    def __init__(self, queue: SchedulingQueue, informed: EventHandlers, metrics: MetricSink) -> None:
        self._queue = queue
        self._informed = informed
        self._metrics = metrics

    def undecided(self, queued: QueuedPod, decision: Decision) -> list[Intent]:
        """No node fitted, or a plugin broke the cycle."""
        diagnosis = decision.diagnosis
        fit_failure = diagnosis is not None and decision.status.is_rejected
        rejectors = frozenset(diagnosis.unschedulable_plugins) if diagnosis and fit_failure else frozenset()
        pending = frozenset(diagnosis.pending_plugins) if diagnosis and fit_failure else frozenset()
        if not fit_failure:
            nominate: str | None = ""
        else:
            nominate = decision.nomination.node_name if decision.nomination else None
        intents = self._fail(queued, decision, decision.status, decision.message, rejectors, pending, nominate)
        if decision.victims and decision.preemption_node:
            intents.append(self._evict(decision, decision.preemption_node))
        intents += [FollowUp(decision.pod, write) for write in decision.follow_ups]
        return intents

    def uncommitted(self, queued: QueuedPod, decision: Decision, status: Status) -> list[Intent]:
        """Reserve or Permit said no: told as if that node were the only one."""
        message, rejectors = one_node(status) if status.is_rejected else (status.message, frozenset[str]())
        pending = rejectors if status.code is Code.PENDING else frozenset[str]()
        return self._fail(queued, decision, status, message, rejectors, pending, "")

    def unbound(self, event: BindFailed) -> list[Intent]:
        """The binding cycle failed."""
        status, decision = event.status, event.decision
        if event.waited and status.is_rejected:
            return self.uncommitted(event.queued, decision, status)
        message = status.message
        if isinstance(status.error, LeadershipLostError):
            # The Bind plugin was only the first to notice.
            message = _why_unwritten(status.error, decision)
            log.warning("not bound", pod=decision.pod.key, error=message)
        intents = self._fail(event.queued, decision, status, message, frozenset(), frozenset(), "")
        if isinstance(status.error, (ConflictError, NotFoundError)):
            # Bound by another scheduler, or gone: there is nothing to say about a pod we no longer schedule.
            log.info("not bound", pod=decision.pod.key, error=str(status.error))
            return []
        return intents

    def _fail(
        self,
        queued: QueuedPod,
        decision: Decision,
        status: Status,
        message: str,
        rejectors: frozenset[str],
        pending: frozenset[str],
        nominate: str | None,
    ) -> list[Intent]:
        pod = decision.pod
        result = "unschedulable" if status.is_rejected else "error"
        self._metrics.counter("schedule_attempts_total", result=result, profile=decision.profile_name)
        newest = self._informed.newest(pod)
        if newest is not None and newest.uid != pod.uid:
            # Made anew under the same name: nothing of this pod is left to write to.
            self._queue.done(pod.uid)
            return []
        if newest is None or newest.node_name:
            self._queue.done(pod.uid)
        else:
            self._queue.requeue_failed(queued, unschedulable_plugins=rejectors, pending_plugins=pending, pod=newest)
            where = newest.nominated_node_name if nominate is None else nominate
            self._queue.nominations.nominate(newest, where)
        reason = "Unschedulable" if status.is_rejected else SCHEDULER_ERROR
        return [
            Emit(pod, "Warning", "FailedScheduling", "Scheduling", cut(message), reporter=decision.profile_name),
            PatchStatus(newest or pod, reason, message, nominate),
        ]

    def _evict(self, decision: Decision, node_name: str) -> Evict:
        pod = decision.pod
        lower = tuple(
            other
            for other in self._queue.nominations.nominated(node_name)
            if other.uid != pod.uid and other.priority < pod.priority
        )
        for other in lower:
            self._queue.nominations.remove(other.uid)
        victims = tuple(victim for victim in decision.victims if not victim.is_terminating)
        return Evict(pod, node_name, victims, lower, decision.profile_name)


def _why_unwritten(error: LeadershipLostError, decision: Decision) -> str:
    """With the plugin that held up the renewal of the lease, if one did."""
    slow = decision.slow_plugins
    if not slow:
        return str(error)
    name = max(slow, key=lambda each: slow[each])
    plugin, _, point = name.partition("/")
    return f"{error}; plugin {plugin} took {slow[name]:.1f} s in {point}, and meanwhile the lease was not renewed"


def one_node(status: Status) -> tuple[str, frozenset[str]]:
    message = fit_error(1, dict.fromkeys(status.reasons, 1))
    return message, frozenset({status.plugin} if status.plugin else ())


def cut(message: str) -> str:
    """At most 1024 bytes, the last four of a cut text being `` ...``."""
    raw = message.encode()
    if len(raw) <= MAX_NOTE_BYTES:
        return message
    return raw[: MAX_NOTE_BYTES - 4].decode(errors="ignore") + " ..."
