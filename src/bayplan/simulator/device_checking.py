"""
What an API server refuses in claims and classes that takes more than the object: CEL that does not compile or could
cost too much, and admin access in a namespace that does not allow it.  ``loading`` asks about what comes from files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bayplan.cel import COST_LIMIT, devices
from bayplan.cel.errors import CelError
from bayplan.errors import InputError
from bayplan.objects.devices.device_class import DeviceClass
from bayplan.objects.devices.names import ADMIN_ACCESS_LABEL
from bayplan.objects.devices.resource_claim import (
    DeviceSelector,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from bayplan.objects.meta import ApiObject
from bayplan.objects.mistakes import mistake
from bayplan.objects.workload import Namespace

_UNBOUNDED = 10**15
"""Loops over what a device can have do not come so far in an expression that anybody writes."""


def device_mistakes(objects: Iterable[ApiObject]) -> Iterator[tuple[ApiObject, InputError]]:
    """Every mistake, and the object that it is in."""
    all_of_them = list(objects)
    admins = {
        each.name
        for each in all_of_them
        if isinstance(each, Namespace) and each.labels.get(ADMIN_ACCESS_LABEL) == "true"
    }
    for each in all_of_them:
        match each:
            case DeviceClass():
                found = _refused("spec.selectors", each.spec.selectors)
            case ResourceClaim():
                found = _in_spec("spec", each.spec, each.namespace, admins)
            case ResourceClaimTemplate():
                found = _in_spec("spec.spec", each.spec.spec, each.namespace, admins)
            case _:
                continue
        for error in found:
            yield each, error


def _in_spec(field: str, spec: ResourceClaimSpec, namespace: str, admins: set[str]) -> Iterator[InputError]:
    for index, request in enumerate(spec.devices.requests or ()):
        at = f"{field}.devices.requests[{index}]"
        if request.exactly is not None:
            yield from _refused(f"{at}.exactly.selectors", request.exactly.selectors)
            if request.exactly.admin_access and namespace not in admins:
                fix = f'label it {ADMIN_ACCESS_LABEL}: "true"'
                yield mistake(f"{at}.exactly.adminAccess", f"namespace {namespace} does not allow it", fix)
        for number, part in enumerate(request.first_available or ()):
            yield from _refused(f"{at}.firstAvailable[{number}].selectors", part.selectors)


def _refused(field: str, selectors: tuple[DeviceSelector, ...] | None) -> Iterator[InputError]:
    for index, each in enumerate(selectors or ()):
        if each.cel is None:
            continue
        at, expression = f"{field}[{index}].cel.expression", each.cel.expression
        try:
            devices.compile(expression)
            cost = devices.highest_cost(expression)
        except CelError as error:
            first_line = str(error).partition("\n")[0]
            yield mistake(at, f"does not compile: {first_line}", "correct the expression")
            continue
        if cost > COST_LIMIT:
            yield _too_complex(at, cost)


def _too_complex(field: str, cost: int) -> InputError:
    """With the server's words, which do not tell the cost."""
    told, fix = f"estimated cost {cost}", "nest fewer loops, and search shorter texts"
    if cost >= _UNBOUNDED:
        told = "estimated cost without bound"
        fix = "use no text of unknown length (joined, formatted, from a list), nor != for quantities and versions"
    return mistake(field, f"too complex, exceeds cost limit: {told}, limit {COST_LIMIT}", fix)
