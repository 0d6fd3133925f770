"""
What a pod's claims need, worked out once before nodes are looked at.

``plugin.pre_filter`` makes ``PodClaims``; ``filtering`` asks it about nodes.  A claim is *bound*, or *delayed*: its
class waits until the pod is placed, and any volume or provisioner that can serve it then will do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bayplan.framework import Status, failed, unresolvable
from bayplan.framework.handle import ObjectStore
from bayplan.objects.pod import Pod
from bayplan.objects.pod_volume import Volume
from bayplan.objects.volume import (
    AVAILABLE,
    LOST,
    SELECTED_NODE,
    CSIDriver,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from bayplan.plugins.attachable_volumes import not_created_for
from bayplan.plugins.object_index import Index
from bayplan.plugins.volume_binding.assumed import Assumed

UNBOUND_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"


@dataclass(frozen=True, slots=True)
class BoundClaim:
    """A claim that has its volume, or whose volume is gone."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume | None


@dataclass(frozen=True, slots=True)
class DelayedClaim:
    """A claim whose volume is chosen, or made, together with the node."""

    claim: PersistentVolumeClaim
    storage_class: StorageClass
    set_aside: tuple[PersistentVolume, ...] = ()
    """Volumes that name this claim: where one can be reached it is taken, and nowhere any other."""
    open: tuple[PersistentVolume, ...] = ()
    """Volumes that would serve it, the best first."""
    capacities: tuple[CSIStorageCapacity, ...] | None = None
    """Where the driver has room for it; ``None`` if the driver does not say, so that it has room everywhere."""

    @property
    def selected_node(self) -> str | None:
        """The node its provisioner was told to make the volume for, if that was said already."""
        return self.claim.annotations.get(SELECTED_NODE)


@dataclass(frozen=True, slots=True)
class PodClaims:
    """The claims of a pod."""

    bound: tuple[BoundClaim, ...]
    selected: tuple[DelayedClaim, ...]
    """Those with a selected node."""
    open: tuple[DelayedClaim, ...]
    """The other delayed ones, the smallest first, so that it takes the smallest volume."""


class ClaimReader:
    """Looks up what claims need."""

    def __init__(self, objects: ObjectStore, assumed: Assumed) -> None:
        self._objects = objects
        self._assumed = assumed
        self._capacities: Index[CSIStorageCapacity] = Index(
            objects, "CSIStorageCapacity", lambda capacity: capacity.storage_class_name
        )

    def read(self, pod: Pod) -> PodClaims | Status:
        """The pod's claims, or why no node would do."""
        claims = []
        for volume in pod.volumes:
            if volume.has_claim:
                claim = self._claim(pod, volume)
                if isinstance(claim, str):
                    return unresolvable(claim)
                claims.append(claim)
        delayed, bound, is_immediate = [], [], False
        for claim in claims:
            if claim.is_bound:
                bound.append(BoundClaim(claim, self._assumed.volume(claim.spec.volume_name)))
                continue
            storage_class = self._class_of(claim)
            if storage_class is not None and storage_class.volume_binding_mode is None:
                return failed(f'VolumeBindingMode not set for StorageClass "{storage_class.name}"')
            if storage_class is None or not storage_class.waits_for_consumer or claim.spec.volume_name:
                is_immediate = True
            else:
                delayed.append((claim, storage_class))
        if is_immediate:
            return unresolvable(UNBOUND_IMMEDIATE)
        return self._sorted(bound, [self._delayed(claim, storage_class) for claim, storage_class in delayed])

    def _claim(self, pod: Pod, volume: Volume) -> PersistentVolumeClaim | str:
        """The claim behind a volume, or what is wrong with it."""
        name, is_own = volume.claim_name(pod.name), volume.ephemeral is not None
        claim = self._assumed.claim(pod.namespace, name)
        if claim is None:
            if is_own:
                return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
            return f'persistentvolumeclaim "{name}" not found'
        if claim.status.phase == LOST:
            gone = claim.spec.volume_name
            return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{gone}"'
        if claim.is_terminating:
            return f'persistentvolumeclaim "{name}" is being deleted'
        if is_own and not claim.belongs_to(pod.uid):
            return not_created_for(claim, pod)
        return claim

    def _class_of(self, claim: PersistentVolumeClaim) -> StorageClass | None:
        found: StorageClass | None = self._objects.get("StorageClass", "", claim.storage_class)
        return found

    def _delayed(self, claim: PersistentVolumeClaim, storage_class: StorageClass) -> DelayedClaim:
        capacities = self._room_for(claim, storage_class) if storage_class.can_provision else None
        if SELECTED_NODE in claim.annotations:
            return DelayedClaim(claim, storage_class, capacities=capacities)
        named = (each for each in self._assumed.volumes_for(claim) if each.storage_class == claim.storage_class)
        set_aside = tuple(each for each in named if could_serve(each, claim))
        free = self._assumed.free_volumes(claim.storage_class, claim.request_bytes)
        open_ones = tuple(each for each in free if could_serve(each, claim) and is_on_offer(each, claim))
        return DelayedClaim(claim, storage_class, set_aside, open_ones, capacities)

    def _room_for(
        self, claim: PersistentVolumeClaim, storage_class: StorageClass
    ) -> tuple[CSIStorageCapacity, ...] | None:
        driver: CSIDriver | None = self._objects.get("CSIDriver", "", storage_class.provisioner)
        if not claim.has_request or driver is None or not driver.spec.storage_capacity:
            return None
        size = claim.request_bytes
        return tuple(
            each
            for each in self._capacities.at(storage_class.name)
            if each.largest_bytes is not None and each.largest_bytes >= size
        )

    @staticmethod
    def _sorted(bound: list[BoundClaim], delayed: Iterable[DelayedClaim]) -> PodClaims:
        all_delayed = list(delayed)
        selected = tuple(each for each in all_delayed if each.selected_node is not None)
        others = (each for each in all_delayed if each.selected_node is None)
        return PodClaims(tuple(bound), selected, tuple(sorted(others, key=lambda each: each.claim.request_bytes)))


def could_serve(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """What must hold of every volume, also of one that was set aside for the claim."""
    spec = claim.spec
    return (
        volume.capacity_bytes >= claim.request_bytes
        and volume.volume_mode == claim.volume_mode
        and (spec.volume_attributes_class_name or "") == (volume.spec.volume_attributes_class_name or "")
        and not volume.is_terminating
    )


def is_on_offer(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """What must hold of a volume that any claim may take."""
    return (
        volume.status.phase == AVAILABLE
        and claim.selector.matches(volume.labels)
        and set(claim.spec.access_modes or ()) <= set(volume.spec.access_modes or ())
    )
