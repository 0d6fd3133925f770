"""
The status of a policy: pods per domain, and the conditions Valid, Satisfied, Effective and Rebalancing.

``controller`` writes it, and only when it says something new.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from bayplan.controllers.rebalancer.deletion_costs import foreign_costs
from bayplan.controllers.rebalancer.survey import Domain, Survey
from bayplan.objects.deletion_cost import DELETION_COST
from bayplan.objects.meta import StatusCondition
from bayplan.objects.third_party.kosmos import DomainStatus, WorkloadPolicy, WorkloadPolicyStatus
from bayplan.objects.third_party.kosmos_validating import unusual_spellings
from bayplan.objects.times import format_time
from bayplan.plugins.leaf_node_workload_policy.noticing import advice
from bayplan.plugins.leaf_node_workload_policy.reading import names_policy

VALID, SATISFIED, EFFECTIVE, REBALANCING = "Valid", "Satisfied", "Effective", "Rebalancing"

Finding = tuple[bool, str, str]
"""A condition's status, reason and message."""


def status_of(
    survey: Survey, rebalancing: Finding | None, now: float, *, writes_costs: bool = True
) -> WorkloadPolicyStatus:
    """What there is to say; conditions that stay as they are keep their time."""
    policy = survey.policy
    found = {
        VALID: validity(survey),
        SATISFIED: satisfaction(survey),
        EFFECTIVE: effect(survey, writes_costs=writes_costs),
        REBALANCING: rebalancing,
    }
    return WorkloadPolicyStatus(
        observed_generation=policy.metadata.generation,
        desired=sum(domain.desired for domain in survey.domains),
        current=survey.bound,
        ready=survey.ready,
        pending=survey.pending,
        domains=tuple(
            DomainStatus(
                name=each.name, desired=each.desired, current=each.current, ready=each.ready, pending=each.pending
            )
            for each in survey.domains
        ),
        conditions=tuple(_conditions(policy, found, now)),
    )


def as_patch(status: WorkloadPolicyStatus) -> dict[str, Any]:
    """Everything, also what is 0: a merge patch keeps what it does not name."""
    written: dict[str, Any] = {
        "observedGeneration": status.observed_generation,
        "desired": status.desired,
        "current": status.current,
        "ready": status.ready,
        "pending": status.pending,
        "domains": [
            {"name": each.name, "desired": each.desired, "current": each.current, "ready": each.ready,
             "pending": each.pending}
            for each in status.domains or ()
        ],
        "conditions": [msgspec.to_builtins(each) for each in status.conditions or ()],
    }  # fmt: skip
    return written


def validity(survey: Survey) -> Finding:
    if survey.mistakes:
        return False, "Invalid", "; ".join(survey.mistakes)
    notes = tuple(unusual_spellings(survey.policy))
    return (True, "UnusualSpelling", "; ".join(notes)) if notes else (True, "Valid", "")


def satisfaction(survey: Survey) -> Finding:
    """Has every domain what it shall have?  Under Required also no more than that."""
    if survey.rules is None:
        return False, "Invalid", "the policy cannot be used"
    lacking = [domain for domain in survey.domains if domain.current < domain.desired]
    over = [domain for domain in survey.domains if domain.current > domain.desired]
    if len([group for group in survey.groups if group.bound or group.pending]) > 1:
        return False, "RollingOut", "pods of more than one revision are there"
    if lacking:
        told = ", ".join(map(_lack, lacking))
        if survey.pending:
            return False, "PodsPending", f"{told}; {survey.pending} pods wait for a node"
        return False, "PodsMisplaced" if _has_misplaced(survey) else "TooFewPods", told
    if survey.pending:
        return False, "PodsPending", f"every domain has its number; {survey.pending} more pods wait for a node"
    if survey.rules.is_required and over and not any(each.remainder for each in survey.rules.domains):
        return False, "TooManyPods", ", ".join(f"{each.name} has {each.current}/{each.desired}" for each in over)
    return True, "NumbersMet", ""


def effect(survey: Survey, *, writes_costs: bool = True) -> Finding | None:
    """What keeps the policy from having its effect on pods that it counts; None if nothing does."""
    members = [pod for group in survey.groups for pod in (*group.bound, *group.pending)]
    unnamed = sum(not names_policy(pod) and not pod.is_daemonset for pod in members)
    foreign = list(foreign_costs(survey)) if writes_costs else []
    told: dict[str, str] = {}
    if unnamed:
        told["PodsWithoutLabel"] = (
            f"{unnamed} pods match the labelSelector and name no policy, so they count and go anywhere; "
            + advice(survey.policy)
        )
    if foreign:
        owners = sorted({f"{owner.kind} {owner.name}" for pod in foreign if (owner := pod.controller) is not None})
        told["OwnDeletionCosts"] = (
            f"{len(foreign)} pods of {', '.join(owners)} have a {DELETION_COST} that the rebalancer did not write, so "
            f"scaling in goes by that; remove it from the pod template if the policy shall decide"
        )
    return (False, next(iter(told)), "; ".join(told.values())) if told else None


def _lack(domain: Domain) -> str:
    """A domain without nodes may be a slip of the pen."""
    has = f"{domain.name} has {domain.current}/{domain.desired}"
    return has if domain.nodes else f"{has} and no node"


def _has_misplaced(survey: Survey) -> bool:
    """Are there pods that some other domain could use?"""
    return any(count > group.desired.get(name, 0) for group in survey.groups for name, count in group.current.items())


def _conditions(policy: WorkloadPolicy, found: dict[str, Finding | None], now: float) -> Iterable[StatusCondition]:
    before = {each.type: each for each in policy.status.conditions or ()}
    for kind, finding in found.items():
        if finding is None:
            continue
        is_true, reason, message = finding
        known = before.get(kind)
        status = "True" if is_true else "False"
        same = known is not None and known.status == status
        yield StatusCondition(
            type=kind,
            status=status,
            reason=reason,
            message=message,
            observed_generation=policy.metadata.generation,
            last_transition_time=known.last_transition_time if same and known is not None else format_time(now),
        )


def says_the_same(one: WorkloadPolicyStatus, other: WorkloadPolicyStatus) -> bool:
    """But for when conditions changed."""
    return _timeless(one) == _timeless(other)


def _timeless(status: WorkloadPolicyStatus) -> WorkloadPolicyStatus:
    conditions = tuple(replace(each, last_transition_time=None) for each in status.conditions or ())
    return replace(status, conditions=conditions, domains=status.domains or ())
