"""What can make a pod fit that VolumeBinding turned down.  ``plugin.requeue_on`` lists these."""

from __future__ import annotations

from bayplan.framework import Change, On
from bayplan.objects.pod import Pod
from bayplan.objects.volume import (
    MIGRATED_PLUGINS,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolumeClaim,
    StorageClass,
)

ADDED_OR_UPDATED = Change.ADDED | Change.UPDATED


def rules() -> tuple[On, ...]:
    return (
        On("StorageClass", ADDED_OR_UPDATED, _class_allows_other_places),
        On("PersistentVolumeClaim", ADDED_OR_UPDATED, _is_own_claim),
        On("PersistentVolume", ADDED_OR_UPDATED),
        On("Node", Change.ADDED | Change.LABEL),
        On("CSINode", ADDED_OR_UPDATED, _migrates_other_plugins),
        On("CSIDriver", Change.UPDATED, _stopped_tracking_capacity),
        On("CSIStorageCapacity", ADDED_OR_UPDATED, _has_more_room),
    )


def _class_allows_other_places(pod: Pod, old: StorageClass | None, new: StorageClass) -> bool:
    return old is None or (old.allowed_topologies or ()) != (new.allowed_topologies or ())


def _is_own_claim(pod: Pod, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> bool:
    return new.namespace == pod.namespace and new.name in pod.claim_names


def _migrates_other_plugins(pod: Pod, old: CSINode | None, new: CSINode) -> bool:
    return old is None or old.annotations.get(MIGRATED_PLUGINS, "") != new.annotations.get(MIGRATED_PLUGINS, "")


def _stopped_tracking_capacity(pod: Pod, old: CSIDriver, new: CSIDriver) -> bool:
    """Looked at for inline CSI volumes only, as in kube-scheduler."""
    uses_it = any(each.csi is not None and each.csi.driver == new.name for each in pod.volumes)
    return uses_it and bool(old.spec.storage_capacity) and not new.spec.storage_capacity


def _has_more_room(pod: Pod, old: CSIStorageCapacity | None, new: CSIStorageCapacity) -> bool:
    if old is None:
        return True
    return new.largest_bytes is not None and (old.largest_bytes is None or new.largest_bytes > old.largest_bytes)
