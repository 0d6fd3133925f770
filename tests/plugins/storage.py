"""Storage objects in one line each, for the tests of the volume plugins."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from bayplan.objects.meta import ApiObject
from bayplan.objects.volume import (
    BIND_COMPLETED,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)

T = TypeVar("T", bound=ApiObject)
DRIVER = "csi.example.com"
EPHEMERAL = {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}


def make_object(kind: type[T], name: str, **fields: Any) -> T:
    """``labels``, ``annotations``, ``namespace``, ``owners``, ``deleted`` and ``version`` go into the metadata."""
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": fields.pop("namespace", ""),
        "uid": fields.pop("uid", f"{kind.__name__}-{name}"),
        "resourceVersion": fields.pop("version", "1"),
        "labels": fields.pop("labels", {}),
        "annotations": fields.pop("annotations", None),
        "ownerReferences": fields.pop("owners", []),
    }
    if fields.pop("deleted", False):
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return msgspec.convert({"metadata": metadata, **fields}, kind)


def storage_class(name: str, provisioner: str = DRIVER, *, waits: bool | None = True, **fields: Any) -> StorageClass:
    modes = {True: "WaitForFirstConsumer", False: "Immediate", None: None}
    return make_object(StorageClass, name, provisioner=provisioner, volumeBindingMode=modes[waits], **fields)


def claim(
    name: str, *, volume: str = "", of: str | None = "wait", size: str | None = "1Gi", **fields: Any
) -> PersistentVolumeClaim:
    """With a ``volume`` it is bound, unless ``annotations`` say less; ``spec`` and ``phase`` add to what is said."""
    annotations = fields.pop("annotations", {BIND_COMPLETED: "yes"} if volume else {})
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": of,
        "volumeName": volume,
        "resources": {"requests": {"storage": size} if size else {}},
    } | fields.pop("spec", {})
    status = {"phase": fields.pop("phase", "Bound" if volume else "Pending")}
    given = {"namespace": "default"} | fields
    return make_object(PersistentVolumeClaim, name, annotations=annotations, spec=spec, status=status, **given)


def volume(
    name: str, *, of: str = "wait", size: str = "1Gi", at: dict[str, str] | None = None, **fields: Any
) -> PersistentVolume:
    """``at`` are labels of the nodes that reach it (one value each); ``spec`` and ``phase`` add to what is said."""
    spec: dict[str, Any] = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": of,
    } | fields.pop("spec", {})
    if at is not None:
        conditions = [{"key": key, "operator": "In", "values": [value]} for key, value in at.items()]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": conditions}]}}
    status = {"phase": fields.pop("phase", "Available")}
    return make_object(PersistentVolume, name, spec=spec, status=status, **fields)


def csi_volume(name: str, handle: str, driver: str = DRIVER, **fields: Any) -> PersistentVolume:
    return volume(name, spec={"csi": {"driver": driver, "volumeHandle": handle}}, **fields)


def csi_node(name: str, limits: dict[str, int | None], **fields: Any) -> CSINode:
    drivers = [
        {"name": driver, "nodeID": name} | ({} if count is None else {"allocatable": {"count": count}})
        for driver, count in limits.items()
    ]
    return make_object(CSINode, name, spec={"drivers": drivers}, **fields)


def attachment(name: str, node: str, of: str | None, driver: str = DRIVER) -> VolumeAttachment:
    spec = {"attacher": driver, "nodeName": node, "source": {"persistentVolumeName": of}}
    return make_object(VolumeAttachment, name, spec=spec)


def csi_driver(name: str = DRIVER, *, tracks: bool | None = True) -> CSIDriver:
    return make_object(CSIDriver, name, spec={"storageCapacity": tracks})


def room(name: str, of: str, **fields: Any) -> CSIStorageCapacity:
    return make_object(CSIStorageCapacity, name, storageClassName=of, namespace="default", **fields)
