"""Whose turn it is: when each node is due for each metric, spread evenly over the sync periods.

`controller` asks it for the next node. Every node has a place of its own within the shortest period, worked out from
its name, and its turns are at that place in every period: so writes come at a steady rate, metrics whose periods are
multiples of each other share a turn, and a node that was late falls back into step. No two turns for a metric are
further apart than its period by more than a minute. A node whose hot value changed gets a turn between, after those
that are due for their load.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from zlib import crc32

from bayplan.objects.third_party.crane_annotations import HOT_VALUE_LIFETIME_S, is_ahead

# Below this a turn is not worth a write of its own.
_MIN_STEP_S = 60.0
_MIN_STEP = 0.1
_OWN_WRITE_S = 10.0

NEVER = float("inf")


@dataclass(slots=True)
class _Node:
    place: float
    """Between 0 and 1."""
    due: dict[str, float]
    written: dict[str, float] = field(default_factory=dict)
    """When the values were taken that the node shows."""
    load_at: float = NEVER
    hot_at: float = NEVER
    wrote_at: float = float("-inf")
    busy: bool = False


class SyncPlan:
    """The turns of all nodes under one policy."""

    def __init__(self, periods: Mapping[str, float]) -> None:
        self._periods = dict(periods)
        self._shortest_s = min(self._periods.values(), default=HOT_VALUE_LIFETIME_S / 2)
        self._nodes: dict[str, _Node] = {}
        self._loads: list[tuple[float, str]] = []
        self._hots: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, name: str) -> bool:
        return name in self._nodes

    # -- what is known of nodes --

    def observe(self, name: str, stamps: Mapping[str, float], now: float) -> None:
        """A node shows values taken at these times, by whichever writer; a metric that is missing is due at once."""
        node = self._nodes.get(name)
        if node is None:
            node = _Node(crc32(name.encode()) / 2**32, dict.fromkeys(self._periods, NEVER))
            self._nodes[name] = node
        for metric in self._periods:
            at = stamps.get(metric)
            known = node.written.get(metric)
            if at is None or is_ahead(at, now):
                node.written.pop(metric, None)
                if known is not None or node.due[metric] == NEVER:
                    # The event may be older than our own write; then the next one will show that write.
                    node.due[metric] = max(now, node.wrote_at + _OWN_WRITE_S)
            elif known is None or at > known or (at < known and now - node.wrote_at >= _OWN_WRITE_S):
                node.written[metric] = at
                node.due[metric] = self._turn_after(node, metric, at)
        self._push_load(name, node)

    def drop(self, name: str) -> None:
        self._nodes.pop(name, None)

    def is_late(self, name: str, metric: str, now: float, grace_s: float) -> bool:
        """Does the node show no value for the metric, or one that should have been replaced `grace_s` ago?"""
        at = self._nodes[name].written.get(metric)
        return at is None or now > at + self._periods[metric] + grace_s

    # -- turns --

    def next_at(self) -> float:
        """When the next turn is; ``NEVER`` if there is none."""
        return min(self._peek(self._loads, is_load=True), self._peek(self._hots, is_load=False))

    def pop(self, now: float) -> str | None:
        """The node whose turn it is; it gets no other until `settle` or `retry`."""
        for heap, is_load in ((self._loads, True), (self._hots, False)):
            if self._peek(heap, is_load) <= now:
                name = heapq.heappop(heap)[1]
                node = self._nodes[name]
                node.busy = True
                node.load_at = node.hot_at = NEVER
                return name
        return None

    def due_metrics(self, name: str, now: float) -> list[str]:
        """What to write in this turn: what is due, and what would be so shortly."""
        node = self._nodes[name]
        return [metric for metric, at in node.due.items() if at <= now + self._min_step_s(metric)]

    def last_written(self, name: str, metric: str) -> float:
        return self._nodes[name].written.get(metric, float("-inf"))

    def wrote(self, name: str, stamps: Mapping[str, float], now: float) -> None:
        """The node shows values taken at these times now."""
        node = self._nodes.get(name)
        if node is None:
            return
        node.wrote_at = now
        for metric, at in stamps.items():
            if metric in self._periods:
                node.written[metric] = at
                node.due[metric] = self._turn_after(node, metric, now)

    def postpone(self, name: str, metric: str, until: float) -> None:
        """There is nothing new to write for a metric that is due; look again then."""
        node = self._nodes[name]
        node.due[metric] = max(node.due[metric], until)

    def settle(self, name: str, hot_at: float = NEVER) -> None:
        """The turn is over; `hot_at` is when the hot value will need one, if nothing else happens."""
        node = self._nodes.get(name)
        if node is not None:
            node.busy = False
            self._push_load(name, node)
            node.hot_at = min(node.hot_at, hot_at)
            self._push_hot(name, node)

    def retry(self, name: str, at: float) -> None:
        """The write failed; the turn comes again then."""
        node = self._nodes.get(name)
        if node is not None:
            for metric in self.due_metrics(name, at):
                node.due[metric] = max(node.due[metric], at)
            self.settle(name, at)

    def warm(self, name: str, at: float) -> None:
        """The hot value may have changed: a turn no later than that."""
        node = self._nodes.get(name)
        if node is not None and at < node.hot_at:
            node.hot_at = at
            self._push_hot(name, node)

    # -- inside --

    def _turn_after(self, node: _Node, metric: str, at: float) -> float:
        period = self._periods[metric]
        offset = node.place * min(self._shortest_s, period)
        turn = at - (at - offset) % period + period
        return turn if turn - at >= self._min_step_s(metric) else turn + period

    def _min_step_s(self, metric: str) -> float:
        return min(self._periods[metric] * _MIN_STEP, _MIN_STEP_S)

    def _push_load(self, name: str, node: _Node) -> None:
        at = min(node.due.values(), default=NEVER)
        if not node.busy and at != node.load_at:
            node.load_at = at
            heapq.heappush(self._loads, (at, name))

    def _push_hot(self, name: str, node: _Node) -> None:
        if not node.busy and node.hot_at != NEVER:
            heapq.heappush(self._hots, (node.hot_at, name))

    def _peek(self, heap: list[tuple[float, str]], is_load: bool) -> float:
        """The time of the first entry that still holds; those that do not are thrown away."""
        while heap:
            at, name = heap[0]
            node = self._nodes.get(name)
            if node is not None and not node.busy and at == (node.load_at if is_load else node.hot_at):
                return at
            heapq.heappop(heap)
        return NEVER
