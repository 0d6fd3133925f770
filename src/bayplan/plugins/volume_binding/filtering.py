"""
Which nodes a pod's volumes can be on: the rule for one node, and the same rule for all of them.

``on_node`` also says which volumes would be bound and which made; ``plugin.reserve`` asks it for the chosen node.
Both forms look at bound claims first, then at claims whose node was selected before, then find volumes for the
others, and last whether what is missing can be provisioned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bayplan.framework import Code, Mask, NodeTable, Reason, Status, Verdicts, failed
from bayplan.objects.csi_migration import SWITCHED, InTreePlugin, migrated_requirement, plugin_of
from bayplan.objects.selector import NodeRequirement
from bayplan.objects.volume import CSINode, PersistentVolume, PersistentVolumeClaim
from bayplan.plugins.csi_nodes import CSINodes
from bayplan.plugins.volume_binding.claims import DelayedClaim, PodClaims
from bayplan.plugins.volume_binding.reaching import Positions, first_reached, reached_by, reaches_any

NODE_CONFLICT = Reason(Code.UNRESOLVABLE, "node(s) didn't match PersistentVolume's node affinity")
BIND_CONFLICT = Reason(Code.UNRESOLVABLE, "node(s) didn't find available persistent volumes to bind")
NO_SPACE = Reason(Code.UNRESOLVABLE, "node(s) did not have enough free storage")
NO_VOLUME = Reason(Code.UNRESOLVABLE, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")

# What can be wrong with bound claims and with delayed ones, and so with both: the position is 3 * bound + delayed.
_BOUND = (None, NODE_CONFLICT, NO_VOLUME)
_DELAYED = (None, BIND_CONFLICT, NO_SPACE)
# The order in which the reasons of one node are told.
_TOLD = (NODE_CONFLICT, BIND_CONFLICT, NO_SPACE, NO_VOLUME)

Faults = npt.NDArray[np.uint8]


def _told(*given: Reason | None) -> Status:
    return Status(Code.UNRESOLVABLE, tuple(reason.text for reason in _TOLD if reason in given))


STATUSES = tuple(_told(bound, delayed) for bound in _BOUND for delayed in _DELAYED)[1:]


@dataclass(slots=True)
class Found:
    """What binding a pod's volumes on one node takes."""

    bindings: list[tuple[PersistentVolumeClaim, PersistentVolume]] = field(default_factory=list)
    provisions: list[PersistentVolumeClaim] = field(default_factory=list)


# -- one node --


def on_node(claims: PodClaims, name: str, labels: Mapping[str, str], csi_node: CSINode | None) -> Found | Status:
    """The volumes to bind and to make for the pod on this node, or why it cannot be here."""
    try:
        bound = _bound_fault(claims, labels, csi_node)
    except ValueError as error:
        return failed(f"could not translate pv: {error}")
    found = Found()
    delayed = _delayed_fault(claims, name, labels, found)
    if bound is None and delayed is None:
        return found
    return _told(bound, delayed)


def _bound_fault(claims: PodClaims, labels: Mapping[str, str], csi_node: CSINode | None) -> Reason | None:
    for each in claims.bound:
        if each.volume is None:
            return NO_VOLUME
        if not reaches_node(each.volume, labels, csi_node):
            return NODE_CONFLICT
    return None


def reaches_node(volume: PersistentVolume, labels: Mapping[str, str], csi_node: CSINode | None) -> bool:
    """Whether a node reaches the volume, by its CSI driver if that took it over there; ValueError if it cannot have."""
    plugin = _taken_over(volume)
    if plugin is not None and csi_node is not None and plugin.name in csi_node.migrated_plugins:
        return _meets(migrated_requirement(volume, plugin), labels)
    return _meets(volume.node_requirement, labels)


def _delayed_fault(claims: PodClaims, name: str, labels: Mapping[str, str], found: Found) -> Reason | None:
    if any(each.selected_node != name for each in claims.selected):
        return BIND_CONFLICT
    to_provision = list(claims.selected)
    for each in claims.open:
        volume = _choose(each, labels, {chosen.name for _, chosen in found.bindings})
        if volume is None:
            to_provision.append(each)
        else:
            found.bindings.append((each.claim, volume))
    for each in to_provision:
        if not each.storage_class.can_provision or not each.storage_class.allows(labels):
            return BIND_CONFLICT
        capacities = each.capacities
        if capacities is not None and not any(_meets(one.node_requirement, labels) for one in capacities):
            return NO_SPACE
        found.provisions.append(each.claim)
    return None


def _choose(wanted: DelayedClaim, labels: Mapping[str, str], taken: set[str]) -> PersistentVolume | None:
    for volume in wanted.set_aside:
        if volume.name not in taken:
            return volume if _meets(volume.node_requirement, labels) else None
    for volume in wanted.open:
        if volume.name not in taken and _meets(volume.node_requirement, labels):
            return volume
    return None


def _meets(requirement: NodeRequirement | None, labels: Mapping[str, str]) -> bool:
    return requirement is None or requirement.matches("", labels)


def _taken_over(volume: PersistentVolume) -> InTreePlugin | None:
    """The old plugin of a volume that CSI drivers look after where nodes say so."""
    plugin = plugin_of(volume)
    return plugin if plugin is not None and plugin.name in SWITCHED else None


# -- all nodes --


def on_all(claims: PodClaims, nodes: NodeTable, csi_nodes: CSINodes) -> Verdicts:
    """Per node, what is wrong with it."""
    bound, failures = _bound_faults(claims, nodes, csi_nodes)
    codes = (3 * bound + _delayed_faults(claims, nodes)).astype(np.uint16)
    for number, (rows, _) in enumerate(failures):
        codes[rows] = len(STATUSES) + 1 + number
    return Verdicts(codes, (*STATUSES, *(status for _, status in failures)))


def _bound_faults(claims: PodClaims, nodes: NodeTable, csi_nodes: CSINodes) -> tuple[Faults, list[tuple[Mask, Status]]]:
    """Positions in ``_BOUND``, and rows on which a volume cannot be judged."""
    faults = np.zeros(len(nodes), np.uint8)
    failures: list[tuple[Mask, Status]] = []
    undecided = np.ones(len(nodes), np.bool_)
    for each in claims.bound:
        if each.volume is None:
            faults[undecided] = _BOUND.index(NO_VOLUME)
            break
        reached = reached_by(nodes, each.volume.node_requirement)
        plugin = _taken_over(each.volume)
        if plugin is not None:
            migrated = csi_nodes.migrated(nodes, plugin.name)
            try:
                reached = np.where(migrated, reached_by(nodes, migrated_requirement(each.volume, plugin)), reached)
            except ValueError as error:
                failures.append((undecided & migrated, failed(f"could not translate pv: {error}")))
                undecided = undecided & ~migrated
        faults[undecided & ~reached] = _BOUND.index(NODE_CONFLICT)
        undecided = undecided & reached
    return faults, failures


def _delayed_faults(claims: PodClaims, nodes: NodeTable) -> Faults:
    """Positions in ``_DELAYED``."""
    faults = np.zeros(len(nodes), np.uint8)
    for each in claims.selected:
        faults[~_is_named(nodes, each.selected_node or "")] = _DELAYED.index(BIND_CONFLICT)
    everywhere = np.ones(len(nodes), np.bool_)
    missing = [(each, everywhere) for each in claims.selected]
    missing += [(each, chosen < 0) for each, chosen in zip(claims.open, _choose_all(claims, nodes), strict=True)]
    for each, rows in missing:
        undecided = rows & (faults == 0)
        if not undecided.any():
            continue
        allowed = reached_by(nodes, each.storage_class.node_requirement)
        if not each.storage_class.can_provision:
            allowed = ~everywhere
        faults[undecided & ~allowed] = _DELAYED.index(BIND_CONFLICT)
        if each.capacities is not None:
            roomy = reaches_any(nodes, [one.node_requirement for one in each.capacities])
            faults[undecided & allowed & ~roomy] = _DELAYED.index(NO_SPACE)
    return faults


def _choose_all(claims: PodClaims, nodes: NodeTable) -> list[Positions]:
    """For each open claim the volume that each node would give it, as a number; -1 for none."""
    numbers: dict[str, int] = {}
    chosen: list[Positions] = []
    for each in claims.open:
        for volume in (*each.set_aside, *each.open):
            numbers.setdefault(volume.name, len(numbers))
        picked = first_reached(
            nodes,
            [volume.node_requirement for volume in each.open],
            [numbers[volume.name] for volume in each.open],
            chosen,
        )
        # A volume set aside for the claim goes before all others, even where it cannot be reached.
        for volume in reversed(each.set_aside):
            number = numbers[volume.name]
            is_free = np.ones(len(nodes), np.bool_)
            for taken in chosen:
                is_free &= taken != number
            reached = reached_by(nodes, volume.node_requirement)
            picked = np.where(is_free, np.where(reached, number, -1), picked)
        chosen.append(picked)
    return chosen


def _is_named(nodes: NodeTable, name: str) -> Mask:
    rows = np.zeros(len(nodes), np.bool_)
    row = nodes.row_of(name)
    if row is not None:
        rows[row] = True
    return rows
