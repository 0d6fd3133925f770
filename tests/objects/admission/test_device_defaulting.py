from __future__ import annotations

from bayplan.objects.admission.device_defaulting import default_claim_spec, default_claim_template
from bayplan.objects.devices.resource_claim import (
    DeviceClaim,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
)


def asking(*requests: DeviceRequest) -> ResourceClaimSpec:
    return ResourceClaimSpec(devices=DeviceClaim(requests=requests))


def test_a_request_that_says_nothing_wants_one_device() -> None:
    written = asking(
        DeviceRequest(name="a", exactly=ExactDeviceRequest()),
        DeviceRequest(name="b", first_available=(DeviceSubRequest(name="x"), DeviceSubRequest(name="y", count=3))),
    )
    filled = default_claim_spec(written)
    first, second = filled.devices.requests or ()
    assert first.exactly == ExactDeviceRequest(allocation_mode="ExactCount", count=1)
    assert [(each.allocation_mode, each.count) for each in second.first_available or ()] == [
        ("ExactCount", 1),
        ("ExactCount", 3),
    ]
    assert default_claim_spec(filled) == filled


def test_all_devices_are_not_counted() -> None:
    spec = default_claim_spec(asking(DeviceRequest(exactly=ExactDeviceRequest(allocation_mode="All"))))
    assert spec == asking(DeviceRequest(exactly=ExactDeviceRequest(allocation_mode="All", count=0)))


def test_a_template_is_filled_in_like_a_claim() -> None:
    spec = asking(DeviceRequest(exactly=ExactDeviceRequest()))
    template = ResourceClaimTemplate(spec=ResourceClaimTemplateSpec(spec=spec))
    assert default_claim_template(template).spec.spec == default_claim_spec(spec)
