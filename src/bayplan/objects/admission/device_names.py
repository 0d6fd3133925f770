"""Checks of what claims, classes, slices and taint rules have in common: names, taints, settings of drivers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sized
from typing import Any

import msgspec

from bayplan.objects.admission import name_checks
from bayplan.objects.devices.resource_claim import DeviceConfiguration
from bayplan.objects.mistakes import Mistakes, mistake, one_of, tried
from bayplan.objects.names import MAX_SUBDOMAIN
from bayplan.objects.requirement import check_key, check_value
from bayplan.objects.toleration import EQUAL, EXISTS, NO_EXECUTE, NO_SCHEDULE, Taint, Toleration

_EFFECTS = (NO_SCHEDULE, NO_EXECUTE, "None")
_MAX_DRIVER, _MAX_ID = 63, 32
_MAX_PARAMETERS = 10 * 1024
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def driver(field: str, name: str) -> Mistakes:
    if len(name) > _MAX_DRIVER:
        yield mistake(field, f"{len(name)} characters", f"write at most {_MAX_DRIVER}")
    else:
        yield from name_checks.subdomain(field, name.lower())


def pool(field: str, name: str) -> Mistakes:
    if len(name) > MAX_SUBDOMAIN:
        yield mistake(field, f"{len(name)} characters", f"write at most {MAX_SUBDOMAIN}")
        return
    for part in name.split("/"):
        yield from name_checks.subdomain(field, part)


def attribute(field: str, name: str, *, with_domain: bool = False) -> Mistakes:
    """The name of an attribute or a capacity, with or without the domain that it belongs to."""
    parts = name.split("/")
    if len(parts) > 2:
        return  # an API server lets it in, and no device can have it
    if with_domain and len(parts) != 2:
        yield mistake(field, f'"{name}" has no domain', "write it with one, such as example.com/model")
        return
    *domain, short = parts
    for each in domain:
        yield from driver(field, each)
    if len(short) > _MAX_ID or not _IDENTIFIER.fullmatch(short):
        fix = f"write at most {_MAX_ID} letters, digits and _, not beginning with a digit"
        yield mistake(field, f'"{short}" cannot name an attribute', fix)


def at_most(field: str, items: Sized | None, most: int) -> Mistakes:
    if items is not None and len(items) > most:
        yield mistake(field, f"there are {len(items)}", f"write at most {most}")


def taint(field: str, written: Taint) -> Mistakes:
    yield from tried(f"{field}.key", check_key, written.key)
    yield from tried(f"{field}.value", check_value, written.value)
    yield from one_of(f"{field}.effect", written.effect, _EFFECTS)


def tolerations(field: str, written: Iterable[Toleration] | None) -> Mistakes:
    for index, each in enumerate(written or ()):
        at = f"{field}[{index}]"
        if each.key:
            yield from tried(f"{at}.key", check_key, each.key)
        if each.operator == EXISTS and each.value:
            yield mistake(f"{at}.value", "operator Exists takes no value", "remove it or write operator: Equal")
        elif each.operator and each.operator != EXISTS:
            yield from one_of(f"{at}.operator", each.operator, (EQUAL, EXISTS))
        yield from tried(f"{at}.value", check_value, each.value)
        if each.effect:
            yield from one_of(f"{at}.effect", each.effect, _EFFECTS)


def configuration(field: str, written: DeviceConfiguration) -> Mistakes:
    if written.opaque is None:
        yield mistake(f"{field}.opaque", "there is none", "write what the driver is to read")
        return
    yield from driver(f"{field}.opaque.driver", written.opaque.driver)
    parameters: Any = written.opaque.parameters
    at = f"{field}.opaque.parameters"
    if not isinstance(parameters, dict):
        yield mistake(at, "this is no object", "write one, with the fields that the driver knows")
    elif len(msgspec.json.encode(parameters)) > _MAX_PARAMETERS:
        yield mistake(at, "too long", f"write at most {_MAX_PARAMETERS} bytes")


def requests(field: str, written: tuple[str, ...] | None, known: Collection[str]) -> Mistakes:
    """References to requests of the same claim, as ``request`` or ``request/subrequest``."""
    yield from name_checks.unique(field, written or ())
    for name in written or ():
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            yield mistake(field, f'there is no request "{name}" in this claim', f"write one of: {names}")
