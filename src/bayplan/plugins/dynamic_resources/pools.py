"""
Pools: the slices of one driver and pool name, and what a node sees of them.

Only the newest generation counts, and only if all of its slices are there.  A pool that is incomplete or says what
cannot be is not allocated from, and a request for all devices has to wait for it.  The order of devices is the policy
of first fit: slices by name, devices as listed.  ``inventory`` keeps the pools and puts them in order for a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.objects.devices.resource_slice import CounterSet, Device, ResourceSlice, node_requirement
from bayplan.objects.node import Node
from bayplan.objects.selector import NodeRequirement
from bayplan.plugins.dynamic_resources.counters import (
    CounterBook,
    InvalidPoolError,
    check_consumption,
    consumption,
    counter_sets,
)

FEW_SLICES = 2
"""To look through the devices of so many takes no longer than keeping an index of them is worth."""

PoolKey: TypeAlias = "tuple[str, str]"
"""(driver, pool)."""


class Condition(Enum):
    """How a pool is doing, as a node sees it."""

    USABLE = "usable"
    INCOMPLETE = "incomplete"
    INVALID = "invalid"


class SliceRows(NamedTuple):
    """A slice, and where its devices are in the columns."""

    slice: ResourceSlice
    start: int

    @property
    def rows(self) -> range:
        return range(self.start, self.start + len(self.slice.devices))

    @property
    def generation(self) -> int:
        return self.slice.spec.pool.generation

    @property
    def node_name(self) -> str:
        """The only node that it is for; "" if its nodes are chosen in another way or it has counters for all."""
        return "" if self.has_counters else self.slice.spec.node_name or ""

    @property
    def has_counters(self) -> bool:
        return bool(self.slice.spec.shared_counters)


class PoolView:
    """A pool as one node sees it."""

    __slots__ = ("key", "condition", "why", "slices", "rows", "seen", "book", "goes_last")

    def __init__(
        self, key: PoolKey, condition: Condition, why: str = "", slices: Sequence[SliceRows] = (),
        seen: npt.NDArray[np.bool_] | None = None, book: CounterBook | None = None,
    ) -> None:  # fmt: skip
        self.key = key
        self.condition = condition
        self.why = why
        self.slices = tuple(slices)
        self.rows = np.array([row for each in slices for row in each.rows], np.int32)
        self.seen = seen
        """Which of its devices are for the node, where each device says so for itself; ``None``: all."""
        self.book = book
        self.goes_last = any(device.binding_conditions is not None for each in slices for device in each.slice.devices)
        """Devices that must be prepared before a pod can be bound are only taken if no others are there."""

    def device_at(self, position: int) -> tuple[ResourceSlice, Device]:
        """The device at a position in ``rows``, with its slice."""
        for each in self.slices:
            if position < len(each.slice.devices):
                return each.slice, each.slice.devices[position]
            position -= len(each.slice.devices)
        raise IndexError(position)


class Pool:
    """All slices of a pool, of whatever generation."""

    def __init__(self, key: PoolKey) -> None:
        self.key = key
        self.slices: dict[str, SliceRows] = {}
        self._rows_of: dict[str, list[int]] | None = None
        """By the name of a device, its rows; made when it is asked for, and only where there are many devices."""

    def add(self, rows: SliceRows) -> None:
        self.slices[rows.slice.name] = rows
        self._rows_of = None

    def remove(self, name: str) -> SliceRows:
        self._rows_of = None
        return self.slices.pop(name)

    def rows_of(self, name: str) -> Sequence[int]:
        """Where a device is in the columns: a row in each slice that has it."""
        if len(self.slices) <= FEW_SLICES:
            return [row for row, device in self._rows() if device.name == name]
        if self._rows_of is None:
            self._rows_of = {}
            for row, device in self._rows():
                self._rows_of.setdefault(device.name, []).append(row)
        return self._rows_of.get(name, ())

    def _rows(self) -> Iterable[tuple[int, Device]]:
        return (pair for each in self.slices.values() for pair in enumerate(each.slice.devices, each.start))

    @property
    def node_names(self) -> set[str]:
        """The nodes that have a slice to themselves."""
        return {each.node_name for each in self.slices.values() if each.node_name}

    @property
    def has_counters(self) -> bool:
        return any(each.has_counters for each in self.slices.values())

    @property
    def newest(self) -> list[SliceRows]:
        """The slices of the newest generation."""
        newest = max((each.generation for each in self.slices.values()), default=0)
        return [each for each in self.slices.values() if each.generation == newest]

    @property
    def devices(self) -> list[Device]:
        """Of the newest generation, for whichever node."""
        return list(_devices(self.newest))

    @property
    def shared_counters(self) -> list[CounterSet]:
        return [each for rows in self.newest for each in rows.slice.spec.shared_counters or ()]

    @property
    def concerns_all(self) -> bool:
        """Must every node look at it?  Slices with counters are for all nodes; elsewhere only their faults matter."""
        if any(not each.node_name and not each.has_counters for each in self.slices.values()):
            return True
        return self.has_counters and (view := self.view(None)) is not None and view.condition is not Condition.USABLE

    def view(self, node: Node | None) -> PoolView | None:
        """What the node sees of it; ``None`` for nothing.  Without a node: one that none of its devices are for."""
        visible = sorted((each for each in self.slices.values() if _concerns(each, node)), key=_by_name)
        if not visible:
            return None
        newest = max(each.generation for each in visible)
        kept = [each for each in visible if each.generation == newest]
        count = kept[0].slice.spec.pool.resource_slice_count
        others: list[SliceRows] = []
        if len(kept) != count:
            if any(each.generation > newest for each in self.slices.values()):
                return None  # the driver is about to replace what this node sees
            names = {each.slice.name for each in kept}
            all_of_it = sorted((each for each in self.slices.values() if each.generation == newest), key=_by_name)
            if len(all_of_it) != count:
                why = f"{len(all_of_it)} of {count} slices of generation {newest} are there"
                return PoolView(self.key, Condition.INCOMPLETE, why)
            others = [each for each in all_of_it if each.slice.name not in names]
        try:
            return self._built(kept, others, node)
        except InvalidPoolError as error:
            return PoolView(self.key, Condition.INVALID, str(error))

    def _built(self, kept: list[SliceRows], others: list[SliceRows], node: Node | None) -> PoolView:
        with_devices = [each for each in kept if not each.has_counters]
        _check_names(with_devices)
        sets = counter_sets(each for rows in kept for each in rows.slice.spec.shared_counters or ())
        check_consumption(sets, _devices(kept))
        check_consumption(sets, _devices(others))
        takers = [
            (row, consumption(device))
            for each in (*with_devices, *others)
            for row, device in zip(each.rows, each.slice.devices, strict=True)
            if device.consumes_counters
        ]
        book = CounterBook(sets, takers) if sets else None
        return PoolView(self.key, Condition.USABLE, "", with_devices, _seen(with_devices, node), book)


def _by_name(rows: SliceRows) -> str:
    return rows.slice.name


def _devices(slices: Iterable[SliceRows]) -> Iterable[Device]:
    return (device for each in slices for device in each.slice.devices)


def _check_names(slices: Iterable[SliceRows]) -> None:
    known: set[str] = set()
    for device in _devices(slices):
        if device.name in known:
            raise InvalidPoolError(f"duplicate device name {device.name}")
        known.add(device.name)


def _concerns(rows: SliceRows, node: Node | None) -> bool:
    """Is the slice for the node?"""
    spec = rows.slice.spec
    if spec.shared_counters:
        return True
    if node is None:
        return False
    if spec.node_name or spec.all_nodes or spec.node_selector is not None:
        return _matches(node, spec.node_name, spec.all_nodes, rows.slice.node_requirement)
    return bool(spec.per_device_node_selection) and any(_is_for(device, node) for device in rows.slice.devices)


def _is_for(device: Device, node: Node) -> bool:
    return _matches(node, device.node_name, device.all_nodes, node_requirement(device.node_selector))


def _matches(node: Node, name: str | None, all_nodes: bool | None, wanted: NodeRequirement | None) -> bool:
    if name:
        return node.name == name
    return bool(all_nodes) or (wanted is not None and wanted.matches(node.name, node.labels))


def _seen(slices: Sequence[SliceRows], node: Node | None) -> npt.NDArray[np.bool_] | None:
    if node is None or not any(each.slice.spec.per_device_node_selection for each in slices):
        return None
    return np.array(
        [
            not each.slice.spec.per_device_node_selection or _is_for(device, node)
            for each in slices
            for device in each.slice.devices
        ],
        np.bool_,
    )
