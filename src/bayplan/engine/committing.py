"""
Committing a decision: assume, reserve, permit; undone in reverse if one says no.

Called by ``engine.scheduler`` right after the decision; ``undo`` is also what a failed binding cycle ends in.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from bayplan.clock import Clock
from bayplan.engine.cache import ClusterCache
from bayplan.engine.plugin_calls import Calls, error_status, log
from bayplan.engine.waiting_pods import WaitingPod, WaitingPods
from bayplan.errors import PluginError, StateError
from bayplan.framework.decision import Decision
from bayplan.framework.plugin import PermitPlugin, ReservePlugin
from bayplan.framework.profile import Profile
from bayplan.framework.results import Wait
from bayplan.framework.status import SUCCESS, Code, Status, failed
from bayplan.objects.pod import Pod


def commit(decision: Decision, profile: Profile, cache: ClusterCache, waiting: WaitingPods, clock: Clock) -> Status:
    """Take the node for the pod.  On a no, everything is undone and the status says who said it."""
    try:
        assume(decision, cache)
    except StateError as error:
        return failed(error)
    if not decision.reserves:
        return SUCCESS
    timings, started = decision.timings, time.perf_counter()
    calls = Calls(decision.pod)
    try:
        status = _reserve(calls, decision, profile)
        timings["Reserve"] = (reserved := time.perf_counter()) - started
        if status.is_success:
            status = _permit(calls, decision, profile, waiting, clock)
            timings["Permit"] = time.perf_counter() - reserved
    except PluginError as error:
        status = error_status(error)
    if not (status.is_success or status.is_wait):
        undo(decision, profile, cache, waiting)
    return status


def commit_alike(decisions: Sequence[Decision], rows: Sequence[int], cache: ClusterCache) -> None:
    """As ``commit``, for pods of one template for which nobody reserves or permits anything: all at once."""
    cache.assume_alike([_placed(decision) for decision in decisions], rows)


def assume(decision: Decision, cache: ClusterCache) -> None:
    """Count the pod on its node."""
    cache.assume(_placed(decision))


def _placed(decision: Decision) -> Pod:
    assert decision.node is not None
    return decision.pod.assigned_to(decision.node)


def undo(decision: Decision, profile: Profile, cache: ClusterCache, waiting: WaitingPods) -> None:
    """Unreserve in reverse order, also where reserve never ran, and only then forget the pod."""
    assert decision.node is not None
    waiting.pop(decision.pod.uid, None)
    calls = Calls(decision.pod)
    for plugin in reversed(profile.extension("reserve")):
        assert isinstance(plugin, ReservePlugin)
        try:
            calls.run(plugin, "Unreserve", plugin.unreserve, decision.state, decision.pod, decision.node)
        except PluginError as error:
            # Nothing is left to undo for this plugin; the others must still get their turn.
            log.error("unreserve failed", plugin=plugin.name, pod=decision.pod.key, error=str(error))
    assumed = cache.pod(decision.pod.uid)
    if assumed is not None and cache.is_assumed(assumed.uid):
        cache.forget(assumed)


def _reserve(calls: Calls, decision: Decision, profile: Profile) -> Status:
    for plugin in profile.extension("reserve"):
        assert isinstance(plugin, ReservePlugin)
        answer = calls.run(plugin, "Reserve", plugin.reserve, decision.state, decision.pod, decision.node)
        if answer is not None:
            status = calls.yes_or_no(plugin, "Reserve", calls.status(plugin, "Reserve", answer))
            if not status.is_success:
                return status
    return SUCCESS


def _permit(calls: Calls, decision: Decision, profile: Profile, waiting: WaitingPods, clock: Clock) -> Status:
    timeouts: dict[str, float] = {}
    for plugin in profile.extension("permit"):
        assert isinstance(plugin, PermitPlugin)
        answer = calls.run(plugin, "Permit", plugin.permit, decision.state, decision.pod, decision.node)
        if isinstance(answer, Wait):
            timeouts[plugin.name] = answer.timeout_s
            continue
        status = calls.yes_or_no(plugin, "Permit", calls.status(plugin, "Permit", answer))
        if not status.is_success:
            return status
    if not timeouts:
        return SUCCESS
    assert decision.node is not None
    waiting[decision.pod.uid] = WaitingPod(decision.pod, decision.node, timeouts, clock)
    return Status(Code.WAIT)
