"""How many pods each node got lately, and the hot value that follows from it.

`controller` feeds it from Scheduled events of all schedulers; the simulator may do so from its own. For every rule of
the policy, each full `count` of pods within the last `range_s` makes a node hotter by one.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Iterable

from bayplan.objects.third_party.crane import HotValueRule

_ASSIGNED = re.compile(r"Successfully assigned \S+ to (\S+)")


def assigned_node(message: str) -> str | None:
    """The node that a Scheduled event tells about."""
    found = _ASSIGNED.fullmatch(message)
    return found[1] if found else None


class Bindings:
    """When each node got a pod, as far back as the policy looks."""

    def __init__(self, rules: Iterable[HotValueRule] = ()) -> None:
        self.use(rules)
        self._times: dict[str, list[float]] = {}

    def use(self, rules: Iterable[HotValueRule]) -> None:
        """Go by these rules from now on."""
        self._rules = tuple(rules)
        self._longest_s = max((rule.range_s for rule in self._rules), default=0.0)

    def __len__(self) -> int:
        return sum(len(times) for times in self._times.values())

    def record(self, node: str, at: float, now: float) -> bool:
        """A pod went to a node at `at`; false if that is too long ago to count."""
        if at <= now - self._longest_s:
            return False
        insort(self._times.setdefault(node, []), at)
        return True

    def hot_value(self, node: str, now: float) -> int:
        times = self._times.get(node)
        if not times:
            return 0
        return sum(_newer(times, now - rule.range_s) // rule.count for rule in self._rules)

    def next_change(self, node: str, now: float) -> float | None:
        """When the node cools down by itself the next time; None if it is cold."""
        times = self._times.get(node)
        if not times:
            return None
        return min((at for rule in self._rules if (at := _cools_at(times, rule, now)) is not None), default=None)

    def forget(self, now: float) -> None:
        """Let go of what no rule counts any more."""
        oldest = now - self._longest_s
        for node, times in list(self._times.items()):
            del times[: bisect_right(times, oldest)]
            if not times:
                del self._times[node]

    def drop(self, node: str) -> None:
        self._times.pop(node, None)


def _newer(times: list[float], than: float) -> int:
    return len(times) - bisect_right(times, than)


def _cools_at(times: list[float], rule: HotValueRule, now: float) -> float | None:
    """When enough pods have grown too old that one step less is full."""
    counted = _newer(times, now - rule.range_s)
    if counted < rule.count:
        return None
    leaving = counted % rule.count
    return times[len(times) - counted + leaving] + rule.range_s
