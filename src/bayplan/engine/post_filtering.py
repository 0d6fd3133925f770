"""
PostFilter: no node fits, and plugins are asked in turn whether they can make room.

``engine.evaluation`` asks, once it is known why no node fits.
"""

from __future__ import annotations

from bayplan.engine.extender_calls import Extending
from bayplan.engine.plugin_calls import Calls
from bayplan.errors import PluginError
from bayplan.framework.decision import Decision
from bayplan.framework.diagnosis import Diagnosis
from bayplan.framework.plugin import PostFilterPlugin
from bayplan.framework.profile import Profile
from bayplan.framework.results import Nomination, PostFilterResult
from bayplan.framework.status import Code, Status


async def post_filter(decision: Decision, calls: Calls, profile: Profile, extending: Extending) -> None:
    """Ask PostFilter plugins in turn for help; the first success, final no or error ends it."""
    diagnosis, plugins = decision.diagnosis, profile.extension("post_filter")
    assert diagnosis is not None
    if not plugins:
        # Nobody can make room, so there is no node to wait for.
        decision.nomination = Nomination("")
    reasons: list[str] = []
    for plugin in plugins:
        result = await _asked_for_help(decision, calls, plugin, diagnosis, extending)
        status = result.status
        if result.follow_up is not None:
            decision.follow_ups.append(result.follow_up)
        if status.is_success:
            decision.nomination, decision.victims = result.nomination, result.victims
            decision.preemption_node = result.nomination.node_name if result.nomination else None
            return
        if not status.is_rejected or status.code is Code.UNRESOLVABLE:
            decision.nomination = result.nomination if status.is_rejected else None
            diagnosis.post_filter_message = calls.complaint(status)
            # Only what one raised: as in kube-scheduler, some answer with an error where their PreFilter never ran.
            decision.post_filter_failed = isinstance(status.error, PluginError)
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
