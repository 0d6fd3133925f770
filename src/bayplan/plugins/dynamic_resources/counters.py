"""
Shared counters: what the partitions of a device take from a common store, and what is left of it.

A device takes its counters once, however many share it.  What devices on other nodes of the pool have taken counts
too.  ``pools`` makes a ``CounterBook`` for a pool, ``search`` asks what is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from bayplan.objects.devices.resource_slice import CounterSet, Device
from bayplan.plugins.dynamic_resources.capacity import nano
from bayplan.plugins.dynamic_resources.device_columns import FREE, DeviceColumns

CounterKey: TypeAlias = "tuple[str, str]"
"""(counter set, counter)."""

Consumption: TypeAlias = "tuple[tuple[CounterKey, int], ...]"


class InvalidPoolError(ValueError):
    """A pool that says what cannot be: nothing is allocated from it."""


def consumption(device: Device) -> Consumption:
    """What a device takes of each counter, in billionths."""
    taken: dict[CounterKey, int] = {}
    for each in device.consumes_counters or ():
        for name, counter in (each.counters or {}).items():
            key = each.counter_set, name
            taken[key] = taken.get(key, 0) + nano(counter.value)
    return tuple(taken.items())


def counter_sets(written: Iterable[CounterSet]) -> dict[str, dict[str, int]]:
    """Counter sets by name; no two may have the same."""
    sets: dict[str, dict[str, int]] = {}
    for each in written:
        if each.name in sets:
            raise InvalidPoolError(f"duplicate counter set name {each.name}")
        sets[each.name] = {name: nano(counter.value) for name, counter in (each.counters or {}).items()}
    return sets


def check_consumption(sets: dict[str, dict[str, int]], devices: Iterable[Device]) -> None:
    """Every counter that a device takes must be there."""
    for device in devices:
        for each in device.consumes_counters or ():
            if each.counter_set not in sets:
                raise InvalidPoolError(f"counter set {each.counter_set} not found")
            for name in each.counters or ():
                if name not in sets[each.counter_set]:
                    raise InvalidPoolError(f"counter {name} not found in counter set {each.counter_set}")


class CounterBook:
    """The counters of a pool, and the devices that take from them."""

    __slots__ = ("total", "takers")

    def __init__(self, sets: dict[str, dict[str, int]], takers: list[tuple[int, Consumption]]) -> None:
        self.total: dict[CounterKey, int] = {
            (set_name, name): amount for set_name, counters in sets.items() for name, amount in counters.items()
        }
        self.takers = takers
        """(row, what it takes) of every device of the pool that takes any."""

    def with_more(self, more: Mapping[CounterKey, int]) -> CounterBook:
        """A book in which there is so much more of some counters."""
        book = CounterBook({}, self.takers)
        book.total = {key: amount + more.get(key, 0) for key, amount in self.total.items()}
        return book

    def left(self, columns: DeviceColumns) -> dict[CounterKey, int]:
        """What is left of each counter; less than nothing if more was given away than there is."""
        left = dict(self.total)
        for row, taken in self.takers:
            if columns.uses[columns.use[row]] != FREE:
                for key, amount in taken:
                    left[key] -= amount
        return left
