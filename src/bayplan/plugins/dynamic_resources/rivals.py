"""
Was too much given away?  The API server does not look, so two schedulers can do it between them.

``usage`` asks when the news of a claim that it wrote arrives: what other claims hold then was written before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from bayplan.objects.devices.resource_claim import AllocationResult, DeviceRequestAllocationResult
from bayplan.objects.devices.resource_slice import Device
from bayplan.plugins.dynamic_resources.capacity import nano
from bayplan.plugins.dynamic_resources.counters import InvalidPoolError, consumption, counter_sets
from bayplan.plugins.dynamic_resources.pools import Pool, PoolKey


class Holding(NamedTuple):
    """What a claim has of a device."""

    claim: str
    """``namespace/name``."""
    is_share: bool
    capacity: tuple[tuple[str, int], ...] | None


Others: TypeAlias = Callable[[tuple[str, str, str]], Sequence[Holding]]
"""What other claims hold of a device."""


def holding(claim: str, result: DeviceRequestAllocationResult) -> Holding:
    """What a claim has of the device of one of its results."""
    consumed = result.consumed_capacity
    amounts = None if consumed is None else tuple((name, nano(amount)) for name, amount in consumed.items())
    return Holding(claim, result.share_id is not None, amounts)


def exclusive(allocation: AllocationResult) -> Iterable[DeviceRequestAllocationResult]:
    """Devices with admin access are not taken from anybody."""
    return (each for each in allocation.devices.results or () if not each.admin_access)


def conflict(allocation: AllocationResult, pool_of: Callable[[PoolKey], Pool | None], others: Others) -> str:
    """What an allocation has that is not there for it, and the claim that has it; "" if nothing is amiss."""
    results = list(exclusive(allocation))
    for result in results:
        held = others(result.device_key)
        alone = [each for each in held if result.share_id is None or not each.is_share]
        if alone:
            return f"device {result.device} was given to claim {alone[0].claim}"
    for result in results:
        pool = pool_of(result.device_key[:2])
        if pool is not None:
            told = _overdrawn(result, pool, results, others)
            if told:
                return told
    return ""


def _overdrawn(
    result: DeviceRequestAllocationResult, pool: Pool, results: list[DeviceRequestAllocationResult], others: Others
) -> str:
    held = others(result.device_key)
    if result.share_id is None and not pool.has_counters:
        return ""
    device = next((each for each in pool.devices if each.name == result.device), None)
    if device is None:
        return ""  # not published any more, so nothing says how much there is
    if held and _is_over_capacity(device, result, results, held):
        return f"the capacity of device {result.device} was given to claim {held[0].claim}"
    if held or not device.consumes_counters:
        return ""  # a device takes its counters once, however many share it
    mine = {each.device for each in results if each.device_key[:2] == pool.key}
    rival = _counter_rival(device, pool, mine, others)
    return f"what device {result.device} takes from its pool was given to claim {rival}" if rival else ""


def _is_over_capacity(
    device: Device,
    result: DeviceRequestAllocationResult,
    results: list[DeviceRequestAllocationResult],
    held: Sequence[Holding],
) -> bool:
    mine = [holding("", each) for each in results if each.device_key == result.device_key]
    taken: dict[str, int] = {}
    for each in (*held, *mine):
        for name, amount in each.capacity or ():
            taken[name] = taken.get(name, 0) + amount
    return any(taken.get(name, 0) > nano(has.value) for name, has in (device.capacity or {}).items())


def _counter_rival(device: Device, pool: Pool, mine: set[str], others: Others) -> str:
    """Somebody else who takes from a counter that more was taken from than there is; "" if there is enough."""
    try:
        sets = counter_sets(pool.shared_counters)
    except InvalidPoolError:
        return ""
    wanted = dict(consumption(device))
    spent = dict.fromkeys(wanted, 0)
    rival = ""
    for each in pool.devices:
        held = others((*pool.key, each.name))
        if not held and each.name not in mine:
            continue
        for key, amount in consumption(each):
            if key in spent:
                spent[key] += amount
                rival = held[0].claim if held else rival
    is_over = any(amount > sets.get(key[0], {}).get(key[1], amount) for key, amount in spent.items())
    return rival if is_over else ""
