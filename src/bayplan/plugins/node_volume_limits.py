"""
NodeVolumeLimits: a node attaches only so many volumes of a CSI driver.

The limit is what the node's CSINode says.  Against it count the volumes of the pods on the node, those that are
attached though no pod uses them, and the new ones of the pod; a volume that two pods use counts once.  Claims without
a volume count for the driver of their class, and disks of the old in-tree plugins for the CSI driver that took them
over.  A node without a CSINode, or a driver without a number, has no limit.

Extension points: PreFilter, Filter.
Requeue: a CSINode was added or a limit grew; a pod with volumes that had a node was deleted; a claim of the pod was
added; an attachment was deleted.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import numpy as np

from bayplan.framework import (
    SKIP,
    SUCCESS,
    Change,
    Code,
    CycleState,
    Depends,
    FilterPlugin,
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
)
from bayplan.framework.handle import handle_of
from bayplan.objects.csi_migration import plugin_of
from bayplan.objects.pod import Pod
from bayplan.objects.volume import CSINode, PersistentVolumeClaim, VolumeAttachment
from bayplan.plugins.attachable_volumes import AttachableVolumes, Attached
from bayplan.plugins.csi_nodes import Attachments, CSINodes

TOO_MANY = Reason(Code.UNSCHEDULABLE, "node(s) exceed max volume count")


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin):
    """A node attaches only so many volumes of a CSI driver."""

    name = "NodeVolumeLimits"
    reasons = (TOO_MANY,)
    reads = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "CSINode", "VolumeAttachment")

    def requeue_on(self) -> tuple[On, ...]:
        return (
            On("CSINode", Change.ADDED),
            On("CSINode", Change.UPDATED, _limit_grew),
            On("Pod", Change.DELETED, _freed_volumes),
            On("PersistentVolumeClaim", Change.ADDED, _is_own_claim),
            On("VolumeAttachment", Change.DELETED, _could_be_ours),
        )

    def promise(self, template: PodTemplate) -> Promise | None:
        """What is attached where changes with volume attachments; without volumes to attach it skips the pod."""
        return None if template.attachable_count else Promise(key=(), filter=Depends.OBJECT)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        return None if pod.attachable_count else SKIP

    # -- one node --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        csi_node = self._csi_nodes.get(node.name)
        new = self._volumes.of_new(pod, csi_node is not None)
        if isinstance(new, Status):
            return new
        wanted = _wanted(new, csi_node)
        # Most nodes are far from any limit: then it is enough that all volumes together stay below it.
        most = node.attachable_count + len(self._attachments.on(node.name))
        if csi_node is None or all(most + count <= csi_node.limits[driver] for driver, count in wanted.items()):
            return None
        return TOO_MANY if self._exceeds(new, csi_node, node) else None

    # -- all nodes --

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdicts:
        known = self._csi_nodes.known(nodes)
        elsewhere, new = self._volumes.of_new(pod, False), self._volumes.of_new(pod, True)
        codes = np.zeros(len(nodes), np.uint8)
        if isinstance(elsewhere, Status):
            codes[~known] = 1
        if isinstance(new, Status):
            codes[known] = 2
        else:
            codes[self._full(new, nodes)] = 3
        unread = (each if isinstance(each, Status) else SUCCESS for each in (elsewhere, new))
        return Verdicts(codes, (*unread, TOO_MANY))

    def _full(self, new: Attached, nodes: NodeTable) -> list[int]:
        """The rows with a limit that would be exceeded.  Volumes are counted one by one only near a limit."""
        most = nodes.attachable_count + self._attachments.counts(nodes)
        near = np.zeros(len(nodes), np.bool_)
        for driver, count in Counter(new.values()).items():
            near |= most > self._csi_nodes.limits(nodes, driver) - count
        full = []
        for row in np.flatnonzero(near).tolist():
            node = nodes.node(row)
            csi_node = self._csi_nodes.get(node.name)
            if csi_node is not None and self._exceeds(new, csi_node, node):
                full.append(row)
        return full

    # -- counting --

    @cached_property
    def _volumes(self) -> AttachableVolumes:
        return AttachableVolumes(handle_of(self).objects)

    @cached_property
    def _csi_nodes(self) -> CSINodes:
        return CSINodes(handle_of(self).objects)

    @cached_property
    def _attachments(self) -> Attachments:
        return Attachments(handle_of(self).objects)

    def _exceeds(self, new: Attached, csi_node: CSINode, node: NodeView) -> bool:
        """Would the pod's volumes go beyond a limit of this node?"""
        attached: Attached = {}
        for other in node.pods:
            if other.attachable_count:
                attached.update(self._volumes.of_existing(other))
        in_pods = set(attached)
        for attachment in self._attachments.on(node.name):
            attached.update(self._volumes.of_attachment(attachment))
        there = Counter(attached.values())
        coming = Counter(driver for volume, driver in new.items() if volume not in in_pods)
        limits = csi_node.limits
        return any(driver in limits and there[driver] + count > limits[driver] for driver, count in coming.items())


def _wanted(new: Attached, csi_node: CSINode | None) -> dict[str, int]:
    """How many volumes of each driver that has a limit here."""
    limits = csi_node.limits if csi_node is not None else {}
    return {driver: count for driver, count in Counter(new.values()).items() if driver in limits}


# -- requeueing --


def _limit_grew(pod: Pod, old: CSINode, new: CSINode) -> bool:
    """A driver that does not say a number counts as 0 here, as in kube-scheduler."""
    before = old.limits
    return any(limit > before.get(driver, 0) for driver, limit in new.limits.items())


def _freed_volumes(pod: Pod, old: Pod, new: None) -> bool:
    return bool(old.attachable_count and (old.node_name or old.nominated_node_name))


def _is_own_claim(pod: Pod, old: None, new: PersistentVolumeClaim) -> bool:
    return new.namespace == pod.namespace and new.name in pod.claim_names


def _could_be_ours(pod: Pod, old: VolumeAttachment, new: None) -> bool:
    for volume in pod.volumes:
        if volume.persistent_volume_claim is not None:
            return True
        plugin = plugin_of(volume)
        if plugin is not None and plugin.driver == old.spec.attacher:
            return True
    return False
