"""Storage as scheduling sees it: volumes, claims, classes, and what the CSI drivers report.

The four volume plugins read these; `workload` uses the claim as a template.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from bayplan.objects.affinity import NodeSelector
from bayplan.objects.cached_property import cached_property
from bayplan.objects.meta import ApiObject, LabelSelector, Wire
from bayplan.objects.pod_volume import (
    AWSElasticBlockStore,
    AzureDisk,
    AzureFile,
    CinderVolume,
    GCEPersistentDisk,
    ISCSIVolume,
    PersistentVolumeClaimSpec,
    PortworxVolume,
    RBDVolume,
    VsphereVolume,
)
from bayplan.objects.quantity import Quantity, value
from bayplan.objects.requirement import IN, Requirement
from bayplan.objects.selector import (
    EVERYTHING,
    NodeRequirement,
    NodeTerm,
    Selector,
    compile_label_selector,
    compile_node_selector,
)

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
IS_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
BETA_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
IMMEDIATE = "Immediate"
FILESYSTEM = "Filesystem"
READ_WRITE_ONCE_POD = "ReadWriteOncePod"
STORAGE = "storage"
AVAILABLE = "Available"
LOST = "Lost"


class ObjectReference(Wire, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""


class CSIPersistentVolume(Wire, frozen=True, kw_only=True):
    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False


class VolumeNodeAffinity(Wire, frozen=True, kw_only=True):
    required: NodeSelector | None = None


class PersistentVolumeSpec(Wire, frozen=True, kw_only=True):
    capacity: dict[str, Quantity] | None = None
    access_modes: tuple[str, ...] | None = None
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CSIPersistentVolume | None = None
    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    azure_file: AzureFile | None = None
    cinder: CinderVolume | None = None
    portworx_volume: PortworxVolume | None = None
    vsphere_volume: VsphereVolume | None = None
    iscsi: ISCSIVolume | None = None
    rbd: RBDVolume | None = None
    local: dict[str, Any] | None = None
    host_path: dict[str, Any] | None = None


class PersistentVolumeStatus(Wire, frozen=True, kw_only=True):
    phase: str = ""


class PersistentVolume(ApiObject, frozen=True, kw_only=True):
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()

    @cached_property
    def capacity_bytes(self) -> int:
        return value((self.spec.capacity or {}).get(STORAGE, 0))

    @property
    def volume_mode(self) -> str:
        return self.spec.volume_mode or FILESYSTEM

    @property
    def storage_class(self) -> str:
        """The class it is of; the old annotation goes before the field."""
        return self.annotations.get(BETA_STORAGE_CLASS, self.spec.storage_class_name)

    @cached_property
    def node_requirement(self) -> NodeRequirement | None:
        """Which nodes can reach it, or None if all can."""
        return volume_requirement(self.spec.node_affinity)

    def is_set_aside_for(self, claim: PersistentVolumeClaim) -> bool:
        """Whether it names this claim; a name without a uid means any claim of the name."""
        written = self.spec.claim_ref
        return (
            written is not None
            and (written.namespace, written.name) == (claim.namespace, claim.name)
            and written.uid in ("", claim.uid)
        )


def volume_requirement(affinity: VolumeNodeAffinity | None) -> NodeRequirement | None:
    """The nodes a volume's affinity lets in, or None for all.

    It is matched against labels alone: conditions on fields of the node count as met, also where a term has no
    others.
    """
    if affinity is None or affinity.required is None:
        return None
    terms = compile_node_selector(affinity.required)
    if any(term.fields and not term.expressions and not term.invalid for term in terms):
        return None
    return NodeRequirement((), tuple(NodeTerm(term.expressions, (), term.invalid) for term in terms))


class PersistentVolumeClaimStatus(Wire, frozen=True, kw_only=True):
    phase: str = ""


class PersistentVolumeClaim(ApiObject, frozen=True, kw_only=True):
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()

    @cached_property
    def request_bytes(self) -> int:
        return value((self.spec.resources.requests or {}).get(STORAGE, 0))

    @property
    def volume_mode(self) -> str:
        return self.spec.volume_mode or FILESYSTEM

    @property
    def storage_class(self) -> str:
        """The class it asks for, or "" for none; the old annotation goes before the field."""
        return self.annotations.get(BETA_STORAGE_CLASS, self.spec.storage_class_name or "")

    @property
    def has_request(self) -> bool:
        """Whether it says how much it wants at all."""
        return STORAGE in (self.spec.resources.requests or {})

    @property
    def is_bound(self) -> bool:
        """Whether it names a volume and the binding is complete."""
        return bool(self.spec.volume_name) and BIND_COMPLETED in self.annotations

    def belongs_to(self, pod_uid: str) -> bool:
        """Whether it was made for this pod alone."""
        owner = self.controller
        return owner is not None and owner.uid == pod_uid

    @cached_property
    def selector(self) -> Selector:
        """Which volumes it wants; none written means any."""
        return EVERYTHING if self.spec.selector is None else compile_label_selector(self.spec.selector)


class TopologyRequirement(Wire, frozen=True, kw_only=True):
    key: str = ""
    values: tuple[str, ...] | None = None


class TopologyTerm(Wire, frozen=True, kw_only=True):
    match_label_expressions: tuple[TopologyRequirement, ...] | None = None


class StorageClass(ApiObject, frozen=True, kw_only=True):
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologyTerm, ...] | None = None
    parameters: dict[str, str] | None = None

    @property
    def is_default(self) -> bool:
        return any(self.annotations.get(name) == "true" for name in IS_DEFAULT_CLASS)

    @property
    def waits_for_consumer(self) -> bool:
        return self.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER

    @property
    def can_provision(self) -> bool:
        """Whether a provisioner makes volumes for it when they are asked for."""
        return self.provisioner not in ("", NO_PROVISIONER)

    @cached_property
    def node_requirement(self) -> NodeRequirement | None:
        """The nodes it may provision for, or None for all; a term that asks for nothing allows nothing."""
        if not self.allowed_topologies:
            return None
        return NodeRequirement((), tuple(_compile_topology(term) for term in self.allowed_topologies))

    def allows(self, labels: Mapping[str, str]) -> bool:
        """Whether it may provision where a node has these labels."""
        return self.node_requirement is None or self.node_requirement.matches("", labels)


def _compile_topology(term: TopologyTerm) -> NodeTerm:
    written = term.match_label_expressions or ()
    expressions = tuple(Requirement(each.key, IN, tuple(sorted(set(each.values or ())))) for each in written)
    return NodeTerm(expressions, (), invalid=any(not each.values for each in expressions))


class VolumeNodeResources(Wire, frozen=True, kw_only=True):
    count: int | None = None


class CSINodeDriver(Wire, frozen=True, kw_only=True):
    name: str = ""
    node_id: str = msgspec.field(default="", name="nodeID")
    topology_keys: tuple[str, ...] | None = None
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Wire, frozen=True, kw_only=True):
    drivers: tuple[CSINodeDriver, ...] | None = None


class CSINode(ApiObject, frozen=True, kw_only=True):
    """Which CSI drivers a node has and how many volumes each can attach; it has the node's name."""

    spec: CSINodeSpec = CSINodeSpec()

    @cached_property
    def limits(self) -> dict[str, int]:
        """Driver name to the number of volumes; drivers without a number have no limit."""
        return {
            driver.name: driver.allocatable.count
            for driver in self.spec.drivers or ()
            if driver.allocatable is not None and driver.allocatable.count is not None
        }

    @cached_property
    def migrated_plugins(self) -> frozenset[str]:
        """The old in-tree plugins whose volumes a CSI driver looks after on this node."""
        return frozenset(filter(None, self.annotations.get(MIGRATED_PLUGINS, "").split(",")))


class CSIDriverSpec(Wire, frozen=True, kw_only=True):
    attach_required: bool | None = None
    storage_capacity: bool | None = None


class CSIDriver(ApiObject, frozen=True, kw_only=True):
    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(ApiObject, frozen=True, kw_only=True):
    """How much storage of one class is left in one part of the cluster."""

    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None

    @cached_property
    def selector(self) -> Selector:
        return compile_label_selector(self.node_topology)

    @cached_property
    def node_requirement(self) -> NodeRequirement | None:
        """The nodes that can use it, or None for all."""
        if self.selector.is_empty:
            return None
        return NodeRequirement((), () if self.selector.nothing else (NodeTerm(self.selector.requirements),))

    @cached_property
    def largest_bytes(self) -> int | None:
        """The largest volume that can be made there, or None if the driver does not say."""
        largest = self.capacity if self.maximum_volume_size is None else self.maximum_volume_size
        return None if largest is None else value(largest)


class VolumeAttachmentSource(Wire, frozen=True, kw_only=True):
    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(Wire, frozen=True, kw_only=True):
    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()


class VolumeAttachment(ApiObject, frozen=True, kw_only=True):
    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
