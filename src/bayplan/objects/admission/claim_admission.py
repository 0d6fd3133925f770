"""What an API server refuses in claims for devices, in their templates, and in classes and taint rules.

`created` calls these. Whether the CEL of a selector can be compiled is asked by `simulator.device_checking`:
the compiler stands above this package.
"""

from __future__ import annotations

from bayplan.objects.admission import device_names, name_checks
from bayplan.objects.devices.device_class import DeviceClass, DeviceTaintRule
from bayplan.objects.devices.names import ALL, EXACT_COUNT
from bayplan.objects.devices.resource_claim import (
    DeviceConstraint,
    DeviceRequest,
    DeviceRequirements,
    DeviceSelector,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from bayplan.objects.mistakes import Mistakes, labels, mistake, one_of, quantities, tried
from bayplan.objects.requirement import check_key
from bayplan.objects.resources import is_extended_name

_MOST = 32
"""Requests, constraints, settings and selectors; the devices of a claim are as many."""
_MAX_ALTERNATIVES = 8
_MAX_EXPRESSION = 10 * 1024


def check_resource_claim(claim: ResourceClaim) -> Mistakes:
    yield from _spec("spec", claim.spec)


def check_claim_template(template: ResourceClaimTemplate) -> Mistakes:
    meta = template.spec.metadata
    yield from labels("spec.metadata.labels", meta.labels)
    for key in meta.annotations or {}:
        yield from tried(f"spec.metadata.annotations.{key}", check_key, key.lower())
    yield from _spec("spec.spec", template.spec.spec)


def check_device_class(thing: DeviceClass) -> Mistakes:
    yield from selectors("spec.selectors", thing.spec.selectors)
    yield from device_names.at_most("spec.config", thing.spec.config, _MOST)
    for index, each in enumerate(thing.spec.config or ()):
        yield from device_names.configuration(f"spec.config[{index}]", each)
    name = thing.spec.extended_resource_name
    if name is not None and not is_extended_name(name):
        fix = "write one with a domain of your own, such as example.com/gpu"
        yield mistake("spec.extendedResourceName", f'"{name}" is not the name of an extended resource', fix)


def check_taint_rule(thing: DeviceTaintRule) -> Mistakes:
    selector = thing.spec.device_selector
    if selector is not None:
        at = "spec.deviceSelector"
        if selector.driver is not None:
            yield from device_names.driver(f"{at}.driver", selector.driver)
        if selector.pool is not None:
            yield from device_names.pool(f"{at}.pool", selector.pool)
        if selector.device is not None:
            yield from name_checks.label(f"{at}.device", selector.device)
    yield from device_names.taint("spec.taint", thing.spec.taint)


def selectors(field: str, written: tuple[DeviceSelector, ...] | None) -> Mistakes:
    yield from device_names.at_most(field, written, _MOST)
    for index, each in enumerate(written or ()):
        at = f"{field}[{index}].cel"
        if each.cel is None:
            yield mistake(at, "there is none", "write cel: {expression: ...}")
        elif len(each.cel.expression.encode()) > _MAX_EXPRESSION:
            yield mistake(f"{at}.expression", "too long", f"write at most {_MAX_EXPRESSION} bytes")


def _spec(field: str, spec: ResourceClaimSpec) -> Mistakes:
    devices, at = spec.devices, f"{field}.devices"
    requests = devices.requests or ()
    yield from device_names.at_most(f"{at}.requests", requests, _MOST)
    for index, request in enumerate(requests):
        yield from _request(f"{at}.requests[{index}]", request)
    yield from name_checks.unique(f"{at}.requests", (each.name for each in requests))
    known = [*_names(requests)]
    yield from device_names.at_most(f"{at}.constraints", devices.constraints, _MOST)
    for index, constraint in enumerate(devices.constraints or ()):
        yield from _constraint(f"{at}.constraints[{index}]", constraint, known)
    yield from device_names.at_most(f"{at}.config", devices.config, _MOST)
    for index, config in enumerate(devices.config or ()):
        yield from device_names.requests(f"{at}.config[{index}].requests", config.requests, known)
        yield from device_names.configuration(f"{at}.config[{index}]", config)


def _names(requests: tuple[DeviceRequest, ...]) -> list[str]:
    """How requests and subrequests are referred to."""
    whole = [each.name for each in requests]
    return whole + [f"{each.name}/{part.name}" for each in requests for part in each.first_available or ()]


def _request(field: str, request: DeviceRequest) -> Mistakes:
    yield from name_checks.label(f"{field}.name", request.name)
    alternatives = request.first_available or ()
    if (request.exactly is not None) == bool(alternatives):
        problem = "says both exactly and firstAvailable" if alternatives else "says neither exactly nor firstAvailable"
        yield mistake(field, problem, "write one of the two")
    elif request.exactly is not None:
        yield from _requirements(f"{field}.exactly", request.exactly)
    yield from device_names.at_most(f"{field}.firstAvailable", alternatives, _MAX_ALTERNATIVES)
    for index, each in enumerate(alternatives if request.exactly is None else ()):
        yield from name_checks.label(f"{field}.firstAvailable[{index}].name", each.name)
        yield from _requirements(f"{field}.firstAvailable[{index}]", each)
    yield from name_checks.unique(f"{field}.firstAvailable", (each.name for each in alternatives))


def _requirements(field: str, written: DeviceRequirements) -> Mistakes:
    yield from name_checks.subdomain(f"{field}.deviceClassName", written.device_class_name)
    yield from selectors(f"{field}.selectors", written.selectors)
    if written.allocation_mode:
        yield from one_of(f"{field}.allocationMode", written.allocation_mode, (EXACT_COUNT, ALL))
    if written.wants_all and written.count:
        yield mistake(f"{field}.count", "does not go with allocationMode: All", "remove it")
    elif written.count < 0:
        yield mistake(f"{field}.count", f"{written.count} is less than one", "write 1 or more")
    yield from device_names.tolerations(f"{field}.tolerations", written.tolerations)
    yield from quantities(f"{field}.capacity.requests", written.capacity_requests)


def _constraint(field: str, constraint: DeviceConstraint, known: list[str]) -> Mistakes:
    yield from device_names.at_most(f"{field}.requests", constraint.requests, _MOST)
    yield from device_names.requests(f"{field}.requests", constraint.requests, known)
    if constraint.match_attribute is not None:
        yield from device_names.attribute(f"{field}.matchAttribute", constraint.match_attribute, with_domain=True)
    elif constraint.distinct_attribute is not None:
        yield from device_names.attribute(f"{field}.distinctAttribute", constraint.distinct_attribute, with_domain=True)
    else:
        yield mistake(field, "says nothing", "write matchAttribute or distinctAttribute")
