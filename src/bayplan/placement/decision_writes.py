"""From a decision to what must be written: PlacementDecisions page by page, then the status of the Placement.

Pure: the hub controller carries the writes out, in the order they stand. Pages that gain clusters come first and pages
that go come last, so a cluster that is chosen all along is in some page all along; where two pages exchange clusters,
one of them is written twice. Nothing changed: nothing to write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from bayplan.objects.admission.own_keys import DIVISION
from bayplan.objects.third_party import placement as api
from bayplan.placement import explaining, replica_division
from bayplan.placement.conditions import conditions_of
from bayplan.placement.decision_groups import Page, groups_of, pages_of
from bayplan.placement.evaluation import Evaluation

Manifest = dict[str, Any]
_VERSION = f"{api.GROUP}/v1beta1"


@dataclass(frozen=True, slots=True)
class Create:
    """A PlacementDecision that is not there; its status must be written after it."""

    manifest: Manifest
    status: Manifest


@dataclass(frozen=True, slots=True)
class Update:
    """Labels, annotations or decisions that differ; None where they do not."""

    name: str
    metadata: Manifest | None
    status: Manifest | None


@dataclass(frozen=True, slots=True)
class Delete:
    name: str


@dataclass(frozen=True, slots=True)
class PatchStatus:
    """The status of the Placement itself."""

    status: Manifest


Write = Create | Update | Delete | PatchStatus


def writes_for(
    evaluation: Evaluation, placement: api.Placement, existing: Sequence[api.PlacementDecision], now: str
) -> list[Write]:
    """What is to be written for a placement.

    `placement` and `existing` are the objects as they are on the hub, `now` is the time for conditions.
    """
    before = _pages(placement, existing)
    pages = before
    writes: list[Write] = []
    if not evaluation.problem:
        names = evaluation.names()
        groups = groups_of(evaluation.plan, evaluation.fleet.table, names, before)
        pages = pages_of(groups, before)
        writes = _page_writes(evaluation, placement, pages, existing, names)
    status = _status(evaluation, placement, pages, now)
    if status:
        writes.append(PatchStatus(status))
    return writes


def page_name(placement: api.Placement, number: int) -> str:
    return f"{placement.name}-decision-{number}"


def _pages(placement: api.Placement, existing: Sequence[api.PlacementDecision]) -> list[Page]:
    pages = []
    for each in existing:
        number = each.name.rpartition("-")[2]
        index = each.labels.get(api.GROUP_INDEX_LABEL, "0")
        if number.isdecimal() and each.name == page_name(placement, int(number)):
            group = each.labels.get(api.GROUP_NAME_LABEL, "")
            pages.append(Page(int(number), int(index) if index.isdecimal() else 0, group, each.clusters))
    return sorted(pages, key=lambda page: page.number)


def _page_writes(
    evaluation: Evaluation,
    placement: api.Placement,
    pages: Sequence[Page],
    existing: Sequence[api.PlacementDecision],
    names: tuple[str, ...],
) -> list[Write]:
    there, wanted = {each.name: each for each in existing}, set(names)
    division = _division(evaluation, existing, names)
    creates: list[Write] = []
    gains: list[Write] = []
    losses: list[Write] = []
    for page in pages:
        name = page_name(placement, page.number)
        held = there.pop(name, None)
        metadata = _metadata(page, placement, division, held)
        status = _decisions(evaluation, page)
        if held is None:
            creates.append(Create(_manifest(placement, name, metadata), status))
            continue
        same_meta = _has_metadata(held, placement, metadata)
        if not same_meta:
            metadata["ownerReferences"] = _owners(placement, held)
        same_status = msgspec.to_builtins(held.status.decisions or ()) == tuple(status["decisions"])
        if same_meta and same_status:
            continue
        update = Update(name, None if same_meta else metadata, None if same_status else status)
        if not set(page.clusters) - set(held.clusters):
            losses.append(update)
            continue
        moving = sorted((set(held.clusters) & wanted) - set(page.clusters))
        if moving:
            both = Page(page.number, page.group_index, page.group_name, (*page.clusters, *moving))
            gains.append(Update(name, None, _decisions(evaluation, both)))
            losses.append(update)
        else:
            gains.append(update)
    return [*creates, *gains, *losses, *(Delete(name) for name in sorted(there))]


def _division(
    evaluation: Evaluation, existing: Sequence[api.PlacementDecision], names: tuple[str, ...]
) -> replica_division.Division | None:
    options = evaluation.plan.replicas
    if options is None:
        return None
    held: dict[str, int] = {}
    for each in existing:
        try:
            held |= msgspec.json.decode(each.annotations.get(DIVISION, "{}"), type=dict[str, int])
        except msgspec.DecodeError:
            continue
    return replica_division.divide(options, evaluation.fleet.table, names, held)


def _has_metadata(held: api.PlacementDecision, placement: api.Placement, metadata: Manifest) -> bool:
    """Whether labels, annotations and owner are what they should be; None stands for an annotation that must go."""
    return (
        all(held.labels.get(key) == value for key, value in metadata["labels"].items())
        and all(held.annotations.get(key) == value for key, value in metadata.get("annotations", {}).items())
        and held.controller is not None
        and held.controller.uid == placement.uid
    )


def _metadata(
    page: Page, placement: api.Placement, division: replica_division.Division | None, held: api.PlacementDecision | None
) -> Manifest:
    metadata: Manifest = {
        "labels": {
            api.PLACEMENT_LABEL: placement.name,
            api.GROUP_INDEX_LABEL: str(page.group_index),
            api.GROUP_NAME_LABEL: page.group_name,
        }
    }
    if division is not None:
        metadata["annotations"] = {DIVISION: division.annotation(page.clusters)}
    elif held is not None and DIVISION in held.annotations:
        metadata["annotations"] = {DIVISION: None}
    return metadata


def _owners(placement: api.Placement, held: api.PlacementDecision | None = None) -> list[Manifest]:
    """The placement, and whoever else owns the page without looking after it."""
    owner = {
        "apiVersion": _VERSION,
        "kind": "Placement",
        "name": placement.name,
        "uid": placement.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    others = [] if held is None else held.metadata.owner_references or ()
    return [owner, *(msgspec.to_builtins(each) for each in others if not each.controller and each.uid != placement.uid)]


def _manifest(placement: api.Placement, name: str, metadata: Mapping[str, Any]) -> Manifest:
    meta = {"name": name, "namespace": placement.namespace, "ownerReferences": _owners(placement), **metadata}
    return {"apiVersion": _VERSION, "kind": "PlacementDecision", "metadata": meta}


def _decisions(evaluation: Evaluation, page: Page) -> Manifest:
    told = [{"clusterName": name, "reason": explaining.reason(evaluation, name)} for name in page.clusters]
    return {"decisions": told}


def _status(evaluation: Evaluation, placement: api.Placement, pages: Sequence[Page], now: str) -> Manifest:
    """What of the status differs; {} if nothing does."""
    held = placement.status
    groups: dict[int, api.DecisionGroupStatus] = {}
    for page in sorted(pages, key=lambda each: (each.group_index, each.number)):
        group = groups.get(page.group_index, api.DecisionGroupStatus(decision_group_index=page.group_index))
        groups[page.group_index] = api.DecisionGroupStatus(
            decision_group_index=page.group_index,
            decision_group_name=page.group_name,
            decisions=(*group.decisions, page_name(placement, page.number)),
            cluster_count=group.cluster_count + len(page.clusters),
        )
    status: Manifest = {}
    selected = sum(len(page.clusters) for page in pages)
    if held.number_of_selected_clusters != selected:
        status["numberOfSelectedClusters"] = selected
    if (held.decision_groups or ()) != tuple(groups.values()):
        status["decisionGroups"] = msgspec.to_builtins(tuple(groups.values()))
    conditions = _conditions(evaluation, held, now)
    if conditions is not None:
        status["conditions"] = conditions
    return status


def _conditions(evaluation: Evaluation, status: api.PlacementStatus, now: str) -> list[Manifest] | None:
    """All conditions of the placement if one of ours differs; others' are kept as they are."""
    held = {each.type: each for each in status.conditions or ()}
    is_same = True
    for each in conditions_of(evaluation):
        old = held.get(each.type)
        since = old.last_transition_time if old and old.status == each.status else now
        new = msgspec.structs.replace(each, last_transition_time=since)
        if old is None or (old.status, old.reason, old.message) != (new.status, new.reason, new.message):
            is_same = False
            held[each.type] = new
    return None if is_same else [{"message": "", **msgspec.to_builtins(each)} for each in held.values()]
