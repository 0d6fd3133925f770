"""
Consumable capacity: how much of a device a request takes, by what it asks for and what the device's policy allows.

Amounts are whole billionths, the finest a quantity has, so that adding them up stays exact and quick.  ``shape`` asks
once for each request and sort of device; ``search`` adds up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bayplan.objects.devices.resource_slice import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from bayplan.objects.quantity import Quantity, canonical, format_binary, parse, value

NANO = 10**9


class Amount(NamedTuple):
    """An amount, and the text that a claim's status has for it."""

    nano: int
    text: str


class Take(NamedTuple):
    """What a request takes of one capacity of a device, and how much the device has of it."""

    name: str
    amount: Amount
    whole: int


def nano(quantity: Quantity) -> int:
    """A quantity in billionths."""
    return int(parse(quantity) * NANO)


def text_of(nano: int) -> str:
    """Billionths as a quantity."""
    return format_binary(nano // NANO) if nano % NANO == 0 else canonical(f"{nano}n")


def taken(requests: Mapping[str, Quantity], capacity: Mapping[str, DeviceCapacity]) -> tuple[Take, ...] | str:
    """What a request takes of each capacity of a device; or why the device cannot serve it, however free it is."""
    for name in requests:
        if name not in capacity:
            return f'it has no capacity "{name}"'
    takes = []
    for name, has in capacity.items():
        amount = _consumed(requests.get(name), has)
        if not _is_allowed(amount.nano, has.request_policy):
            return f'{amount.text} of "{name}" is not an amount that its policy allows'
        if amount.nano > nano(has.value):
            return f'{amount.text} of "{name}" is asked for, and it has {canonical(has.value)}'
        takes.append(Take(name, amount, nano(has.value)))
    return tuple(takes)


def _consumed(requested: Quantity | None, has: DeviceCapacity) -> Amount:
    """Rounded up to what the policy offers; without a request its default, else all there is."""
    policy = has.request_policy
    if requested is None:
        return _amount(policy.default if policy is not None and policy.default is not None else has.value)
    if policy is None:
        return _amount(requested)
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _rounded_up(requested, policy.valid_range, policy.valid_range.min)
    for each in policy.valid_values or ():
        if nano(requested) <= nano(each):
            return _amount(each)
    return _amount(requested)


def _rounded_up(requested: Quantity, offered: CapacityRequestPolicyRange, least: Quantity) -> Amount:
    if nano(requested) < nano(least):
        return _amount(least)
    if offered.step is None:
        return _amount(requested)
    low, step = value(least), value(offered.step)
    steps = -(-(value(requested) - low) // step)
    return Amount((low + step * steps) * NANO, format_binary(low + step * steps))


def _is_allowed(amount: int, policy: CapacityRequestPolicy | None) -> bool:
    if policy is None or (policy.default is not None and amount == nano(policy.default)):
        return True
    offered = policy.valid_range
    if offered is not None:
        if offered.max is not None and amount > nano(offered.max):
            return False
        if offered.step is None:
            return True
        low = value(offered.min) if offered.min is not None else 0
        return (-(-amount // NANO) - low) % value(offered.step) == 0
    return not policy.valid_values or any(amount == nano(each) for each in policy.valid_values)


def _amount(quantity: Quantity) -> Amount:
    return Amount(nano(quantity), canonical(quantity))
