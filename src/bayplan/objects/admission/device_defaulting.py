"""What an API server adds to claims for devices and to their templates. `defaulting` calls it."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from bayplan.objects.devices.names import EXACT_COUNT
from bayplan.objects.devices.resource_claim import (
    DeviceRequest,
    DeviceRequirements,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)

_Requirements = TypeVar("_Requirements", bound=DeviceRequirements)


def default_resource_claim(claim: ResourceClaim) -> ResourceClaim:
    return replace(claim, spec=default_claim_spec(claim.spec))


def default_claim_template(template: ResourceClaimTemplate) -> ResourceClaimTemplate:
    return replace(template, spec=replace(template.spec, spec=default_claim_spec(template.spec.spec)))


def default_claim_spec(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    requests = spec.devices.requests
    if requests is None:
        return spec
    return replace(spec, devices=replace(spec.devices, requests=tuple(_request(each) for each in requests)))


def _request(request: DeviceRequest) -> DeviceRequest:
    exactly, alternatives = request.exactly, request.first_available
    return replace(
        request,
        exactly=None if exactly is None else _requirements(exactly),
        first_available=None if alternatives is None else tuple(_requirements(each) for each in alternatives),
    )


def _requirements(written: _Requirements) -> _Requirements:
    """One device, unless it says otherwise."""
    mode = written.allocation_mode or EXACT_COUNT
    count = 1 if mode == EXACT_COUNT and not written.count else written.count
    return replace(written, allocation_mode=mode, count=count)
