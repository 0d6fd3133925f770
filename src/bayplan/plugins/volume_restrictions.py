"""
VolumeRestrictions: some storage can be used by one pod at a time, on a node or in the whole cluster.

Disks that pods mount directly (GCE, EBS, iSCSI, RBD) cannot be mounted twice on one node unless all mounts are
read-only; EBS volumes not even then.  A claim with the access mode ReadWriteOncePod belongs to one pod in the
cluster: while another pod uses it no node is good, though evicting that pod would help.

Extension points: PreFilter, Filter.
Requeue: a pod of the namespace that held the disk or the claim was deleted; a node was added; the claim was added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayplan.framework import (
    SKIP,
    Change,
    Code,
    Codes,
    CycleState,
    Depends,
    FilterPlugin,
    Key,
    NodeTable,
    NodeView,
    On,
    PodTemplate,
    PreFilterExtensions,
    Promise,
    Reason,
    Verdict,
    unresolvable,
)
from bayplan.framework.handle import handle_of
from bayplan.objects.pod import Pod
from bayplan.objects.pod_volume import Volume
from bayplan.objects.volume import READ_WRITE_ONCE_POD, PersistentVolumeClaim

DISK_CONFLICT = Reason(Code.UNSCHEDULABLE, "node(s) had no available disk")
CLAIM_IN_USE = Reason(
    Code.UNSCHEDULABLE,
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
)


@dataclass(slots=True)
class ExclusiveClaims:
    """The pod's ReadWriteOncePod claims, and how many uses of them by other pods stand in its way."""

    names: frozenset[str]
    uses: int

    def clone(self) -> ExclusiveClaims:
        return ExclusiveClaims(self.names, self.uses)

    def uses_by(self, other: Pod) -> int:
        # kube-scheduler does not look at the namespace here, so neither do we.
        claims = (each.persistent_volume_claim for each in other.volumes)
        return sum(1 for each in claims if each is not None and each.claim_name in self.names)


STATE: Key[ExclusiveClaims] = Key("VolumeRestrictions.claims")


class VolumeRestrictions(PreFilterExtensions, FilterPlugin):
    """Some storage can be used by one pod at a time, on a node or in the whole cluster."""

    name = "VolumeRestrictions"
    reasons = (DISK_CONFLICT, CLAIM_IN_USE)
    reads = ("PersistentVolumeClaim",)

    def requeue_on(self) -> tuple[On, ...]:
        return (
            On("Pod", Change.DELETED, _freed_storage),
            On("Node", Change.ADDED),
            On("PersistentVolumeClaim", Change.ADDED, _is_own_claim),
        )

    def promise(self, template: PodTemplate) -> Promise | None:
        """Which of its claims and disks are in use depends on all nodes; without any it skips the pod."""
        return None if template.storage_keys else Promise(key=(), filter=Depends.OBJECT)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        if not pod.storage_keys:
            return SKIP
        names = self._exclusive_claims(pod)
        if isinstance(names, str):
            return unresolvable(f'persistentvolumeclaim "{names}" not found')
        in_use = sum(1 for name in names if any(nodes.storage_users(("claim", pod.namespace, name))))
        if not in_use and not any(each.disk_key for each in pod.volumes):
            return SKIP
        state[STATE] = ExclusiveClaims(names, in_use)
        return None

    def add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        state[STATE].uses += state[STATE].uses_by(other)

    def remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        state[STATE].uses -= state[STATE].uses_by(other)

    # -- one node --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        if any(_conflicts(pod, other) for other in node.pods):
            return DISK_CONFLICT
        return CLAIM_IN_USE if state[STATE].uses > 0 else None

    # -- all nodes --

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        codes = np.zeros(len(nodes), np.uint8)
        if state[STATE].uses > 0:
            codes[:] = self.code(CLAIM_IN_USE)
        for volume in pod.volumes:
            if volume.disk_key is not None:
                for row, other in nodes.storage_users(volume.disk_key):
                    if any(_conflict(volume, theirs) for theirs in other.volumes):
                        codes[row] = self.code(DISK_CONFLICT)
        return codes

    # -- what is read of the pod --

    def _exclusive_claims(self, pod: Pod) -> frozenset[str] | str:
        """The names of its ReadWriteOncePod claims, or of the first claim that is not there."""
        objects, names = handle_of(self).objects, []
        for volume in pod.volumes:
            if volume.persistent_volume_claim is not None:
                name = volume.persistent_volume_claim.claim_name
                claim: PersistentVolumeClaim | None = objects.get("PersistentVolumeClaim", pod.namespace, name)
                if claim is None:
                    return name
                if READ_WRITE_ONCE_POD in (claim.spec.access_modes or ()):
                    names.append(name)
        return frozenset(names)


def _conflicts(pod: Pod, other: Pod) -> bool:
    return any(_conflict(mine, theirs) for mine in pod.volumes for theirs in other.volumes)


def _conflict(mine: Volume, theirs: Volume) -> bool:
    """May the two not be mounted on one node?"""
    if mine.disk_key is None or mine.disk_key != theirs.disk_key:
        return False
    if mine.aws_elastic_block_store is not None:
        return True
    return _shares_monitors(mine, theirs) and not (_is_read_only(mine) and _is_read_only(theirs))


def _shares_monitors(mine: Volume, theirs: Volume) -> bool:
    """RBD images of one name are the same image only where one monitor looks after both."""
    if mine.rbd is None or theirs.rbd is None:
        return True
    return not set(mine.rbd.monitors or ()).isdisjoint(theirs.rbd.monitors or ())


def _is_read_only(volume: Volume) -> bool:
    disk = volume.gce_persistent_disk or volume.iscsi or volume.rbd
    return disk is not None and disk.read_only


# -- requeueing --


def _freed_storage(pod: Pod, old: Pod, new: None) -> bool:
    if old.namespace != pod.namespace:
        return False
    mine, theirs = set(pod.storage_keys), set(old.storage_keys)
    return _conflicts(pod, old) or any(key[0] == "claim" for key in mine & theirs)


def _is_own_claim(pod: Pod, old: None, new: PersistentVolumeClaim) -> bool:
    return ("claim", new.namespace, new.name) in pod.storage_keys
