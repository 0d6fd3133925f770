"""
Why a node does not serve a pod's claims: for each request the devices there are, and what keeps each from it.

The search itself tells what it turns down, so that what is said here is what counted.  ``explain`` shows it; see
``DynamicResources.missing``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.objects.quantity import canonical, format_binary
from bayplan.plugins.dynamic_resources.capacity import NANO, Take
from bayplan.plugins.dynamic_resources.constraints import attribute_of, value_of
from bayplan.plugins.dynamic_resources.device_columns import DeviceColumns, Sort
from bayplan.plugins.dynamic_resources.node_devices import NodeDevices
from bayplan.plugins.dynamic_resources.pools import Condition
from bayplan.plugins.dynamic_resources.search import Obstacle, Search, SearchTimeoutError
from bayplan.plugins.dynamic_resources.selectors import Selectors
from bayplan.plugins.dynamic_resources.shape import AllocationError, Shape, Wanted
from bayplan.plugins.dynamic_resources.usage import Usage

Missing: TypeAlias = "list[dict[str, Any]]"
"""``[{claim, request, devices: [{driver, pool, device, why}]}]``, as ``explain -o json`` has it."""

FREE = "could be had, but not together with what else is asked for"

_NAMES = re.compile(r"device\.(?:attributes|capacity)\[[\"']([^\"']+)[\"']\]\.\??(\w+)")


class _Listener:
    """The first thing that kept each device from each request."""

    def __init__(self) -> None:
        self.first: dict[tuple[int, int], tuple[Obstacle, Any]] = {}

    def __call__(self, wanted: Wanted, position: int, obstacle: Obstacle, details: Any) -> None:
        self.first.setdefault((wanted.number, position), (obstacle, details))


def missing(
    shape: Shape,
    claims: Sequence[ResourceClaim],
    devices: NodeDevices,
    columns: DeviceColumns,
    usage: Usage,
    selectors: Selectors,
) -> Missing:
    """What kept each request from devices; requests that could have any device are left out."""
    heard = _Listener()
    # What was heard until something went wrong is still true.
    with suppress(AllocationError, SearchTimeoutError):
        Search(shape, devices, columns, turned_down=heard).run()
    told: Missing = []
    for wanted in shape.wanted:
        entries = _unusable(devices)
        kept = len(entries)
        for position in range(len(devices.rows)):
            found = heard.first.get((wanted.number, position))
            key = devices.at(position).key
            why = FREE
            if found is not None:
                kept += 1
                number = int(columns.sort[devices.rows[position]])
                why = _why(*found, wanted, shape, columns.sorts[number], number, key, usage, selectors)
            entries.append(dict(zip(("driver", "pool", "device", "why"), (*key, why), strict=True)))
        if kept or not entries:
            told.append({"claim": claims[wanted.claim].key, "request": wanted.full_name, "devices": entries})
    return told


def _unusable(devices: NodeDevices) -> list[dict[str, str]]:
    """Pools that nothing is taken from."""
    entries = []
    for view in devices.pools:
        if view.condition is not Condition.USABLE:
            is_new = view.condition is Condition.INCOMPLETE
            why = "the pool is being updated: not all of its slices are there"
            why = why if is_new else f"the pool is invalid: {view.why}"
            entries.append({"driver": view.key[0], "pool": view.key[1], "device": "", "why": why})
    return entries


def _why(
    obstacle: Obstacle,
    details: Any,
    wanted: Wanted,
    shape: Shape,
    sort: Sort,
    sort_number: int,
    key: tuple[str, str, str],
    usage: Usage,
    selectors: Selectors,
) -> str:
    match obstacle:
        case Obstacle.HELD:
            return "in use by " + (", ".join(each.claim for each in usage.holders(key)) or "nobody that is known")
        case Obstacle.CHOSEN:
            return "taken by another request of this pod"
        case Obstacle.OTHER_NODES:
            return "for other nodes"
        case Obstacle.NOT_SELECTED:
            return _unselected(wanted, sort, sort_number, selectors)
        case Obstacle.CAPACITY:
            return details if isinstance(details, str) else _short(*details)
        case Obstacle.COUNTERS:
            (set_name, name), amount = details
            return f"counter {name} of {set_name} is short by {_amount(amount)}"
        case Obstacle.TAINT:
            value = f"={details.value}" if details.value else ""
            return f"taint {details.key}{value}:{details.effect} is not tolerated"
    constraint = shape.constraints[details]
    return _constrained(constraint.attribute, constraint.is_match, sort)


def _unselected(wanted: Wanted, sort: Sort, number: int, selectors: Selectors) -> str:
    """The first expression that is not true, with what the device has of the names in it."""
    of_class = f"class {wanted.device_class.name}", wanted.device_class.expressions
    for whose, expressions in (of_class, ("the request", wanted.asks.expressions)):
        for expression in expressions:
            if selectors.answer((expression,), number, sort) is not True:
                return f"selector of {whose} is false: {expression}{_values(expression, sort)}"
    return "not selected"


def _values(expression: str, sort: Sort) -> str:
    found = []
    for domain, name in dict.fromkeys(_NAMES.findall(expression)):
        written = sort.attributes.get(f"{domain}/{name}")
        own = sort.attributes.get(name) if domain == sort.driver else None
        attribute = written if written is not None else own
        capacity = sort.capacity.get(f"{domain}/{name}") or (sort.capacity.get(name) if domain == sort.driver else None)
        value = value_of(attribute) if attribute is not None else None
        if value is not None:
            found.append(f"{name} is {value[1]!r}" if isinstance(value[1], str) else f"{name} is {value[1]}")
        elif capacity is not None:
            found.append(f"{name} is {canonical(capacity.value)}")
        else:
            found.append(f"it has no {name}")
    return f" ({', '.join(found)})" if found else ""


def _short(take: Take, used: int) -> str:
    return f"{take.amount.text} of {take.name} is asked for, and {_amount(take.whole - used)} is left"


def _constrained(name: str, is_match: bool, sort: Sort) -> str:
    value = attribute_of(sort.attributes, sort.driver, name)
    if value is None:
        return f"constraint: it has no {name}"
    rule = "and devices chosen before have another" if is_match else "as of a device chosen before"
    return f"constraint: its {name} is {value[1]}, {rule}"


def _amount(nano: int) -> str:
    return format_binary(nano // NANO) if nano % NANO == 0 else canonical(f"{nano}n")
