"""The inside of a pod as it is written: containers, spec, status.

Only `pod` and `defaulting` need these names; everyone else asks the properties of `Pod`.
"""

from __future__ import annotations

import msgspec

from bayplan.objects.affinity import Affinity, TopologySpreadConstraint
from bayplan.objects.meta import Wire
from bayplan.objects.pod_volume import Volume
from bayplan.objects.quantity import Quantity
from bayplan.objects.toleration import Toleration

ALWAYS = "Always"


class ContainerResourceClaim(Wire, frozen=True, kw_only=True):
    name: str = ""
    request: str = ""


class ResourceRequirements(Wire, frozen=True, kw_only=True):
    requests: dict[str, Quantity] | None = None
    limits: dict[str, Quantity] | None = None
    claims: tuple[ContainerResourceClaim, ...] | None = None


class ContainerPort(Wire, frozen=True, kw_only=True):
    name: str = ""
    container_port: int = 0
    host_port: int = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = ""


class ContainerRestartRule(Wire, frozen=True, kw_only=True):
    action: str = ""


class Container(Wire, frozen=True, kw_only=True):
    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] | None = None
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] | None = None

    @property
    def is_sidecar(self) -> bool:
        """For an init container: whether it keeps running beside the regular ones."""
        return self.restart_policy == ALWAYS


class PodSchedulingGate(Wire, frozen=True, kw_only=True):
    name: str = ""


class PodResourceClaim(Wire, frozen=True, kw_only=True):
    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSpec(Wire, frozen=True, kw_only=True):
    node_name: str = ""
    node_selector: dict[str, str] | None = None
    scheduler_name: str = ""
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    overhead: dict[str, Quantity] | None = None
    resources: ResourceRequirements | None = None
    affinity: Affinity | None = None
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] | None = None
    tolerations: tuple[Toleration, ...] | None = None
    volumes: tuple[Volume, ...] | None = None
    scheduling_gates: tuple[PodSchedulingGate, ...] | None = None
    resource_claims: tuple[PodResourceClaim, ...] | None = None
    host_network: bool = False
    host_users: bool | None = None
    restart_policy: str = ""
    termination_grace_period_seconds: int | None = None
    runtime_class_name: str | None = None


class Condition(Wire, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class ContainerStatus(Wire, frozen=True, kw_only=True):
    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: dict[str, Quantity] | None = None


class PodResourceClaimStatus(Wire, frozen=True, kw_only=True):
    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(Wire, frozen=True, kw_only=True):
    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(Wire, frozen=True, kw_only=True):
    """The claim that the scheduler made for the pod's plain extended resources."""

    resource_claim_name: str = ""
    request_mappings: tuple[ContainerExtendedResourceRequest, ...] | None = None


class PodStatus(Wire, frozen=True, kw_only=True):
    phase: str = ""
    conditions: tuple[Condition, ...] | None = None
    nominated_node_name: str = ""
    start_time: str | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] | None = None
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    resources: ResourceRequirements | None = None
    allocated_resources: dict[str, Quantity] | None = None
