"""
Binding conditions: what a driver must report of devices before the pod can be bound.

``plugin`` asks in Filter whether an earlier allocation went wrong, ``binding`` waits for a new one.
"""

from __future__ import annotations

from bayplan.objects.devices.resource_claim import AllocatedDeviceStatus, DeviceRequestAllocationResult, ResourceClaim
from bayplan.objects.times import parse_time


class BindingFailedError(Exception):
    """A driver says that a device cannot be prepared."""


def are_needed(claim: ResourceClaim) -> bool:
    """Does any of its devices have to be prepared?"""
    return any(result.binding_conditions for result in claim.results)


def is_ready(claim: ResourceClaim) -> bool:
    """Are all of its devices prepared?  ``BindingFailedError`` if one cannot be."""
    if not claim.is_allocated:
        return False
    for result in claim.results:
        if not result.binding_conditions:
            continue
        reported = _status_of(claim, result)
        if reported is None:
            return False
        conditions = {each.type: each for each in reported.conditions or ()}
        for name in result.binding_failure_conditions or ():
            found = conditions.get(name)
            if found is not None and found.status == "True":
                said = f'claim={claim.name}, reason={found.reason}, message="{found.message}"'
                raise BindingFailedError(f"device binding failed: {said}")
        for name in result.binding_conditions:
            if name not in conditions or conditions[name].status != "True":
                return False
    return True


def is_late(claim: ResourceClaim, now: float, timeout_s: float) -> bool:
    """Has it been allocated for longer than devices may take to be prepared?"""
    given = claim.status.allocation
    at = parse_time(given.allocation_timestamp) if given is not None else None
    return at is not None and are_needed(claim) and at + timeout_s < now


def has_failed(claim: ResourceClaim, now: float, timeout_s: float) -> bool:
    """Should the claim be given other devices?"""
    try:
        return not is_ready(claim) and is_late(claim, now, timeout_s)
    except BindingFailedError:
        return True


def _status_of(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> AllocatedDeviceStatus | None:
    for each in claim.status.devices or ():
        if (each.driver, each.pool, each.device) == result.device_key:
            return each
    return None
