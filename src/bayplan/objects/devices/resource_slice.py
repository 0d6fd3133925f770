"""ResourceSlice: the devices that a driver offers, with what selectors read of them and what limits them.

The DynamicResources plugin reads these. A pool is all slices of one driver and pool name with the newest generation.
"""

from __future__ import annotations

import msgspec

from bayplan.objects.affinity import NodeSelector
from bayplan.objects.cached_property import cached_property
from bayplan.objects.meta import ApiObject, Wire
from bayplan.objects.quantity import Quantity
from bayplan.objects.selector import NodeRequirement, compile_node_selector
from bayplan.objects.toleration import Taint


class DeviceAttribute(Wire, frozen=True, kw_only=True):
    """One value, of one of four types."""

    int_value: int | None = msgspec.field(default=None, name="int")
    bool_value: bool | None = msgspec.field(default=None, name="bool")
    string_value: str | None = msgspec.field(default=None, name="string")
    version_value: str | None = msgspec.field(default=None, name="version")


class CapacityRequestPolicyRange(Wire, frozen=True, kw_only=True):
    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(Wire, frozen=True, kw_only=True):
    """Which amounts of a shared capacity can be had."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] | None = None
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(Wire, frozen=True, kw_only=True):
    value: Quantity = 0
    request_policy: CapacityRequestPolicy | None = None


class Counter(Wire, frozen=True, kw_only=True):
    value: Quantity = 0


class CounterSet(Wire, frozen=True, kw_only=True):
    """What the partitions of a device share."""

    name: str = ""
    counters: dict[str, Counter] | None = None


class DeviceCounterConsumption(Wire, frozen=True, kw_only=True):
    counter_set: str = ""
    counters: dict[str, Counter] | None = None


class Device(Wire, frozen=True, kw_only=True):
    name: str = ""
    attributes: dict[str, DeviceAttribute] | None = None
    capacity: dict[str, DeviceCapacity] | None = None
    consumes_counters: tuple[DeviceCounterConsumption, ...] | None = None
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[Taint, ...] | None = None
    binds_to_node: bool | None = None
    binding_conditions: tuple[str, ...] | None = None
    binding_failure_conditions: tuple[str, ...] | None = None
    allow_multiple_allocations: bool | None = None


class ResourcePool(Wire, frozen=True, kw_only=True):
    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


class ResourceSliceSpec(Wire, frozen=True, kw_only=True):
    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    per_device_node_selection: bool | None = None
    devices: tuple[Device, ...] | None = None
    shared_counters: tuple[CounterSet, ...] | None = None


class ResourceSlice(ApiObject, frozen=True, kw_only=True):
    spec: ResourceSliceSpec = ResourceSliceSpec()

    @property
    def devices(self) -> tuple[Device, ...]:
        return self.spec.devices or ()

    @property
    def pool_key(self) -> tuple[str, str]:
        """(driver, pool name): slices with the same key belong together."""
        return self.spec.driver, self.spec.pool.name

    @cached_property
    def node_requirement(self) -> NodeRequirement | None:
        """The nodes its selector lets in; None if it does not choose nodes by a selector."""
        return node_requirement(self.spec.node_selector)


def node_requirement(selector: NodeSelector | None) -> NodeRequirement | None:
    """What a node selector of a slice, a device or an allocation asks of nodes; None if there is none."""
    return None if selector is None else NodeRequirement((), compile_node_selector(selector))
