"""
What happened to pods, as kube-scheduler's metrics.

``app.scheduler.live`` reports decisions and ``app.scheduler.executor`` the ends of binding cycles.  The engine itself
only keeps times with its decisions; what costs more than a few additions waits until the metrics are read.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping

from bayplan.clock import Clock
from bayplan.engine.events import BindFailed, Bound
from bayplan.engine.intents import Intent, Outcome, PatchStatus
from bayplan.framework.decision import Decision
from bayplan.framework.plugin import QueuedPod
from bayplan.framework.ports import MetricSink
from bayplan.framework.profile import Profile
from bayplan.framework.status import Code

MANY_ATTEMPTS = 15
_BINDING = ("WaitOnPermit", "PreBind", "Bind")
_OK = Code.SUCCESS.title

_Run = tuple[str, bool, bool, frozenset[str], frozenset[str], frozenset[str]]
"""Profile, was it filtered, was it scored, who was not asked at all, and who not in each."""


class PodMetrics:
    """Feeds one set of metrics."""

    def __init__(self, metrics: MetricSink, profiles: Mapping[str, Profile], clock: Clock) -> None:
        self._metrics = metrics
        self._profiles = profiles
        self._clock = clock
        self._runs: Counter[_Run] = Counter()

    def decided(self, outcome: Outcome, started: float, took_s: float) -> None:
        """A decision was made, and committed if it could be; the attempt began at ``started``."""
        decision = outcome.decision
        assert decision is not None
        self._metrics.observe("scheduling_algorithm_duration_seconds", took_s)
        timings, state = decision.timings, decision.state
        if "PreFilter" in timings:
            kept = decision.kept_plugins
            run = decision.profile_name, "Filter" in timings, "Score" in timings
            self._runs[*run, kept, kept | state.skip_filter, kept | state.skip_score] += 1
        if outcome.is_committed:
            self._points(decision, timings, "")
        else:
            self._failed(decision, outcome.intents, started)

    def _failed(self, decision: Decision, intents: Iterable[Intent], started: float) -> None:
        """The attempt ended before binding."""
        reason = next((intent.reason for intent in intents if isinstance(intent, PatchStatus)), "")
        code = Code.UNSCHEDULABLE if reason == "Unschedulable" else Code.ERROR
        points = dict.fromkeys(decision.timings)
        if "PostFilter" in points:
            del points["PostFilter"]
            self._point(decision, "PostFilter", _OK if decision.victims else Code.UNSCHEDULABLE.title)
        self._points(decision, points, code.title)
        self._attempt(decision, code, started)

    def binding_ended(self, event: Bound | BindFailed, started: float) -> None:
        """The binding cycle ended."""
        decision = event.decision
        code = event.status.code if isinstance(event, BindFailed) else Code.SUCCESS
        points = [point for point in _BINDING if point in decision.timings]
        self._points(decision, points, "" if code is Code.SUCCESS else code.title)
        if "WaitOnPermit" in points:
            result = code.title if points[-1] == "WaitOnPermit" else _OK
            self._metrics.observe("permit_wait_duration_seconds", decision.timings["WaitOnPermit"], result=result)
        self._attempt(decision, code, started)
        if isinstance(event, Bound):
            self._bound(event.queued)

    def publish(self) -> None:
        """Write what is only summed up so far."""
        for (name, filtered, scored, kept, skip_filter, skip_score), times in self._runs.items():
            profile = self._profiles[name]
            self._evaluated(profile, "PreFilter", "pre_filter", kept, times)
            if filtered:
                self._evaluated(profile, "Filter", "filter", skip_filter, times)
            if scored:
                self._evaluated(profile, "PreScore", "pre_score", kept, times)
                self._evaluated(profile, "Score", "score", skip_score, times)
        self._runs.clear()

    def _attempt(self, decision: Decision, code: Code, started: float) -> None:
        rejected = code in (Code.UNSCHEDULABLE, Code.UNRESOLVABLE, Code.PENDING)
        result = "scheduled" if code is Code.SUCCESS else "unschedulable" if rejected else "error"
        self._metrics.observe(
            "scheduling_attempt_duration_seconds",
            time.perf_counter() - started,
            result=result,
            profile=decision.profile_name,
        )

    def _bound(self, queued: QueuedPod) -> None:
        attempts = queued.attempts
        self._metrics.observe("pod_scheduling_attempts", attempts)
        if queued.initial_attempt_at is not None:
            label = str(attempts) if attempts < MANY_ATTEMPTS else f"{MANY_ATTEMPTS}+"
            waited = max(0.0, self._clock.now() - queued.initial_attempt_at)
            self._metrics.observe("pod_scheduling_sli_duration_seconds", waited, attempts=label)
        if queued.flushed_at is not None:
            self._metrics.counter("pod_scheduled_after_flush_total")

    def _evaluated(self, profile: Profile, point: str, extension: str, skipped: frozenset[str], times: int) -> None:
        for plugin in profile.extension(extension):
            if plugin.name not in skipped:
                self._metrics.counter(
                    "plugin_evaluation_total",
                    times,
                    plugin=plugin.name,
                    extension_point=point,
                    profile=profile.scheduler_name,
                )

    def _points(self, decision: Decision, points: Iterable[str], failure: str) -> None:
        """All went well, but for the last one if there was a failure."""
        names = list(points)
        for number, point in enumerate(names, 1):
            self._point(decision, point, failure if failure and number == len(names) else _OK)

    def _point(self, decision: Decision, point: str, status: str) -> None:
        self._metrics.observe(
            "framework_extension_point_duration_seconds",
            decision.timings[point],
            extension_point=point,
            status=status,
            profile=decision.profile_name,
        )
