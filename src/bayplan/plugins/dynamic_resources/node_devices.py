"""
The devices that one node can use, in the order in which they are tried.

``inventory`` makes it and drops it when a slice changes; ``allocator`` reads kinds and uses of its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayplan.objects.devices.resource_slice import Device, ResourceSlice
from bayplan.plugins.dynamic_resources.device_columns import DeviceColumns, DeviceKey, Numbers
from bayplan.plugins.dynamic_resources.pools import Condition, PoolView


class Found(NamedTuple):
    """A device, where it is published."""

    key: DeviceKey
    slice: ResourceSlice
    device: Device


class NodeDevices:
    """What a node sees of all pools.  A device is known by its position among those that may be allocated."""

    __slots__ = ("pools", "usable", "rows", "seen", "pool_of", "header")

    def __init__(self, views: Sequence[PoolView]) -> None:
        ordered = sorted(views, key=lambda view: (view.goes_last, view.key))
        self.pools = tuple(ordered)
        """In the order in which they are tried, those that cannot be used among them."""
        usable = [view for view in ordered if view.condition is Condition.USABLE and len(view.rows)]
        self.usable = tuple(usable)
        self.rows: Numbers = usable[0].rows if len(usable) == 1 else _joined(usable)
        self.seen = _seen(usable)
        self.pool_of: tuple[int, ...] = tuple(number for number, view in enumerate(usable) for _ in view.rows)
        header = ";".join(f"{view.condition.value[:3]}{len(view.rows)}" for view in ordered)
        self.header = header.encode() + (b"" if self.seen is None else self.seen.tobytes())
        """What tells it from nodes with other pools, its devices aside."""

    def situation(self, kinds: Numbers, columns: DeviceColumns) -> bytes:
        """All that a search goes by: nodes in the same situation get the same answer."""
        uses = np.where(kinds > 0, columns.use[self.rows], 0)
        parts = [self.header, kinds.tobytes(), uses.tobytes()]
        for number, view in enumerate(self.usable):
            if view.book is not None:
                parts.append(repr((number, *view.book.left(columns).items())).encode())
        return b"|".join(parts)

    def at(self, position: int) -> Found:
        """The device at a position."""
        for view in self.usable:
            if position < len(view.rows):
                found_in, device = view.device_at(position)
                return Found((*view.key, device.name), found_in, device)
            position -= len(view.rows)
        raise IndexError(position)


def _joined(usable: Sequence[PoolView]) -> Numbers:
    return np.concatenate([view.rows for view in usable]) if usable else np.zeros(0, np.int32)


def _seen(usable: Sequence[PoolView]) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
    if all(view.seen is None for view in usable):
        return None
    return np.concatenate([np.ones(len(view.rows), np.bool_) if view.seen is None else view.seen for view in usable])


NO_DEVICES = NodeDevices(())
