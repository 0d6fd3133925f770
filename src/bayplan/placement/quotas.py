"""How many go into each of some sibling domains: the arithmetic of spreading, without clusters.

`nested_spread` asks once for every node of its tree. Incumbents stay where they are; what is added goes to the lowest
domain, what must go comes from the highest, and moves from high to low are made only where a budget allows them. A
domain's height is the number in it over its weight, counted in whole `unit`s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Choice = Callable[[int, int], int]
"""Child and how many were added (or removed) before: how good the next one to add (or remove) is."""

_FEW = 4


@dataclass(slots=True)
class Siblings:
    """The domains under one parent. `caps` is never below `have`."""

    have: Sequence[int]
    caps: Sequence[int]
    offsets: Sequence[int]
    scales: Sequence[int]
    known: Sequence[bool]

    def height(self, child: int, count: int) -> int:
        return (self.offsets[child] + count) * self.scales[child]


@dataclass(slots=True)
class Division:
    """How many go where, how many moves that took, and whether more moves would help."""

    counts: list[int]
    moves: int = 0
    is_unsettled: bool = False


def divide(number: int, siblings: Siblings, band: int, budget: int, best: Choice, worst: Choice) -> Division:
    """`number` over the domains; `band` is the height difference that is left alone."""
    counts = list(siblings.have)
    missing = number - sum(counts)
    if missing > 0:
        known = [child for child, is_known in enumerate(siblings.known) if is_known]
        missing -= _add(counts, siblings, known, missing, best)
        if missing:
            others = [child for child, is_known in enumerate(siblings.known) if not is_known]
            _add(counts, siblings, others, missing, best)
    elif missing < 0:
        others = [child for child, is_known in enumerate(siblings.known) if not is_known]
        missing += _drop(counts, siblings, others, -missing, worst)
        known = [child for child, is_known in enumerate(siblings.known) if is_known]
        _drop(counts, siblings, known, -missing, worst)
    moves = 0
    while budget and (pair := _uneven(counts, siblings, band, best, worst)) is not None:
        if moves == budget:
            return Division(counts, moves, True)
        high, low = pair
        counts[high] -= 1
        counts[low] += 1
        moves += 1
    return Division(counts, moves)


def _add(counts: list[int], siblings: Siblings, children: list[int], number: int, best: Choice) -> int:
    """Raise the lowest; how many found room."""
    if number == 1:
        return _add_one(counts, siblings, children, best)
    number = min(number, sum(siblings.caps[child] - counts[child] for child in children))
    left = number
    if left > _FEW and all(siblings.scales[child] == 1 for child in children):
        left -= _raise(counts, siblings, children, left)
    while left > 0:
        open_ones = [child for child in children if counts[child] < siblings.caps[child]]
        after = [siblings.height(child, counts[child] + 1) for child in open_ones]
        lowest = min(after)
        tied = [child for child, height in zip(open_ones, after, strict=True) if height == lowest]
        if len(tied) > left:
            tied.sort(key=lambda child: (-best(child, counts[child] - siblings.have[child]), child))
        for child in tied[:left]:
            counts[child] += 1
        left -= min(left, len(tied))
    return number


def _add_one(counts: list[int], siblings: Siblings, children: list[int], best: Choice) -> int:
    """The same for one, as it is when a cluster is lost."""
    caps, offsets, scales = siblings.caps, siblings.offsets, siblings.scales
    lowest = 0
    tied: list[int] = []
    for child in children:
        count = counts[child]
        if count < caps[child]:
            height = (offsets[child] + count + 1) * scales[child]
            if not tied or height < lowest:
                lowest, tied = height, [child]
            elif height == lowest:
                tied.append(child)
    if not tied:
        return 0
    first = tied[0]
    if len(tied) > 1:
        first = min(tied, key=lambda child: (-best(child, counts[child] - siblings.have[child]), child))
    counts[first] += 1
    return 1


def _drop(counts: list[int], siblings: Siblings, children: list[int], number: int, worst: Choice) -> int:
    """Lower the highest; how many could be taken away."""
    number = min(number, sum(counts[child] for child in children))
    left = number
    while left > 0:
        heights = {child: siblings.height(child, counts[child]) for child in children if counts[child]}
        highest = max(heights.values())
        tied = [child for child, height in heights.items() if height == highest]
        if len(tied) > left:
            tied.sort(key=lambda child: (worst(child, siblings.have[child] - counts[child]), -child))
        for child in tied[:left]:
            counts[child] -= 1
        left -= min(left, len(tied))
    return number


def _raise(counts: list[int], siblings: Siblings, children: list[int], number: int) -> int:
    """Lift everything to the highest level that all reach together; how many that took."""
    now = np.array([counts[child] for child in children])
    offsets = np.array([siblings.offsets[child] for child in children])
    caps = np.array([siblings.caps[child] for child in children])
    low, high = 0, int((caps + offsets).max())
    start = int(now.sum())
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.maximum(now, np.minimum(caps, middle - offsets)).sum()) - start <= number:
            low = middle
        else:
            high = middle - 1
    lifted = np.maximum(now, np.minimum(caps, low - offsets))
    for child, count in zip(children, lifted.tolist(), strict=True):
        counts[child] = count
    return int(lifted.sum()) - start


def _uneven(counts: list[int], siblings: Siblings, band: int, best: Choice, worst: Choice) -> tuple[int, int] | None:
    """From where to where one could move so that it gets more even; None if the domains are within the band."""
    known = [child for child, is_known in enumerate(siblings.known) if is_known]
    full = [child for child in known if counts[child]]
    open_ones = [child for child in known if counts[child] < siblings.caps[child]]
    if not full or not open_ones:
        return None
    heights = {child: siblings.height(child, counts[child]) for child in known}
    highest, lowest = max(heights[child] for child in full), min(heights[child] for child in open_ones)
    if highest - lowest <= band:
        return None
    tops = [child for child in full if heights[child] == highest]
    bottoms = [child for child in open_ones if heights[child] == lowest]
    high = min(tops, key=lambda child: (worst(child, max(0, siblings.have[child] - counts[child])), -child))
    low = max(bottoms, key=lambda child: (best(child, max(0, counts[child] - siblings.have[child])), -child))
    return high, low
