"""The two conditions of a Placement, with the published types and reasons.

The hub controller writes them, `bayplan place` shows them.
"""

from __future__ import annotations

from collections.abc import Iterator

from bayplan.objects.meta import StatusCondition
from bayplan.placement import domains
from bayplan.placement.evaluation import Evaluation

SATISFIED, MISCONFIGURED = "PlacementSatisfied", "PlacementMisconfigured"
LONGEST = 4096
"""So long a message may be; an API server refuses one that is much longer, and then nobody would see any of it."""


def conditions_of(evaluation: Evaluation) -> tuple[StatusCondition, StatusCondition]:
    return satisfied(evaluation), misconfigured(evaluation)


def misconfigured(evaluation: Evaluation) -> StatusCondition:
    if evaluation.problem:
        kept = " (the last decisions are kept)"
        text = _cut(evaluation.problem, LONGEST - len(kept)) + kept
        return StatusCondition(type=MISCONFIGURED, status="True", reason="Misconfigured", message=text)
    text = "there is no mistake in it"
    return StatusCondition(type=MISCONFIGURED, status="False", reason="Succeedconfigured", message=text)


def satisfied(evaluation: Evaluation) -> StatusCondition:
    reason, text = _verdict(evaluation)
    status = "True" if reason == "AllDecisionsScheduled" else "False"
    return StatusCondition(type=SATISFIED, status=status, reason=reason, message=_cut(text, LONGEST))


def _verdict(evaluation: Evaluation) -> tuple[str, str]:
    plan, fleet, outcome = evaluation.plan, evaluation.fleet, evaluation.outcome
    if evaluation.problem:
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
    if outcome.unscheduled:
        return "NotAllDecisionsScheduled", _missing(evaluation)
    if outcome.held_back:
        return "AllDecisionsScheduled", f"{_allowed(evaluation, outcome.selected)}{_notes(evaluation)}"
    return "AllDecisionsScheduled", f"there are as many clusters as wanted{_notes(evaluation)}"


def _missing(evaluation: Evaluation) -> str:
    number, ceiling = evaluation.missing, evaluation.outcome.ceiling
    text = f"{number} more cluster{'s are' if number > 1 else ' is'} wanted"
    if ceiling is not None and ceiling < int(evaluation.eligible.sum()):
        text += f"; {_allowed(evaluation, ceiling)}"
    return f"{text}{_notes(evaluation)}"


def _allowed(evaluation: Evaluation, number: int) -> str:
    """What the spread constraints leave, and which one is in the way of more."""
    about = "allows at most" if evaluation.outcome.is_exact else "left room for"
    text = f"the spread policy {about} {number} of {int(evaluation.eligible.sum())} clusters"
    for level, found in zip(evaluation.plan.levels, domains.report(evaluation).levels, strict=True):
        if found.blocking is not None:
            return f"{text}, {found.blocking.about(level.key[1])}"
    return text


def _notes(evaluation: Evaluation) -> str:
    notes = [*evaluation.outcome.warnings, *_uneven(evaluation)]
    if evaluation.outcome.is_unsettled:
        notes.append("more moves are needed to be within maxSkew")
    return "".join(f"; {note}" for note in notes)


def _uneven(evaluation: Evaluation) -> Iterator[str]:
    """Hard constraints that what is chosen exceeds: they keep clusters out, and drop none."""
    plan = evaluation.plan
    for depth, gap in evaluation.outcome.uneven:
        level = plan.levels[depth]
        text = f"{level.key[1]} has skew {domains.skew_of(level, gap)}, more than its maxSkew {level.max_skew}"
        if plan.is_flat:
            text += ": clusters that are chosen are not moved with several constraints and scope Flat"
        elif not plan.max_moves:
            text += ": clusters that are chosen stay while maxMoves is 0"
        elif not evaluation.outcome.is_unsettled:
            text += ": no move would mend it"
        yield text


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."
