"""
VolumeZone: a pod whose volume is in some zone or region runs there.

Volumes say where they are with the zone and region labels, several zones joined by ``__``.  A node that has none of
the four labels is taken to be everywhere.  Labels of the old names on a volume also match nodes that have only the
new ones.  Claims that wait for their first consumer have no volume yet and are left to VolumeBinding.

Extension points: PreFilter, Filter.
Requeue: a class that waits for the first consumer was added; a node was added or its labels changed; a claim of the
pod was added or changed; a volume was added or its zone labels changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayplan.framework import (
    SKIP,
    Change,
    Code,
    CycleState,
    Depends,
    FilterPlugin,
    Key,
    Mask,
    NodeTable,
    NodeView,
    On,
    PodTemplate,
    PreFilterPlugin,
    Promise,
    Reason,
    Status,
    Verdict,
    Verdicts,
    unresolvable,
)
from bayplan.framework.handle import handle_of
from bayplan.objects.csi_migration import MANY_ZONES
from bayplan.objects.node import REGION_LABELS, ZONE_LABELS
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import HasSpec
from bayplan.objects.volume import PersistentVolume, PersistentVolumeClaim, StorageClass

OTHER_ZONE = Reason(Code.UNRESOLVABLE, "node(s) had no available volume zone")

NEW_NAME = {ZONE_LABELS[0]: ZONE_LABELS[1], REGION_LABELS[0]: REGION_LABELS[1]}
TOPOLOGY_LABELS = (ZONE_LABELS[0], REGION_LABELS[0], ZONE_LABELS[1], REGION_LABELS[1])


class Place(NamedTuple):
    """Where a volume is: under this label, any of these values."""

    key: str
    values: frozenset[str]


STATE: Key[tuple[Place, ...]] = Key("VolumeZone.places")


class VolumeZone(PreFilterPlugin, FilterPlugin):
    """A pod whose volume is in some zone or region runs there."""

    name = "VolumeZone"
    reasons = (OTHER_ZONE,)
    reads = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass")

    def requeue_on(self) -> tuple[On, ...]:
        return (
            On("StorageClass", Change.ADDED, _waits_for_consumer),
            On("Node", Change.ADDED | Change.LABEL),
            On("PersistentVolumeClaim", Change.ADDED | Change.UPDATED, _is_own_claim),
            On("PersistentVolume", Change.ADDED | Change.UPDATED, _is_elsewhere),
        )

    def promise(self, template: PodTemplate) -> Promise | None:
        """Where its claims are depends on the claims; without any it skips the pod."""
        return None if _claims(template) else Promise(key=(), filter=Depends.OBJECT)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        if not pod.spec.volumes:
            return SKIP
        found = self._places(pod)
        if isinstance(found, Status):
            return found
        if not found:
            return SKIP
        state[STATE] = found
        return None

    # -- one node --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        labels = node.labels
        if not any(key in labels for key in TOPOLOGY_LABELS):
            return None
        places = self._places_in(state, pod)
        if isinstance(places, Status):
            return places
        for key, values in places:
            if labels.get(key, labels.get(NEW_NAME.get(key, key))) not in values:
                return OTHER_ZONE
        return None

    # -- all nodes --

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdicts:
        somewhere = np.zeros(len(nodes), np.bool_)
        for key in TOPOLOGY_LABELS:
            somewhere |= nodes.label(key).ids >= 0
        places = self._places_in(state, pod)
        if isinstance(places, Status):
            return Verdicts(somewhere.astype(np.uint8), (places,))
        elsewhere = np.zeros(len(nodes), np.bool_)
        for place in places:
            elsewhere |= ~_is_there(nodes, place)
        return Verdicts((somewhere & elsewhere).astype(np.uint8), (OTHER_ZONE,))

    # -- where the volumes are --

    def _places_in(self, state: CycleState, pod: Pod) -> tuple[Place, ...] | Status:
        """What PreFilter found; worked out anew where a profile leaves it out."""
        known = state.get(STATE)
        return self._places(pod) if known is None else known

    def _places(self, pod: Pod) -> tuple[Place, ...] | Status:
        """The places of all volumes, or why that cannot be told yet."""
        found: list[Place] = []
        objects = handle_of(self).objects
        for name in _claims(pod):
            if not name:
                return unresolvable("PersistentVolumeClaim had no name")
            claim: PersistentVolumeClaim | None = objects.get("PersistentVolumeClaim", pod.namespace, name)
            if claim is None:
                return unresolvable(f'persistentvolumeclaim "{name}" not found')
            if not claim.spec.volume_name:
                status = self._without_volume(claim)
                if status is not None:
                    return status
                continue
            volume: PersistentVolume | None = objects.get("PersistentVolume", "", claim.spec.volume_name)
            if volume is None:
                return unresolvable(f'persistentvolume "{claim.spec.volume_name}" not found')
            found.extend(places_of(volume))
        return tuple(found)

    def _without_volume(self, claim: PersistentVolumeClaim) -> Status | None:
        """A claim without a volume is fine as long as its class waits for the pod to be placed."""
        name = claim.storage_class
        if not name:
            return unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
        storage_class: StorageClass | None = handle_of(self).objects.get("StorageClass", "", name)
        if storage_class is None:
            return unresolvable(f'storageclass.storage.k8s.io "{name}" not found')
        if storage_class.volume_binding_mode is None:
            return unresolvable(f'VolumeBindingMode not set for StorageClass "{name}"')
        return None if storage_class.waits_for_consumer else unresolvable("PersistentVolume had no name")


def places_of(volume: PersistentVolume) -> list[Place]:
    """What a volume's labels say; a label with an empty zone in it says nothing."""
    found = []
    for key in TOPOLOGY_LABELS:
        written = volume.labels.get(key)
        if written is not None:
            values = frozenset(map(str.strip, written.split(MANY_ZONES)))
            if "" not in values:
                found.append(Place(key, values))
    return found


def _is_there(nodes: NodeTable, place: Place) -> Mask:
    matches = _has_any(nodes, place.key, place.values)
    new = NEW_NAME.get(place.key)
    if new is not None:
        matches = matches | ((nodes.label(place.key).ids < 0) & _has_any(nodes, new, place.values))
    return matches


def _has_any(nodes: NodeTable, key: str, values: frozenset[str]) -> Mask:
    column = nodes.label(key)
    return np.isin(column.ids, [column.id_of[value] for value in values if value in column.id_of])


def _claims(pod: HasSpec) -> list[str]:
    """The claims it names; those made for it alone are not looked at."""
    claims = (each.persistent_volume_claim for each in pod.volumes)
    return [each.claim_name for each in claims if each is not None]


# -- requeueing --


def _waits_for_consumer(pod: Pod, old: None, new: StorageClass) -> bool:
    return new.waits_for_consumer


def _is_own_claim(pod: Pod, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> bool:
    return new.namespace == pod.namespace and new.name in _claims(pod)


def _is_elsewhere(pod: Pod, old: PersistentVolume | None, new: PersistentVolume) -> bool:
    return old is None or places_of(old) != places_of(new)
