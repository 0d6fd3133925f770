"""The volumes a pod mounts, as they are written; the kinds the volume plugins tell apart.

`pod` carries them. Kinds that no rule looks at are read as present or absent only.
"""

from __future__ import annotations

from typing import Any

import msgspec

from bayplan.objects.meta import LabelSelector, ObjectMeta, Wire
from bayplan.objects.quantity import Quantity


class VolumeResourceRequirements(Wire, frozen=True, kw_only=True):
    requests: dict[str, Quantity] | None = None
    limits: dict[str, Quantity] | None = None


class PersistentVolumeClaimSpec(Wire, frozen=True, kw_only=True):
    """Here rather than in `volume`, since a pod may carry a whole claim as a template."""

    access_modes: tuple[str, ...] | None = None
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class PersistentVolumeClaimVolume(Wire, frozen=True, kw_only=True):
    claim_name: str = ""
    read_only: bool = False


class EphemeralVolume(Wire, frozen=True, kw_only=True):
    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class GCEPersistentDisk(Wire, frozen=True, kw_only=True):
    pd_name: str = ""
    partition: int = 0
    read_only: bool = False
    fs_type: str = ""


class AWSElasticBlockStore(Wire, frozen=True, kw_only=True):
    volume_id: str = msgspec.field(default="", name="volumeID")
    partition: int = 0
    read_only: bool = False
    fs_type: str = ""


class ISCSIVolume(Wire, frozen=True, kw_only=True):
    target_portal: str = ""
    iqn: str = ""
    lun: int = 0
    read_only: bool = False


class RBDVolume(Wire, frozen=True, kw_only=True):
    monitors: tuple[str, ...] | None = None
    image: str = ""
    pool: str = ""
    read_only: bool = False


class AzureDisk(Wire, frozen=True, kw_only=True):
    disk_name: str = ""
    disk_uri: str = msgspec.field(default="", name="diskURI")
    kind: str | None = None
    read_only: bool | None = None


class AzureFile(Wire, frozen=True, kw_only=True):
    secret_name: str = ""
    share_name: str = ""
    read_only: bool = False


class CinderVolume(Wire, frozen=True, kw_only=True):
    volume_id: str = msgspec.field(default="", name="volumeID")
    read_only: bool = False


class PortworxVolume(Wire, frozen=True, kw_only=True):
    volume_id: str = msgspec.field(default="", name="volumeID")
    read_only: bool = False


class VsphereVolume(Wire, frozen=True, kw_only=True):
    volume_path: str = ""


class CSIEphemeralVolume(Wire, frozen=True, kw_only=True):
    driver: str = ""
    read_only: bool | None = None


class ImageVolume(Wire, frozen=True, kw_only=True):
    reference: str = ""


class Volume(Wire, frozen=True, kw_only=True):
    """One volume of a pod; the field that is set tells its kind."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolume | None = None
    ephemeral: EphemeralVolume | None = None
    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    iscsi: ISCSIVolume | None = None
    rbd: RBDVolume | None = None
    azure_disk: AzureDisk | None = None
    azure_file: AzureFile | None = None
    cinder: CinderVolume | None = None
    portworx_volume: PortworxVolume | None = None
    vsphere_volume: VsphereVolume | None = None
    csi: CSIEphemeralVolume | None = None
    image: ImageVolume | None = None
    config_map: dict[str, Any] | None = None
    secret: dict[str, Any] | None = None
    empty_dir: dict[str, Any] | None = None
    host_path: dict[str, Any] | None = None

    @property
    def may_need_attaching(self) -> bool:
        """Whether it can count against what a CSI driver attaches to a node: claims, and disks of old plugins."""
        return self.has_claim or self.is_migratable

    @property
    def has_claim(self) -> bool:
        return self.persistent_volume_claim is not None or self.ephemeral is not None

    @property
    def is_migratable(self) -> bool:
        """Whether it is of an old in-tree plugin that a CSI driver took over."""
        return (
            self.gce_persistent_disk is not None
            or self.aws_elastic_block_store is not None
            or self.azure_disk is not None
            or self.azure_file is not None
            or self.cinder is not None
            or self.portworx_volume is not None
            or self.vsphere_volume is not None
        )

    @property
    def disk_key(self) -> tuple[str, ...] | None:
        """Names the disk of a kind that pods on one node may have to keep to themselves; None for other kinds.

        Equal keys are needed for a conflict, not enough: read-only mounts and monitors are looked at later.
        """
        if self.gce_persistent_disk is not None:
            return "gcePersistentDisk", self.gce_persistent_disk.pd_name
        if self.aws_elastic_block_store is not None:
            return "awsElasticBlockStore", self.aws_elastic_block_store.volume_id
        if self.iscsi is not None:
            return "iscsi", self.iscsi.iqn
        if self.rbd is not None:
            return "rbd", self.rbd.pool, self.rbd.image
        return None

    def claim_name(self, pod_name: str) -> str:
        """The claim behind this volume of the pod, or "" if there is none."""
        if self.persistent_volume_claim is not None:
            return self.persistent_volume_claim.claim_name
        return f"{pod_name}-{self.name}" if self.ephemeral is not None else ""
