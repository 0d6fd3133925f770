"""ResourceClaim and ResourceClaimTemplate: which devices somebody wants, and which he was given.

The DynamicResources plugin reads both and writes the status; the simulator makes claims from templates.
"""

from __future__ import annotations

from typing import Any

import msgspec

from bayplan.objects.affinity import NodeSelector
from bayplan.objects.cached_property import cached_property
from bayplan.objects.devices.names import ALL, PODS
from bayplan.objects.devices.resource_slice import node_requirement
from bayplan.objects.meta import ApiObject, ObjectMeta, StatusCondition, Wire
from bayplan.objects.quantity import Quantity
from bayplan.objects.selector import NodeRequirement
from bayplan.objects.toleration import Toleration

# -- what is asked for --


class CELDeviceSelector(Wire, frozen=True, kw_only=True):
    expression: str = ""


class DeviceSelector(Wire, frozen=True, kw_only=True):
    cel: CELDeviceSelector | None = None


class CapacityRequirements(Wire, frozen=True, kw_only=True):
    requests: dict[str, Quantity] | None = None


class DeviceRequirements(Wire, frozen=True, kw_only=True):
    """What a request and a subrequest have in common."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] | None = None
    allocation_mode: str = ""
    count: int = 0
    tolerations: tuple[Toleration, ...] | None = None
    capacity: CapacityRequirements | None = None

    @property
    def wants_all(self) -> bool:
        return self.allocation_mode == ALL

    @property
    def number(self) -> int:
        """How many devices, for one that does not want all."""
        return self.count or 1

    @property
    def expressions(self) -> tuple[str, ...]:
        """The CEL of its own selectors; those of the class come before."""
        return expressions(self.selectors)

    @property
    def capacity_requests(self) -> dict[str, Quantity]:
        return (self.capacity.requests if self.capacity else None) or {}


class ExactDeviceRequest(DeviceRequirements, frozen=True, kw_only=True):
    admin_access: bool | None = None


class DeviceSubRequest(DeviceRequirements, frozen=True, kw_only=True):
    name: str = ""


class DeviceRequest(Wire, frozen=True, kw_only=True):
    """Devices of one sort: exactly these, or the first of several alternatives that can be had."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] | None = None


class DeviceConstraint(Wire, frozen=True, kw_only=True):
    """What the devices of several requests must have, or must not have, in common."""

    requests: tuple[str, ...] | None = None
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class OpaqueDeviceConfiguration(Wire, frozen=True, kw_only=True):
    driver: str = ""
    parameters: Any = None


class DeviceConfiguration(Wire, frozen=True, kw_only=True):
    """Settings that a driver reads; a scheduler only hands them on."""

    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaimConfiguration(DeviceConfiguration, frozen=True, kw_only=True):
    requests: tuple[str, ...] | None = None


class DeviceClaim(Wire, frozen=True, kw_only=True):
    requests: tuple[DeviceRequest, ...] | None = None
    constraints: tuple[DeviceConstraint, ...] | None = None
    config: tuple[DeviceClaimConfiguration, ...] | None = None


class ResourceClaimSpec(Wire, frozen=True, kw_only=True):
    devices: DeviceClaim = DeviceClaim()


# -- what was given --


class DeviceRequestAllocationResult(Wire, frozen=True, kw_only=True):
    """One device, and the request (or ``request/subrequest``) it was given for."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[Toleration, ...] | None = None
    binding_conditions: tuple[str, ...] | None = None
    binding_failure_conditions: tuple[str, ...] | None = None
    share_id: str | None = msgspec.field(default=None, name="shareID")
    consumed_capacity: dict[str, Quantity] | None = None

    @property
    def device_key(self) -> tuple[str, str, str]:
        """(driver, pool, device)."""
        return self.driver, self.pool, self.device


class DeviceAllocationConfiguration(DeviceConfiguration, frozen=True, kw_only=True):
    source: str = ""
    requests: tuple[str, ...] | None = None


class DeviceAllocationResult(Wire, frozen=True, kw_only=True):
    results: tuple[DeviceRequestAllocationResult, ...] | None = None
    config: tuple[DeviceAllocationConfiguration, ...] | None = None


class AllocationResult(Wire, frozen=True, kw_only=True):
    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


class ResourceClaimConsumerReference(Wire, frozen=True, kw_only=True):
    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class AllocatedDeviceStatus(Wire, frozen=True, kw_only=True):
    """What the driver reports of a device that was given."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = msgspec.field(default=None, name="shareID")
    conditions: tuple[StatusCondition, ...] | None = None


class ResourceClaimStatus(Wire, frozen=True, kw_only=True):
    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] | None = None
    devices: tuple[AllocatedDeviceStatus, ...] | None = None


class ResourceClaim(ApiObject, frozen=True, kw_only=True):
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()

    @property
    def requests(self) -> tuple[DeviceRequest, ...]:
        return self.spec.devices.requests or ()

    @property
    def is_allocated(self) -> bool:
        return self.status.allocation is not None

    @property
    def results(self) -> tuple[DeviceRequestAllocationResult, ...]:
        """The devices it was given."""
        given = self.status.allocation
        return (given.devices.results or ()) if given is not None else ()

    @property
    def reserved_for(self) -> tuple[ResourceClaimConsumerReference, ...]:
        return self.status.reserved_for or ()

    def is_reserved_for(self, pod_uid: str) -> bool:
        return any(each.uid == pod_uid for each in self.reserved_for)

    @property
    def pods(self) -> tuple[ResourceClaimConsumerReference, ...]:
        """Those of its consumers that are pods."""
        return tuple(each for each in self.reserved_for if each.resource == PODS and not each.api_group)

    def belongs_to(self, pod_uid: str) -> bool:
        """Whether it was made for this pod alone."""
        owner = self.controller
        return owner is not None and owner.uid == pod_uid

    @cached_property
    def node_requirement(self) -> NodeRequirement | None:
        """The nodes that can use what it was given; None if all can, or if it was given nothing."""
        given = self.status.allocation
        return None if given is None else node_requirement(given.node_selector)


class ResourceClaimTemplateSpec(Wire, frozen=True, kw_only=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(ApiObject, frozen=True, kw_only=True):
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


def expressions(selectors: tuple[DeviceSelector, ...] | None) -> tuple[str, ...]:
    """The CEL of selectors; one without any was refused long ago."""
    return tuple(each.cel.expression for each in selectors or () if each.cel is not None)
