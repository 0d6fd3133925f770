"""
A node's devices and a pod's claims as they are not: one thing is changed, and the allocator's own search is asked.

Nothing that others see is touched.  ``would_fit`` says what to imagine.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from bayplan.objects.devices.resource_claim import DeviceClaim, DeviceRequest
from bayplan.objects.toleration import EQUAL, Taint, Toleration
from bayplan.plugins.dynamic_resources.counters import CounterKey
from bayplan.plugins.dynamic_resources.device_columns import DeviceColumns, Use
from bayplan.plugins.dynamic_resources.node_devices import NodeDevices
from bayplan.plugins.dynamic_resources.search import STEPS_A_LOOK, Search, SearchTimeoutError, Turned
from bayplan.plugins.dynamic_resources.selectors import Selectors
from bayplan.plugins.dynamic_resources.shape import AllocationError, Shape, Wanted

MOST_STEPS = 16 * STEPS_A_LOOK
"""Of one search.  It counts steps and not time, so that the answer is the same on every machine."""


class Imagined(NamedTuple):
    """What a search goes by."""

    shape: Shape
    devices: NodeDevices
    columns: DeviceColumns

    def fits(self, turned_down: Turned | None = None) -> bool:
        """Is there an allocation for all claims?  A search that takes too long has found none."""
        try:
            search = Search(*self, turned_down=turned_down, is_late=_after(MOST_STEPS // STEPS_A_LOOK))
            return not search.run().failure
        except (AllocationError, SearchTimeoutError):
            return False

    # -- other devices --

    def with_use(self, positions: Sequence[int], use: Use) -> Imagined:
        """This much is held of each of the devices."""
        columns = copy.copy(self.columns)
        columns.uses = [*columns.uses, use]
        columns.use = columns.use.copy()
        # Free devices are known by their number, so it must be the first of this use.
        columns.use[self.devices.rows[list(positions)]] = columns.uses.index(use)
        return self._replace(columns=columns)

    def with_more(self, position: int, count: int) -> Imagined:
        """There are so many more devices like this one, which nobody has."""
        columns, devices = copy.copy(self.columns), copy.copy(self.devices)
        first = len(columns.sort)
        sort = columns.sort[devices.rows[position]]
        columns.sort = np.append(columns.sort, np.full(count, sort, np.int32))
        columns.use = np.append(columns.use, np.zeros(count, np.int32))
        devices.rows = np.append(devices.rows, np.arange(first, first + count, dtype=np.int32))
        devices.pool_of = (*devices.pool_of, *[devices.pool_of[position]] * count)
        if devices.seen is not None:
            devices.seen = np.append(devices.seen, np.full(count, devices.seen[position], np.bool_))
        return self._replace(columns=columns, devices=devices)

    def with_counters(self, pool: int, more: Mapping[CounterKey, int]) -> Imagined:
        """So much more is left of the counters of a pool."""
        devices, view = copy.copy(self.devices), copy.copy(self.devices.usable[pool])
        assert view.book is not None
        view.book = view.book.with_more(more)
        devices.usable = (*devices.usable[:pool], view, *devices.usable[pool + 1 :])
        return self._replace(devices=devices)

    # -- other claims --

    def with_claims(self, claims: Sequence[DeviceClaim], selectors: Selectors) -> Imagined:
        """The claims ask for this."""
        classes = {wanted.device_class.name: wanted.device_class for wanted in self.shape.wanted}
        return self._replace(shape=Shape(claims, classes.get, self.columns, selectors))


def tolerating(claims: Sequence[DeviceClaim], wanted: Wanted, taints: Sequence[Taint]) -> list[DeviceClaim]:
    """The claims, where one request tolerates these taints, too."""
    more = [Toleration(key=each.key, operator=EQUAL, value=each.value, effect=each.effect) for each in taints]
    edited = list(claims)
    requests = list(claims[wanted.claim].requests or ())
    requests[wanted.request] = _tolerating(requests[wanted.request], wanted, more)
    edited[wanted.claim] = replace(claims[wanted.claim], requests=tuple(requests))
    return edited


def _tolerating(request: DeviceRequest, wanted: Wanted, more: Sequence[Toleration]) -> DeviceRequest:
    if request.exactly is not None:
        asks = replace(request.exactly, tolerations=(*(request.exactly.tolerations or ()), *more))
        return replace(request, exactly=asks)
    alternatives = list(request.first_available or ())
    own = alternatives[wanted.rank]
    alternatives[wanted.rank] = replace(own, tolerations=(*(own.tolerations or ()), *more))
    return replace(request, first_available=tuple(alternatives))


def without_constraint(claims: Sequence[DeviceClaim], claim: int, place: int) -> list[DeviceClaim]:
    """The claims, where one lacks one of its constraints."""
    edited = list(claims)
    written = claims[claim].constraints or ()
    edited[claim] = replace(claims[claim], constraints=(*written[:place], *written[place + 1 :]))
    return edited


def _after(looks: int) -> Callable[[], bool]:
    """Is late when it is asked for the so-manieth time."""
    left = iter(range(looks - 1))
    return lambda: next(left, None) is None
