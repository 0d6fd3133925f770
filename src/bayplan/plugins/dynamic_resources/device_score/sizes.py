"""
How large devices are beside one another, so that a large one is not given where a small one serves.

A partition is as large as what it takes of counters, another device as its capacity: beside the most that any device
of the driver has, all over the cluster.  A device that says neither is as large as can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import numpy as np

from bayplan.plugins.dynamic_resources.capacity import nano
from bayplan.plugins.dynamic_resources.counters import consumption
from bayplan.plugins.dynamic_resources.device_columns import DeviceColumns, Sort
from bayplan.plugins.dynamic_resources.pools import Pool

WHOLE = 1000
"""The size of the largest device; what a device that is full is full by."""

Name: TypeAlias = "tuple[str, str, str]"
"""(driver, counter or capacity, its name)."""


class _Part(NamedTuple):
    name: Name
    amount: int


def largest(pools: Iterable[Pool], columns: DeviceColumns) -> dict[Name, int]:
    """The most of each counter and capacity that one device has, over all that are published."""
    found: dict[Name, int] = {}
    met: set[int] = set()
    for pool in pools:
        driver = pool.key[0]
        for each in pool.slices.values():
            rows = columns.sort[each.start : each.start + len(each.slice.devices)]
            met.update(np.unique(rows).tolist())
            for counters in each.slice.spec.shared_counters or ():
                for name, counter in (counters.counters or {}).items():
                    _note(found, _Part((driver, "counter", name), nano(counter.value)))
    for number in met:
        for part in _capacity(columns.sorts[number]):
            _note(found, part)
    return found


def size_of(sort: Sort, most: dict[Name, int]) -> int:
    """1 to ``WHOLE``."""
    counters = (_Part((sort.driver, "counter", name), amount) for (_, name), amount in consumption(sort.device))
    parts = list(counters) or _capacity(sort)
    shares = [part.amount * WHOLE // most[part.name] for part in parts if most.get(part.name)]
    return min(WHOLE, max(1, sum(shares) // len(shares))) if shares else WHOLE


def _capacity(sort: Sort) -> list[_Part]:
    return [_Part((sort.driver, "capacity", name), nano(each.value)) for name, each in sort.capacity.items()]


def _note(found: dict[Name, int], part: _Part) -> None:
    found[part.name] = max(found.get(part.name, 0), part.amount)
