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
from bayplan.objects.quantity import canonical
from bayplan.plugins.dynamic_resources.capacity import Take, text_of
from bayplan.plugins.dynamic_resources.constraints import attribute_of, value_of
from bayplan.plugins.dynamic_resources.device_columns import DeviceColumns, Sort
from bayplan.plugins.dynamic_resources.node_devices import NodeDevices
from bayplan.plugins.dynamic_resources.pools import Condition
from bayplan.plugins.dynamic_resources.search import Obstacle, Search, SearchTimeoutError
from bayplan.plugins.dynamic_resources.selectors import Selectors
from bayplan.plugins.dynamic_resources.shape import AllocationError, Shape, Wanted
from bayplan.plugins.dynamic_resources.usage import Usage

Missing: TypeAlias = "list[dict[str, Any]]"
"""``[{claim, request, short, devices: [{driver, pool, device, selected, why}]}]``, as ``explain -o json`` has it."""

FREE = "could be had, but not together with what else is asked for"

_NAMES = re.compile(r"device\.(?:attributes|capacity)\[[\"']([^\"']+)[\"']\]\.\??(\w+)")


class _Listener:
    """The first thing that kept each device from each request."""

    def __init__(self, shape: Shape, devices: NodeDevices, columns: DeviceColumns) -> None:
        self.first: dict[tuple[int, int], tuple[Obstacle, Any]] = {}
        self.search = Search(shape, devices, columns, turned_down=self._hear)
        self._shape = shape
        self._devices = devices

    def _hear(self, wanted: Wanted, position: int, obstacle: Obstacle, details: Any) -> None:
        if (wanted.number, position) in self.first:
            return
        if obstacle is Obstacle.CONSTRAINT:
            details = details, self._beside(details)
        self.first[wanted.number, position] = obstacle, details

    def _beside(self, constraint: int) -> list[str]:
        """The devices that a constraint binds at this point of the search, with their requests."""
        bound = ((each, self._shape.wanted[each.wanted]) for each in self.search.chosen())
        return [
            f"{self._devices.at(choice.position).key[2]} of request {wanted.full_name}"
            for choice, wanted in bound
            if constraint in wanted.constraints
        ]


def missing(
    shape: Shape,
    claims: Sequence[ResourceClaim],
    devices: NodeDevices,
    columns: DeviceColumns,
    usage: Usage,
    selectors: Selectors,
) -> Missing:
    """What kept each request from devices; requests that could have any device, and enough, are left out."""
    heard = _Listener(shape, devices, columns)
    # What was heard until something went wrong is still true.
    with suppress(AllocationError, SearchTimeoutError):
        heard.search.run()
    told: Missing = []
    for wanted in shape.wanted:
        entries = _unusable(devices)
        kept = len(entries)
        expressions = (*wanted.device_class.expressions, *wanted.asks.expressions)
        free = 0
        for position in range(len(devices.rows)):
            found = heard.first.get((wanted.number, position))
            key = devices.at(position).key
            number = int(columns.sort[devices.rows[position]])
            is_selected = selectors.answer(expressions, number, columns.sorts[number]) is True
            why = FREE
            if found is not None:
                kept += 1
                why = _why(*found, wanted, shape, columns.sorts[number], number, key, usage, selectors)
            free += found is None and is_selected
            entries.append(_entry(*key, is_selected, why))
        short = max(0, (1 if wanted.asks.wants_all else wanted.asks.number) - free)
        if kept or short:
            name = {"claim": claims[wanted.claim].key, "request": wanted.full_name}
            told.append({**name, "short": short, "devices": entries})
    return told


def _entry(driver: str, pool: str, device: str, is_selected: bool, why: str) -> dict[str, Any]:
    return {"driver": driver, "pool": pool, "device": device, "selected": is_selected, "why": why}


def _unusable(devices: NodeDevices) -> list[dict[str, Any]]:
    """Pools that nothing is taken from."""
    entries = []
    for view in devices.pools:
        if view.condition is not Condition.USABLE:
            state = "being updated" if view.condition is Condition.INCOMPLETE else "invalid"
            why = f"the pool is {state}: {view.why}"
            entries.append(_entry(*view.key, "", False, why))
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
            return f"counter {name} of {set_name} is short by {text_of(amount)}"
        case Obstacle.TAINT:
            value = f"={details.value}" if details.value else ""
            return f"taint {details.key}{value}:{details.effect} is not tolerated"
    number, beside = details
    constraint = shape.constraints[number]
    return _constrained(constraint.attribute, constraint.is_match, sort, beside)


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
    return f"{take.amount.text} of {take.name} is asked for, and {text_of(take.whole - used)} is left"


def _constrained(name: str, is_match: bool, sort: Sort, beside: Sequence[str]) -> str:
    value = attribute_of(sort.attributes, sort.driver, name)
    if value is None:
        return f"constraint: it has no {name}"
    rule = "another than that of" if is_match else "the same as that of one of"
    return f"constraint: its {name} is {value[1]}, {rule} {', '.join(beside)}"
