"""
One scheduling cycle: ``decide(pod, …) -> Decision``.  It changes nothing outside the cycle.

So ``explain``, a what-if, the rebalancer's planner and a dry run are this same call with no commit after it.  With
extenders the cycle has to wait for their answers: ``deciding`` is the same cycle as a coroutine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayplan.engine import filtering, scoring
from bayplan.engine.extending import NOBODY, Extending, straight_through
from bayplan.engine.filtering import Filters, Search
from bayplan.engine.running import Calls
from bayplan.errors import PluginError
from bayplan.framework.decision import Decision
from bayplan.framework.diagnosis import Diagnosis
from bayplan.framework.plugin import Nomination, PostFilterPlugin, PostFilterResult
from bayplan.framework.ports import MetricSink
from bayplan.framework.profile import Profile
from bayplan.framework.snapshot import Rows, Snapshot
from bayplan.framework.status import Code, Status, unresolvable
from bayplan.objects.pod import Pod

NO_NODES = "no nodes available to schedule pods"


@dataclass(slots=True)
class Settings:
    """What a cycle needs beside pod, cluster and profile."""

    seed: int = 0
    cycle: int = 0
    percentage: int = 100
    """percentageOfNodesToScore; 100 looks at every node."""
    order: Callable[[], Rows] | None = None
    """Rows in search order, when fewer than all nodes are looked at."""
    start: int = 0
    metrics: MetricSink | None = None


class _Timing:
    """Seconds per extension point."""

    def __init__(self, decision: Decision) -> None:
        self._timings = decision.timings
        self._last = time.perf_counter()

    def lap(self, point: str) -> None:
        now = time.perf_counter()
        self._timings[point] = now - self._last
        self._last = now


def decide(pod: Pod, snapshot: Snapshot, profile: Profile, filters: Filters, settings: Settings) -> Decision:
    """Find the best node for a pod, or say why there is none and what preemption would do.  Asks no extender."""
    return straight_through(deciding(pod, snapshot, profile, filters, settings, NOBODY))


async def deciding(
    pod: Pod,
    snapshot: Snapshot,
    profile: Profile,
    filters: Filters,
    settings: Settings,
    extending: Extending,
) -> Decision:
    """As ``decide``, with extenders asked where they have a say; waits for them and for nothing else."""
    decision = Decision(pod, profile.scheduler_name)
    calls = Calls(pod, settings.metrics)
    try:
        await _decide(decision, calls, snapshot, filters, settings, extending)
    except PluginError as error:
        decision.status = filtering.error_status(error)
    except (filtering.FilterError, scoring.ScoreError) as error:
        decision.status = error.status
    decision.slow_plugins = calls.slow
    return decision


async def _decide(
    decision: Decision,
    calls: Calls,
    snapshot: Snapshot,
    filters: Filters,
    settings: Settings,
    extending: Extending,
) -> None:
    nodes, pod, state, profile = snapshot.nodes, decision.pod, decision.state, filters.profile
    if not len(nodes):
        decision.status = unresolvable(NO_NODES)
        return
    timing = _Timing(decision)
    narrowed = filtering.pre_filter(calls, profile, state, pod, nodes)
    timing.lap("PreFilter")
    if narrowed.status.is_error:
        decision.status = narrowed.status
        return
    diagnosis = decision.diagnosis = filtering.new_diagnosis(nodes, narrowed)
    if narrowed.status.is_success:
        feasible = await _search(calls, filters, decision, narrowed.rows, settings, extending)
        timing.lap("Filter")
        if len(feasible):
            decision.feasible = feasible
            await _choose(decision, calls, profile, settings, extending)
            timing.lap("Score")
            return
    decision.status = Status(Code.UNSCHEDULABLE, narrowed.status.reasons)
    await _post_filter(decision, calls, profile, diagnosis, extending)
    timing.lap("PostFilter")


async def _search(
    calls: Calls,
    filters: Filters,
    decision: Decision,
    few: list[int] | None,
    settings: Settings,
    extending: Extending,
) -> Rows:
    """The feasible rows: the nominated node alone if it still fits, else what filters and extenders leave."""
    pod, diagnosis = decision.pod, decision.diagnosis
    assert diagnosis is not None
    search = Search(calls, filters, decision.state, pod, diagnosis)
    if pod.nominated_node_name:
        row = search.nominated_node(pod.nominated_node_name)
        if row is not None and await extending.lets_in(pod, pod.nominated_node_name):
            return np.array([row], np.intp)
    feasible = search.run(few)
    if settings.percentage < 100 and settings.order is not None:
        total = len(few) if few is not None else len(diagnosis.nodes)
        enough = filtering.how_many(total, settings.percentage) if filters.profile.extension("score") else 1
        feasible, settings.start = filtering.stop_early(diagnosis, settings.order(), settings.start, enough)
    return await extending.filter(pod, diagnosis, feasible)


async def _choose(decision: Decision, calls: Calls, profile: Profile, settings: Settings, extending: Extending) -> None:
    """Score the feasible nodes and pick one; a single one is taken unscored."""
    pod, feasible = decision.pod, decision.feasible
    assert decision.diagnosis is not None
    nodes = decision.diagnosis.nodes
    if len(feasible) == 1:
        decision.node, decision.ties = nodes.names[int(feasible[0])], 1
        return
    scoring.pre_score(calls, profile, decision.state, pod, nodes, feasible)
    decision.scores = scoring.score(calls, profile, decision.state, pod, nodes, feasible)
    decision.scores += await extending.prioritize(pod, nodes, feasible)
    decision.totals = scoring.total(decision.scores, len(feasible))
    position, decision.ties = scoring.pick(decision.totals, settings.seed, settings.cycle)
    decision.node = nodes.names[int(feasible[position])]


async def _post_filter(
    decision: Decision, calls: Calls, profile: Profile, diagnosis: Diagnosis, extending: Extending
) -> None:
    """Ask PostFilter plugins in turn for help; the first success, final no or error ends it."""
    plugins = profile.extension("post_filter")
    if not plugins:
        # Nobody can make room, so there is no node to wait for.
        decision.nomination = Nomination("")
    reasons: list[str] = []
    for plugin in plugins:
        result = await _asked_for_help(decision, calls, plugin, diagnosis, extending)
        status = result.status
        if status.is_success:
            decision.nomination, decision.victims = result.nomination, result.victims
            decision.preemption_node = result.nomination.node_name if result.nomination else None
            return
        if not status.is_rejected or status.code is Code.UNRESOLVABLE:
            decision.nomination = result.nomination if status.is_rejected else None
            diagnosis.post_filter_message = calls.complaint(status)
            decision.post_filter_failed = not status.is_rejected
            return
        if result.nomination is not None:
            decision.nomination = result.nomination
        reasons.extend(status.reasons)
    diagnosis.post_filter_message = ", ".join(reasons)


async def _asked_for_help(
    decision: Decision, calls: Calls, plugin: PostFilterPlugin, diagnosis: Diagnosis, extending: Extending
) -> PostFilterResult:
    """One plugin's answer; what it raises is an answer too, since the pod is unschedulable all the same."""
    pod = decision.pod
    try:
        answer = calls.run(plugin, "PostFilter", plugin.post_filter, decision.state, pod, diagnosis)
        if isinstance(answer, PostFilterResult) and answer.candidates:
            left = await extending.preempt(pod, diagnosis.nodes, answer.candidates)
            if left is not answer.candidates and left != tuple(answer.candidates):
                answer = calls.run(plugin, "PostFilter", plugin.choose, left)
        if isinstance(answer, PostFilterResult):
            return answer
        return PostFilterResult(status=calls.status(plugin, "PostFilter", answer))
    except PluginError as error:
        return PostFilterResult(status=Status(Code.ERROR, (str(error),), plugin.name, error))
