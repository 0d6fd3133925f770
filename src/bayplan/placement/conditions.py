"""The two conditions of a Placement, with the published types and reasons.

The hub controller writes them, `bayplan place` shows them.
"""

from __future__ import annotations

from bayplan.objects.meta import StatusCondition
from bayplan.placement import domains
from bayplan.placement.scheduling import Evaluation

SATISFIED, MISCONFIGURED = "PlacementSatisfied", "PlacementMisconfigured"
LONGEST = 4096
"""So long a message may be; an API server refuses one that is much longer, and then nobody would see any of it."""


def conditions_of(evaluation: Evaluation) -> tuple[StatusCondition, StatusCondition]:
    return satisfied(evaluation), misconfigured(evaluation)


def misconfigured(evaluation: Evaluation) -> StatusCondition:
    plan = evaluation.plan
    if plan.is_misconfigured:
        kept = " (the last decisions are kept)"
        text = _cut(plan.misconfiguration, LONGEST - len(kept)) + kept
        return StatusCondition(type=MISCONFIGURED, status="True", reason="Misconfigured", message=text)
    text = "there is no mistake in it"
    return StatusCondition(type=MISCONFIGURED, status="False", reason="Succeedconfigured", message=text)


def satisfied(evaluation: Evaluation) -> StatusCondition:
    reason, text = _verdict(evaluation)
    status = "True" if reason == "AllDecisionsScheduled" else "False"
    return StatusCondition(type=SATISFIED, status=status, reason=reason, message=_cut(text, LONGEST))


def _verdict(evaluation: Evaluation) -> tuple[str, str]:
    plan, fleet, outcome = evaluation.plan, evaluation.fleet, evaluation.outcome
    if plan.is_misconfigured:
        return "NotAllDecisionsScheduled", "the placement is misconfigured; its last decisions are kept"
    bound = fleet.bound_sets(plan.namespace)
    if not bound:
        return "NoManagedClusterSetBindings", "no set is bound to the namespace"
    sets = bound if plan.sets is None else bound & plan.sets
    if not sets:
        listed = ", ".join(sorted(plan.sets or ()))
        return "NoIntersection", f"of the sets {listed} none is bound to the namespace"
    if not fleet.members(sets).any():
        listed = ", ".join(sorted(sets))
        return "AllManagedClusterSetsEmpty", f"there are no clusters in {listed}"
    if not outcome.selected and plan.number != 0:
        if evaluation.eligible.any():
            return "NotAllDecisionsScheduled", _missing(evaluation)
        needs = ["predicates", "taints", *(["hard spread keys"] if any(each.is_hard for each in plan.levels) else [])]
        return "NoManagedClusterMatched", f"no cluster is left after {' and '.join(needs)}"
    if not outcome.unscheduled:
        return "AllDecisionsScheduled", f"there are as many clusters as wanted{_notes(evaluation)}"
    return "NotAllDecisionsScheduled", _missing(evaluation)


def _missing(evaluation: Evaluation) -> str:
    number = evaluation.outcome.unscheduled
    return f"{number} more cluster{'s are' if number > 1 else ' is'} wanted{_why(evaluation)}"


def _why(evaluation: Evaluation) -> str:
    """What a spread constraint has to do with it."""
    outcome = evaluation.outcome
    if outcome.ceiling is None or not evaluation.plan.levels:
        return ""
    eligible = int(evaluation.eligible.sum())
    if outcome.ceiling >= eligible:
        return ""
    about = "at most" if outcome.is_exact else "found room for"
    text = f"; the spread policy allows {about} {outcome.ceiling} of {eligible} clusters"
    for depth, level in enumerate(evaluation.plan.levels):
        blocking = domains.blocking(evaluation, depth)
        if blocking is not None:
            text += f", as {level.key[1]} {blocking} is full"
            break
    return f"{text}{_notes(evaluation)}"


def _notes(evaluation: Evaluation) -> str:
    notes = list(evaluation.outcome.warnings)
    if evaluation.outcome.is_unsettled:
        notes.append("more moves are needed to be within maxSkew")
    return "".join(f"; {note}" for note in notes)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."
