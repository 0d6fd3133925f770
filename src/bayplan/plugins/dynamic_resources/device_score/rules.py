"""
The rules of DeviceScore, each over the devices of one node: what it says of the devices chosen so far.

``best_search`` tells them of every device that it takes or puts back.  ``at_best`` is what a rule may say at most when
``more`` devices are taken, so that what cannot get better is not searched; with none to come it is what it does say.
Values go from 0 to ``FULL``, in whole numbers, so that equal choices are equal on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from bayplan.plugins.dynamic_resources.constraints import Value
from bayplan.plugins.dynamic_resources.device_score.merit import FULL
from bayplan.plugins.dynamic_resources.device_score.sizes import WHOLE

Unit: TypeAlias = "int | tuple[int, str]"
"""What is full or empty: a device by its position, or a pool's counter set."""


class Change(NamedTuple):
    """A device was taken."""

    position: int
    share: int | None
    """How much of it, of ``WHOLE``; ``None`` if all of it."""
    lost: Sequence[int]
    """Devices that could be had before and no longer can, itself first if it is not shared."""
    fills: Mapping[Unit, int]
    """How full what it is part of is now."""


class Rule(Protocol):
    """One rule, during one search."""

    def take(self, change: Change) -> None: ...

    def put_back(self, change: Change) -> None: ...

    def at_best(self, more: int = 0) -> int: ...


class Tightest:
    """The less can no longer be had, the better: small devices, and none that others would need whole."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._lost = 0
        self._taken = 0

    def take(self, change: Change) -> None:
        self._lost += self._of(change)
        self._taken += 1

    def put_back(self, change: Change) -> None:
        self._lost -= self._of(change)
        self._taken -= 1

    def _of(self, change: Change) -> int:
        size = self._sizes[change.position]
        own = size if change.share is None else size * change.share // WHOLE
        return own + sum(self._sizes[each] for each in change.lost if each != change.position)

    def at_best(self, more: int = 0) -> int:
        asked = (self._taken + more) * WHOLE
        # A share may be next to nothing, so that only what is lost already is certain.
        return FULL * asked // (asked + self._lost) if asked else FULL


class Together:
    """Devices of one value of an attribute are neighbours: those that are taken, and then those that are left."""

    def __init__(self, values: Sequence[Value | None], free: Iterable[int]) -> None:
        self._values = values
        self._free = Counter(values[position] for position in free if values[position] is not None)
        self._left = self._before = sum(map(_pairs, self._free.values()))
        self._chosen: Counter[Value] = Counter()
        self._equal = 0
        self._taken = 0

    def take(self, change: Change) -> None:
        for position in change.lost:
            value = self._values[position]
            if value is not None:
                self._free[value] -= 1
                self._left -= self._free[value]
        value = self._values[change.position]
        if value is not None:
            self._equal += self._chosen[value]
            self._chosen[value] += 1
        self._taken += 1

    def put_back(self, change: Change) -> None:
        self._taken -= 1
        value = self._values[change.position]
        if value is not None:
            self._chosen[value] -= 1
            self._equal -= self._chosen[value]
        for position in change.lost:
            value = self._values[position]
            if value is not None:
                self._left += self._free[value]
                self._free[value] += 1

    def at_best(self, more: int = 0) -> int:
        """A pair that is taken together counts more than all that are left together."""
        pairs = _pairs(self._taken + more)
        equal = self._equal + pairs - _pairs(self._taken)
        left, before = (self._left, self._before) if self._before else (1, 1)
        return FULL * (2 * equal * before + left) // ((2 * pairs + 1) * before)


class Pack:
    """The fuller what is used, the better; and the reverse."""

    def __init__(self, fills: Mapping[Unit, int], most_units: int, *, is_spread: bool) -> None:
        self._fills = dict(fills)
        self._squares = sum(fill * fill for fill in fills.values())
        self._most_units = most_units
        self._is_spread = is_spread
        self._undo: list[list[tuple[Unit, int]]] = []

    def take(self, change: Change) -> None:
        self._undo.append([(unit, self._fills[unit]) for unit in change.fills])
        for unit, fill in change.fills.items():
            self._set(unit, fill)

    def put_back(self, change: Change) -> None:
        for unit, fill in self._undo.pop():
            self._set(unit, fill)

    def _set(self, unit: Unit, fill: int) -> None:
        self._squares += fill * fill - self._fills[unit] * self._fills[unit]
        self._fills[unit] = fill

    def at_best(self, more: int = 0) -> int:
        """Squares, so that one that is full counts more than two that are half full."""
        whole = len(self._fills) * WHOLE * WHOLE
        if not whole:
            return FULL
        if self._is_spread:
            return FULL - FULL * self._squares // whole
        squares = self._squares + more * self._most_units * WHOLE * WHOLE
        return FULL * min(squares, whole) // whole


def _pairs(count: int) -> int:
    return count * (count - 1) // 2
