"""
How many pods each domain of a policy is to have: numbers as they stand, shares of a total worked out.

``allocating`` calls ``desired`` for every pod, so everything here is small and exact.  Shares are worked out by
Webster's method: with one pod more in the total, no domain gets fewer than before.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heapreplace

from bayplan.objects.third_party.kosmos import DomainAllocation


def desired(domains: Sequence[DomainAllocation], total: int) -> list[int]:
    """
    Pods per domain, in the order of the domains.

    Numbers come first and percentages are of the total; what both leave goes to the domains with a weight, or to the
    one that takes the remainder.  A total that the numbers alone exceed leaves nothing.
    """
    percents = [each.percent or 0 for each in domains]
    shares = shared(total, [*percents, 100 - sum(percents)])
    found = [
        each.replicas if isinstance(each.replicas, int) else share
        for each, share in zip(domains, shares[:-1], strict=True)
    ]
    left = max(0, total - sum(found))
    weighed = shared(left, [each.weight or 0 for each in domains])
    return [
        left if each.remainder else number + more for each, number, more in zip(domains, found, weighed, strict=True)
    ]


def shared(total: int, weights: Sequence[int]) -> list[int]:
    """A whole number in parts that are as close to the weights as whole numbers can be; ties go to the first."""
    parts = [0] * len(weights)
    whole = sum(weights)
    if whole <= 0 or total <= 0:
        return parts
    # No domain gets less than this in the end, so the search can begin there and is short however large the total is.
    for index, weight in enumerate(weights):
        parts[index] = max(0, (total - len(weights)) * weight // whole)
    queue = [(_Turn(parts[index], weight), index) for index, weight in enumerate(weights) if weight > 0]
    heapify(queue)
    for _ in range(total - sum(parts)):
        index = queue[0][1]
        parts[index] += 1
        heapreplace(queue, (_Turn(parts[index], weights[index]), index))
    return parts


class _Turn:
    """Whose turn it is: the smaller ``(2 * part + 1) / weight``, compared without division."""

    __slots__ = ("above", "below")

    def __init__(self, part: int, weight: int) -> None:
        self.above = 2 * part + 1
        self.below = weight

    def __lt__(self, other: _Turn) -> bool:
        return self.above * other.below < other.above * self.below

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Turn) and self.above * other.below == other.above * self.below

    def __hash__(self) -> int:
        raise TypeError("not a key")
