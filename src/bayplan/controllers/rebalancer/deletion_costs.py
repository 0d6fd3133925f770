"""
Deletion costs: when a workload is scaled in, the pods that the policy can spare go first.

ReplicaSets delete pods with the lowest ``controller.kubernetes.io/pod-deletion-cost`` first.  ``controller`` writes
what ``costs`` gives.  Every place in a domain has a cost, and pods keep the place they have, so that a pod that comes
or goes changes no other.  A cost that another client wrote is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bayplan.controllers.rebalancer.observed import is_ready
from bayplan.controllers.rebalancer.survey import Group, Survey, Surveyor
from bayplan.objects.admission.own_keys import OWN_DELETION_COST
from bayplan.objects.deletion_cost import DELETION_COST
from bayplan.objects.pod import Pod
from bayplan.plugins.leaf_node_workload_policy.reading import Rules

SCALE = 1000
# Pods beyond the numbers go before all others, those in domains that shall have none before these.
BEYOND, UNWANTED = -1_000_000, -2_000_000


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost to write on a pod."""

    pod: Pod
    value: int

    @property
    def annotations(self) -> dict[str, str]:
        return {DELETION_COST: str(self.value), OWN_DELETION_COST: str(self.value)}


def costs(survey: Survey, surveyor: Surveyor) -> list[Cost]:
    """The costs that pods do not have yet."""
    rules = survey.rules
    if rules is None:
        return []
    return [cost for group in survey.groups for cost in _group_costs(group, rules, survey, surveyor)]


def _group_costs(group: Group, rules: Rules, survey: Survey, surveyor: Surveyor) -> Iterable[Cost]:
    members: dict[str, list[Pod]] = {}
    for pod in group.bound:
        members.setdefault(surveyor.domain_of(pod, rules), []).append(pod)
    for name, pods in members.items():
        own = [pod for pod in pods if _is_steered(pod, survey)]
        values = [_value(rules, group, name, place) for place in range(len(pods))]
        # Pods whose order of deletion cannot be steered have the best places: they stay whatever happens.
        yield from _given(own, values[len(pods) - len(own) :])


def _given(pods: list[Pod], values: list[int]) -> Iterable[Cost]:
    """Each pod a value; those that have one of them keep it."""
    free = list(values)
    left = []
    for pod in pods:
        has = _own_cost(pod)
        if has is not None and has in free:
            free.remove(has)
        else:
            left.append(pod)
    left.sort(key=lambda pod: (not is_ready(pod), pod.metadata.creation_timestamp or "", pod.name))
    for pod, value in zip(left, free, strict=True):
        yield Cost(pod, value)


def foreign_costs(survey: Survey) -> Iterable[Pod]:
    """Pods that would have a cost of ours if another client, most often their template, had not written one."""
    for group in survey.groups:
        yield from (pod for pod in group.bound if _goes_by_cost(pod, survey) and _is_foreign(pod))


def _is_steered(pod: Pod, survey: Survey) -> bool:
    return _goes_by_cost(pod, survey) and not _is_foreign(pod)


def _goes_by_cost(pod: Pod, survey: Survey) -> bool:
    owner = pod.controller
    return owner is not None and owner.kind in ("ReplicaSet", "ReplicationController") and pod.uid in survey.named


def _is_foreign(pod: Pod) -> bool:
    return DELETION_COST in pod.annotations and _own_cost(pod) is None


def _own_cost(pod: Pod) -> int | None:
    """The cost that we gave it; None if it has none, or one that another client wrote."""
    text = pod.annotations.get(DELETION_COST)
    if text is None or pod.annotations.get(OWN_DELETION_COST) != text:
        return None
    try:
        return int(text)
    except ValueError:
        return None


def _value(rules: Rules, group: Group, name: str, place: int) -> int:
    """
    What the pod in this place of a domain is worth.  Balance gives up pods in the order that keeps the shares, Fill
    empties the last domain first, and a domain that takes the remainder shrinks before those with numbers.
    """
    wanted = group.desired.get(name, 0)
    if not wanted:
        return UNWANTED - place
    if place >= wanted:
        return BEYOND - SCALE * (place + 1) // wanted
    share = SCALE * (2 * place + 1) // (2 * wanted)
    order = [each.name for each in rules.domains].index(name)
    if rules.domains[order].remainder:
        return -SCALE * len(rules.domains) - SCALE - share
    return -SCALE * order - share if rules.fills else -share
