"""
Slices whose devices share what is equal in them: names, capacity, and the attributes that are not one device's own.

A cluster has tens of thousands of devices of a few makes.  Each is told of with all that its make says, so that most of
what is told takes room once and not once per device.  ``objects.kinds`` has what an API server says go through this.
"""

from __future__ import annotations

from collections.abc import Hashable
from sys import intern
from typing import TypeVar

import msgspec

from bayplan.bounded_cache import BoundedCache
from bayplan.objects.devices.resource_slice import Device, DeviceAttribute, DeviceCapacity, ResourceSlice

MAX_PARTS = 1024
"""Attributes of a single device, such as its UUID, come once: what is not met again soon is not kept here."""

T = TypeVar("T")


class SharedParts:
    """Parts of devices met lately."""

    def __init__(self) -> None:
        self._attributes: BoundedCache[Hashable, DeviceAttribute] = BoundedCache(MAX_PARTS)
        self._capacities: BoundedCache[Hashable, dict[str, DeviceCapacity]] = BoundedCache(MAX_PARTS)

    def within(self, slice: ResourceSlice) -> ResourceSlice:
        """An equal slice that shares parts with those before."""
        if not slice.spec.devices:
            return slice
        devices = tuple([self._device(each) for each in slice.spec.devices])
        return msgspec.structs.replace(slice, spec=msgspec.structs.replace(slice.spec, devices=devices))

    def _device(self, device: Device) -> Device:
        attributes, capacity = device.attributes, device.capacity
        if attributes:
            attributes = {intern(name): _known(self._attributes, each, each) for name, each in attributes.items()}
        if capacity:
            capacity = _known(self._capacities, msgspec.msgpack.encode(capacity), capacity)
        return msgspec.structs.replace(device, name=intern(device.name), attributes=attributes, capacity=capacity)


def _known(cache: BoundedCache[Hashable, T], key: Hashable, value: T) -> T:
    """The value met before under this key, or this one."""
    known = cache.get(key)
    if known is None:
        known = cache[key] = value
    return known
