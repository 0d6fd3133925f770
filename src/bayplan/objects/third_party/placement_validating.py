"""What can be wrong with the objects that say which clusters there are; `validating` calls the checks.

What can be wrong with a Placement itself is for `placement.validation`: the hub needs to know as well.
"""

from __future__ import annotations

from bayplan.objects.admission.affinity_validating import label_selector
from bayplan.objects.mistakes import Mistakes, int32, mistake, one_of, quantities, tried
from bayplan.objects.requirement import check_key
from bayplan.objects.third_party import placement
from bayplan.objects.times import parse_time

EFFECTS = (placement.NO_SELECT, placement.PREFER_NO_SELECT, placement.NO_SELECT_IF_NEW)
SCORES = range(-100, 101)
_LONGEST_NAME, _LONGEST_VALUE = 253, 1024


def check_managed_cluster(thing: placement.ManagedCluster) -> Mistakes:
    yield from quantities("status.allocatable", thing.status.allocatable)
    yield from quantities("status.capacity", thing.status.capacity)
    if thing.spec.lease_duration_seconds < 1:
        problem = f"{thing.spec.lease_duration_seconds} is too small"
        yield mistake("spec.leaseDurationSeconds", problem, "write 1 or more")
    yield from int32("spec.leaseDurationSeconds", thing.spec.lease_duration_seconds)
    for index, config in enumerate(thing.spec.managed_cluster_client_configs or ()):
        if not config.url:
            yield mistake(
                f"spec.managedClusterClientConfigs[{index}].url", "there is none", "write the hub's way there"
            )
    for index, taint in enumerate(thing.taints):
        at = f"spec.taints[{index}]"
        yield from tried(f"{at}.key", check_key, taint.key)
        yield from short(f"{at}.value", taint.value, _LONGEST_VALUE)
        yield from one_of(f"{at}.effect", taint.effect, EFFECTS)
        yield from tried(f"{at}.timeAdded", parse_time, taint.time_added)
    for index, claim in enumerate(thing.status.cluster_claims or ()):
        at = f"status.clusterClaims[{index}]"
        if not claim.name:
            yield mistake(f"{at}.name", "there is none", "write the name of the claim")
        yield from short(f"{at}.name", claim.name, _LONGEST_NAME)
        yield from short(f"{at}.value", claim.value, _LONGEST_VALUE)


def check_cluster_set(thing: placement.ManagedClusterSet) -> Mistakes:
    chosen = thing.spec.cluster_selector
    kinds = (placement.EXCLUSIVE, placement.BY_LABELS, "LegacyClusterSetLabel")
    yield from one_of("spec.clusterSelector.selectorType", chosen.selector_type, kinds)
    yield from label_selector("spec.clusterSelector.labelSelector", chosen.label_selector)
    if chosen.label_selector is not None and chosen.selector_type != placement.BY_LABELS:
        advice = f"write selectorType: {placement.BY_LABELS}, or remove it"
        problem = f"is read with selectorType {placement.BY_LABELS} only"
        yield mistake("spec.clusterSelector.labelSelector", problem, advice)


def check_cluster_set_binding(thing: placement.ManagedClusterSetBinding) -> Mistakes:
    if thing.spec.cluster_set != thing.name:
        yield mistake("spec.clusterSet", f'"{thing.spec.cluster_set}" is not the name of the binding', "write it twice")


def check_add_on_score(thing: placement.AddOnPlacementScore) -> Mistakes:
    yield from tried("status.validUntil", parse_time, thing.status.valid_until)
    seen: set[str] = set()
    for index, score in enumerate(thing.status.scores or ()):
        at = f"status.scores[{index}]"
        if not score.name:
            yield mistake(f"{at}.name", "there is none", "write the name that scoreName refers to")
        elif score.name in seen:
            yield mistake(f"{at}.name", f'"{score.name}" is there already', "keep one of them")
        seen.add(score.name)
        if score.value not in SCORES:
            yield mistake(f"{at}.value", f"{score.value} is out of range", "write a number from -100 to 100")


def check_decisions(thing: placement.PlacementDecision) -> Mistakes:
    for index, decision in enumerate(thing.status.decisions or ()):
        if not decision.cluster_name:
            yield mistake(f"status.decisions[{index}].clusterName", "there is none", "write the name of a cluster")


def short(field: str, text: str, most: int) -> Mistakes:
    """Text has a longest length."""
    if len(text) > most:
        yield mistake(field, f"{len(text)} characters are too many", f"write at most {most}")
