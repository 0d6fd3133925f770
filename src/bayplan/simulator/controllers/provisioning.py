"""
The volumes that provisioners would make, and what that takes from the storage they report.  ``volumes`` calls it.

A volume can be reached from where its driver says that volumes can be reached: nodes that are alike in the labels that
the node's CSINode lists for the driver.  Without a CSINode it is taken to be reachable from everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from bayplan.objects.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from bayplan.objects.csi_migration import BY_NAME
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.node import Node
from bayplan.objects.quantity import format_binary, value
from bayplan.objects.requirement import IN
from bayplan.objects.volume import (
    STORAGE,
    CSINode,
    CSIPersistentVolume,
    CSIStorageCapacity,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    VolumeNodeAffinity,
)


def provisioned(
    claim: PersistentVolumeClaim, storage_class: StorageClass, node: Node | None, csi_node: CSINode | None
) -> PersistentVolume:
    """The volume that is made for a claim."""
    name = f"pvc-{claim.uid}"
    old = BY_NAME.get(storage_class.provisioner)
    driver = old.driver if old else storage_class.provisioner
    spec = PersistentVolumeSpec(
        capacity={STORAGE: (claim.spec.resources.requests or {}).get(STORAGE, 0)},
        access_modes=claim.spec.access_modes,
        storage_class_name=storage_class.name,
        volume_mode=claim.volume_mode,
        volume_attributes_class_name=claim.spec.volume_attributes_class_name,
        node_affinity=_affinity(driver, node, csi_node),
        csi=CSIPersistentVolume(driver=driver, volume_handle=name),
    )
    return PersistentVolume(
        metadata=ObjectMeta(name=name, uid=f"{claim.uid}-volume"),
        spec=set_aside(spec, claim),
        status=PersistentVolumeStatus(phase="Bound"),
    )


def set_aside(spec: PersistentVolumeSpec, claim: PersistentVolumeClaim) -> PersistentVolumeSpec:
    """The spec of a volume that belongs to the claim."""
    known = spec.claim_ref
    if known is not None and known.uid == claim.uid:
        return spec
    reference = ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace=claim.namespace,
        name=claim.name,
        uid=claim.uid,
    )
    return replace(spec, claim_ref=reference)


def _affinity(driver: str, node: Node | None, csi_node: CSINode | None) -> VolumeNodeAffinity | None:
    drivers = (csi_node.spec.drivers or ()) if csi_node is not None else ()
    keys = [key for each in drivers if each.name == driver for key in each.topology_keys or ()]
    labels = node.labels if node is not None else {}
    conditions = tuple(
        NodeSelectorRequirement(key=key, operator=IN, values=(labels[key],)) for key in keys if key in labels
    )
    if not conditions:
        return None
    term = NodeSelectorTerm(match_expressions=conditions)
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=(term,)))


def reduced(
    rooms: Iterable[CSIStorageCapacity], claim: PersistentVolumeClaim, node: Node
) -> tuple[CSIStorageCapacity, CSIStorageCapacity] | None:
    """The storage a volume is taken from, before and after; None if there is not enough of it at the node."""
    size = claim.request_bytes
    for room in rooms:
        requirement = room.node_requirement
        if room.storage_class_name != claim.storage_class or room.capacity is None:
            continue
        if (requirement is None or requirement.matches("", node.labels)) and (room.largest_bytes or 0) >= size:
            return room, room.evolve(capacity=format_binary(max(0, value(room.capacity) - size)))
    return None
