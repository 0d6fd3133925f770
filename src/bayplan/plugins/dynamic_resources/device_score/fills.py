"""
How full devices are, for Pack and Spread.

A device that is cut up counts once, by the counters that its partitions share: as full as the fullest of them.  A
shared device is as full as the fullest of its capacities, any other is full or empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayplan.plugins.dynamic_resources.counters import CounterKey
from bayplan.plugins.dynamic_resources.device_columns import Use
from bayplan.plugins.dynamic_resources.device_score.sizes import WHOLE


def of_counter_set(name: str, total: Mapping[CounterKey, int], left: Mapping[CounterKey, int]) -> int:
    """0 to ``WHOLE``, also if more was given away than there is."""
    taken = ((whole - left[key]) * WHOLE // whole for key, whole in total.items() if key[0] == name and whole)
    return min(WHOLE, max(taken, default=0))


def of_shared_device(capacity: Mapping[str, int], use: Use, shares: Sequence[Mapping[str, int]]) -> int:
    """By what its claims have of it, and what shares take beside these."""
    if use.is_held or (not capacity and (use.is_shared or shares)):
        return WHOLE
    held = dict(use.capacity or ())
    taken = (
        (held.get(name, 0) + sum(share.get(name, 0) for share in shares)) * WHOLE // whole
        for name, whole in capacity.items()
        if whole
    )
    return min(WHOLE, max(taken, default=0))
