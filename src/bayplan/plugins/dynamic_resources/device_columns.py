"""
Columns over all devices of the cluster: what each is, and what is taken of it.

Both are numbers.  A *sort* stands for all that a claim can ask of a device, its name aside, so that what is asked of
like devices is answered once.  A *use* stands for what claims hold of it.  ``inventory`` writes the first column,
``usage`` the second; ``shape`` and ``allocator`` read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from bayplan.bounded_cache import BoundedCache
from bayplan.objects.devices.resource_slice import Device, DeviceAttribute, DeviceCapacity
from bayplan.objects.toleration import Taint

DeviceKey: TypeAlias = "tuple[str, str, str]"
"""(driver, pool, device)."""

Numbers: TypeAlias = "npt.NDArray[np.int32]"

_FIRST_CAPACITY = 256
MAX_LIKE = 1024
"""
So many sorts are looked among for one that a device is of.  Most devices have an attribute that no other has, and are a
sort of their own: to remember each of them would take as much as the device.
"""
_NOTHING: Mapping[str, DeviceAttribute] = {}
_NO_CAPACITY: Mapping[str, DeviceCapacity] = {}


class Sort(NamedTuple):
    """All that a claim can ask of a device, its name aside: one device of many that are alike."""

    driver: str
    device: Device
    taints: tuple[Taint, ...]
    """Its own, then those of rules."""

    @property
    def attributes(self) -> Mapping[str, DeviceAttribute]:
        return self.device.attributes or _NOTHING

    @property
    def capacity(self) -> Mapping[str, DeviceCapacity]:
        return self.device.capacity or _NO_CAPACITY

    @property
    def is_shareable(self) -> bool:
        return bool(self.device.allow_multiple_allocations)


class Use(NamedTuple):
    """What claims hold of a device."""

    is_held: bool = False
    """By a claim that has it for itself."""
    is_shared: bool = False
    """By claims that have a share of it."""
    capacity: tuple[tuple[str, int], ...] | None = None
    """What the shares take of each capacity, in billionths; ``None`` if no share says."""


FREE = Use()


class DeviceColumns:
    """One row per device; the rows of a slice follow one another."""

    def __init__(self) -> None:
        self.sort: Numbers = np.zeros(_FIRST_CAPACITY, np.int32)
        self.use: Numbers = np.zeros(_FIRST_CAPACITY, np.int32)
        self.sorts: list[Sort] = []
        self.uses: list[Use] = [FREE]
        self.numbering = 0
        """Moves when sorts are numbered anew: a number from before stands for another sort now."""
        self._sort_numbers: BoundedCache[bytes, int] = BoundedCache(MAX_LIKE)
        self._use_numbers: dict[Use, int] = {FREE: 0}
        self._free: dict[int, list[int]] = {}
        self._end = 0

    def take_rows(self, count: int) -> int:
        """The first of ``count`` rows that nobody has."""
        spare = self._free.get(count)
        if spare:
            return spare.pop()
        start, self._end = self._end, self._end + count
        if self._end > len(self.sort):
            more = np.zeros(max(len(self.sort), count), np.int32)
            self.sort = np.concatenate((self.sort, more))
            self.use = np.concatenate((self.use, more))
        return start

    def give_rows(self, start: int, count: int) -> None:
        self._free.setdefault(count, []).append(start)

    @property
    def has_many_unused(self) -> bool:
        """Are most sorts those of devices that were changed or taken away?"""
        return len(self.sorts) > 2 * self._end + MAX_LIKE

    def number_anew(self) -> None:
        """Forget all sorts; whoever calls this writes the column again."""
        self.sorts.clear()
        self._sort_numbers.clear()
        self.numbering += 1

    def sort_number(self, driver: str, device: Device, taints: tuple[Taint, ...]) -> int:
        """The number of the device's sort; like devices mostly share one."""
        said = (
            driver, device.attributes, device.capacity, device.consumes_counters, taints,
            device.allow_multiple_allocations,
        )  # fmt: skip
        key = blake2b(msgspec.msgpack.encode(said), digest_size=16).digest()
        number = self._sort_numbers.get(key)
        if number is None:
            number = self._sort_numbers[key] = len(self.sorts)
            self.sorts.append(Sort(driver, device, taints))
        return number

    def use_number(self, use: Use) -> int:
        number = self._use_numbers.get(use)
        if number is None:
            number = self._use_numbers[use] = len(self.uses)
            self.uses.append(use)
        return number
