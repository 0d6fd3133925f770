"""DeviceClass: a sort of device by name, and DeviceTaintRule: taints that an administrator puts on devices."""

from __future__ import annotations

from bayplan.objects.devices.names import DEVICE_CLASS_PREFIX
from bayplan.objects.devices.resource_claim import DeviceConfiguration, DeviceSelector, expressions
from bayplan.objects.meta import ApiObject, StatusCondition, Wire
from bayplan.objects.toleration import Taint


class DeviceClassSpec(Wire, frozen=True, kw_only=True):
    selectors: tuple[DeviceSelector, ...] | None = None
    config: tuple[DeviceConfiguration, ...] | None = None
    extended_resource_name: str | None = None


class DeviceClass(ApiObject, frozen=True, kw_only=True):
    spec: DeviceClassSpec = DeviceClassSpec()

    @property
    def expressions(self) -> tuple[str, ...]:
        """The CEL of its selectors."""
        return expressions(self.spec.selectors)

    @property
    def implicit_resource_name(self) -> str:
        """The extended resource that stands for it even if it names none."""
        return f"{DEVICE_CLASS_PREFIX}{self.name}"


class DeviceTaintSelector(Wire, frozen=True, kw_only=True):
    """Which devices; what is not written does not matter."""

    driver: str | None = None
    pool: str | None = None
    device: str | None = None

    def matches(self, driver: str, pool: str, device: str) -> bool:
        return self.driver in (None, driver) and self.pool in (None, pool) and self.device in (None, device)


class DeviceTaintRuleSpec(Wire, frozen=True, kw_only=True):
    device_selector: DeviceTaintSelector | None = None
    taint: Taint = Taint()


class DeviceTaintRuleStatus(Wire, frozen=True, kw_only=True):
    conditions: tuple[StatusCondition, ...] | None = None


class DeviceTaintRule(ApiObject, frozen=True, kw_only=True):
    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()
    status: DeviceTaintRuleStatus = DeviceTaintRuleStatus()

    def matches(self, driver: str, pool: str, device: str) -> bool:
        """Whether it taints this device; a rule without a selector taints all."""
        selector = self.spec.device_selector
        return selector is None or selector.matches(driver, pool, device)
