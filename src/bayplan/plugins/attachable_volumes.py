"""
Which volumes of which CSI drivers a pod has attached, or would have.

``node_volume_limits`` counts them.  A volume is known by its driver and the driver's handle for it, so that one
that several pods use is one volume; a claim that has no volume yet gets a handle that no volume has.
"""

from __future__ import annotations

from typing import TypeAlias

from bayplan.framework import Status, failed, unresolvable
from bayplan.framework.handle import ObjectStore
from bayplan.objects import csi_migration
from bayplan.objects.csi_migration import BY_NAME, SWITCHED
from bayplan.objects.pod import Pod
from bayplan.objects.pod_volume import Volume
from bayplan.objects.volume import PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment

Attached: TypeAlias = "dict[tuple[str, str], str]"
"""(driver, handle) of each volume, and its driver."""

_TO_BE_MADE = "\0to be made"


class AttachableVolumes:
    """Looks volumes up.  ``migrates``: on nodes with a CSINode the disks of old plugins belong to CSI drivers."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def of_new(self, pod: Pod, migrates: bool) -> Attached | Status:
        """The volumes of a pod to be placed, or why they cannot be told."""
        found: Attached = {}
        for volume in pod.volumes:
            known = self._of(pod, volume, migrates)
            if isinstance(known, Status):
                return known
            if known is not None:
                found[known] = known[0]
        return found

    def of_existing(self, pod: Pod) -> Attached:
        """
        The volumes of a pod on a node that has a CSINode.

        What cannot be told counts for nothing.  kube-scheduler fails here if a claim is not the pod's own, and so
        would let one broken pod stop all others with volumes.
        """
        known = (self._of(pod, volume, migrates=True) for volume in pod.volumes)
        return {each: each[0] for each in known if each is not None and not isinstance(each, Status)}

    def of_attachment(self, attachment: VolumeAttachment) -> Attached:
        """The volume that is attached, if it is one of a CSI driver."""
        driver, name = attachment.spec.attacher, attachment.spec.source.persistent_volume_name
        volume = self._volume(name) if driver and name is not None else None
        if volume is None or volume.spec.csi is None:
            return {}
        return {(driver, volume.spec.csi.volume_handle): driver}

    def _of(self, pod: Pod, volume: Volume, migrates: bool) -> tuple[str, str] | Status | None:
        if not volume.has_claim:
            return _inline(volume) if migrates else None
        name = volume.claim_name(pod.name)
        if not name:
            return failed("PersistentVolumeClaim had no name")
        claim: PersistentVolumeClaim | None = self._objects.get("PersistentVolumeClaim", pod.namespace, name)
        if claim is None:
            return unresolvable(f'looking up PVC {pod.namespace}/{name}: persistentvolumeclaim "{name}" not found')
        if volume.persistent_volume_claim is None and not claim.belongs_to(pod.uid):
            return failed(not_created_for(claim, pod))
        bound = self._volume(claim.spec.volume_name) if claim.spec.volume_name else None
        return self._to_be_made(claim, migrates) if bound is None else _bound(bound, migrates)

    def _to_be_made(self, claim: PersistentVolumeClaim, migrates: bool) -> tuple[str, str] | None:
        """Counted for the driver of the claim's class."""
        name = claim.storage_class
        storage_class: StorageClass | None = self._objects.get("StorageClass", "", name) if name else None
        if storage_class is None:
            return None
        driver = storage_class.provisioner
        if driver in BY_NAME:
            if not migrates or driver not in SWITCHED:
                return None
            driver = BY_NAME[driver].driver
        return (driver, f"{_TO_BE_MADE} {claim.key}") if driver else None

    def _volume(self, name: str) -> PersistentVolume | None:
        found: PersistentVolume | None = self._objects.get("PersistentVolume", "", name)
        return found


def _bound(volume: PersistentVolume, migrates: bool) -> tuple[str, str] | None:
    source = volume.spec.csi
    if source is not None:
        return (source.driver, source.volume_handle) if source.driver and source.volume_handle else None
    plugin = csi_migration.plugin_of(volume)
    if plugin is None or not migrates or plugin.name not in SWITCHED:
        return None
    try:
        return plugin.driver, csi_migration.volume_handle(volume)
    except ValueError:
        return None  # the driver would not know it either


def _inline(volume: Volume) -> tuple[str, str] | Status | None:
    plugin = csi_migration.plugin_of(volume)
    if plugin is None or plugin.name not in SWITCHED:
        return None
    try:
        return plugin.driver, csi_migration.inline_handle(volume)
    except ValueError as error:
        return failed(f"converting volume({volume.name}) from inline to csi: {error}")


def not_created_for(claim: PersistentVolumeClaim, pod: Pod) -> str:
    """A claim has the name of one of the pod's own, and belongs to another pod."""
    return f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"
