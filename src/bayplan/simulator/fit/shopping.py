"""
The search for a shopping list: proposes numbers of nodes of each template, hears how many pods are left, and goes on.

It knows no cluster: ``buying`` tries each proposal with the engine.  First each template by itself, as few as do; where
one alone cannot hold everything, others are added; then dear nodes are left out or replaced by cheaper ones.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping

Plan = dict[str, int]
Search = Generator[Plan, int, Plan]
"""Yields a plan, is sent how many pods it leaves without a node, and returns the best."""

MOST_TRIES = 60
"""Proposals in all; what is found until then is good, if perhaps not the best."""


def search(prices: Mapping[str, float], least: Mapping[str, int], waiting: int) -> Search:
    """
    The cheapest list that leaves nobody; of lists that leave some, the one that leaves fewest.

    Args:
        least: fewer nodes of a template than these cannot do, by amounts.
        waiting: pods without a node when nothing is bought.
    """
    return (yield from _Search(prices, least, waiting).run())


class _Search:
    def __init__(self, prices: Mapping[str, float], least: Mapping[str, int], waiting: int) -> None:
        self._prices = prices
        self._least = least
        self._waiting = waiting
        self._known: dict[tuple[tuple[str, int], ...], int] = {}
        self._best: tuple[int, float, Plan] = (waiting, 0.0, {})

    def run(self) -> Search:
        for name in self._prices:
            yield from self._grow({}, name, self._least[name])
        for _ in self._prices:  # nobody alone holds everything: the best so far, and another beside it
            if not self._best[0]:
                break
            start = self._best[2]
            for name in self._prices:
                yield from self._grow(start, name, 1)
        # From each list that holds as much as the best: the cheapest to begin with need not lead to the cheapest.
        for key in [key for key, left in self._known.items() if left == self._best[0]]:
            yield from self._improve(dict(key))
        return self._best[2]

    def _try(self, plan: Plan) -> Generator[Plan, int, int]:
        key = tuple(sorted(plan.items()))
        if key not in self._known:
            if len(self._known) >= MOST_TRIES:
                return self._waiting
            self._known[key] = yield {name: count for name, count in plan.items() if count}
        left = self._known[key]
        self._best = min(self._best, (left, self._price(plan), plan), key=lambda each: each[:2])
        return left

    def _grow(self, start: Plan, name: str, first: int) -> Generator[Plan, int, None]:
        """More nodes of one template until nobody is left or more do not help; then as few as do the same."""
        none = 0
        before = self._waiting if not start else (yield from self._try(start))
        count = first
        left = yield from self._try({**start, name: start.get(name, 0) + count})
        while left and left < before:
            before, none = left, count
            # As many more as those so far would need for the rest, at their rate.
            placed = max(1, self._waiting - left)
            count += max(1, -(-count * left // placed))
            left = yield from self._try({**start, name: start.get(name, 0) + count})
        if left >= before:  # the last ones did nothing
            left, count, none = before, none, 0
        low, high = max(none, first - 1 if not left else 0), count
        while high - low > 1:
            middle = (low + high) // 2
            if (yield from self._try({**start, name: start.get(name, 0) + middle})) <= left:
                high = middle
            else:
                low = middle

    def _improve(self, plan: Plan) -> Generator[Plan, int, None]:
        """One dear node less, or as few cheaper ones in its place as do, while that holds as much."""
        left = self._best[0]
        better: Plan | None = plan
        while better is not None:
            plan, better = better, None
            for fewer, name, most in self._cheaper(plan):
                better = yield from self._fewest(fewer, name, most, left)
                if better is not None:
                    break

    def _fewest(self, start: Plan, name: str, most: int, left: int) -> Generator[Plan, int, Plan | None]:
        """As few more of a template as leave no more pods than ``left``; None if ``most`` do not either."""

        def with_more(count: int) -> Plan:
            return {**start, name: start.get(name, 0) + count}

        if (yield from self._try(with_more(most))) > left:
            return None
        low, high = min(0, most - 1), most
        while high - low > 1:
            middle = (low + high) // 2
            if (yield from self._try(with_more(middle))) <= left:
                high = middle
            else:
                low = middle
        return with_more(high)

    def _cheaper(self, plan: Plan) -> Iterator[tuple[Plan, str, int]]:
        """Without one node: what is left, what may come in its place, and how many of it cost less."""
        for dear in sorted(plan, key=lambda name: -self._prices[name]):
            if plan[dear]:
                fewer = {**plan, dear: plan[dear] - 1}
                yield fewer, dear, 0
                for name, price in self._prices.items():
                    # Not more than one less than the ratio where it is whole: that would cost the same.
                    most = math.ceil(round(self._prices[dear] / price, 9)) - 1
                    if most:
                        yield fewer, name, most

    def _price(self, plan: Plan) -> float:
        return sum(self._prices[name] * count for name, count in plan.items())
