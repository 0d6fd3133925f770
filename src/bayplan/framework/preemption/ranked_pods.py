"""
The pods of each node in order of importance, with what they take: kept until something about the node changes.

Preemption asks who on a node is less important than a pod.  Sorted by priority, those are always the last ones, so one
order serves preemptors of every priority.  A node's pods are ranked when it is first looked at.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from bayplan.framework.preemption.what_if_rows import TAKEN, Amounts, amounts_of
from bayplan.framework.snapshot import NodeTable, Rows
from bayplan.objects.pod import Pod

WIDTH = len(TAKEN) + 2
# With more nodes than these their ranks are not kept: they take a hundred bytes or so for each pod.
MAX_NODES = 1 << 16
_UNKNOWN = -2
_NOBODY = int(np.iinfo(np.int64).max)
_NOT_STARTED = float("inf")
_LONG_AGO = float("-inf")


class NodePods:
    """The pods of one node, most important first: higher priority, then longer running, then as the node has them."""

    __slots__ = ("numbers", "scalars", "settled_at", "_order", "_places")

    def __init__(self, pods: Iterable[Pod], now: float = _NOT_STARTED) -> None:
        pods = tuple(pods)
        starts = [pod.start_time for pod in pods]
        keys = [(-pod.priority, now if at is None else at) for pod, at in zip(pods, starts, strict=True)]
        # Not the pods themselves: those that are gone from a node nobody looks at would stay in memory.
        self._order = sorted(range(len(pods)), key=keys.__getitem__)
        ranked = [pods[place] for place in self._order]
        numbers = [(*amounts_of(pod), pod.priority, 0) for pod in ranked]
        self.numbers: Amounts = np.array(numbers, np.int64).reshape(-1, WIDTH)
        """What each takes, its priority, and when it started: infinity if it has not (``started_at_in``)."""
        self.numbers[:, -1] = np.array([keys[place][1] for place in self._order], np.float64).view(np.int64)
        self.scalars = [(place, pod.accounted.scalars) for place, pod in enumerate(ranked) if pod.accounted.scalars]
        known = [at for at in starts if at is not None]
        self.settled_at = max(known) if known and len(known) < len(starts) else _LONG_AGO
        """After this moment, pods that have not started rank behind all that have."""
        self._places = [keys[place][0] for place in self._order]

    @property
    def highest(self) -> int:
        """The priority of the most important one."""
        return -self._places[0] if self._places else _NOBODY

    def ranked(self, pods: Iterable[Pod], first: int = 0) -> tuple[Pod, ...]:
        """The node's pods, which must be the same as then, in their order; from a place on."""
        as_they_came = tuple(pods)
        return tuple(as_they_came[place] for place in self._order[first:])

    def first_below(self, priority: int) -> int:
        """From this place on pods are of lower priority."""
        return bisect_right(self._places, -priority)


def amounts_in(numbers: Amounts) -> Amounts:
    """What pods take, of ``NodePods.numbers``."""
    return numbers[:, : len(TAKEN)]


def priorities_in(numbers: Amounts) -> npt.NDArray[np.int64]:
    """Their priorities."""
    return numbers[:, -2]


def started_at_in(numbers: Amounts) -> npt.NDArray[np.float64]:
    """When they started: the bits of a float among whole numbers, so that thousands of nodes are joined only once."""
    return numbers[:, -1].view(np.float64)


class RankedPods:
    """What is known of the nodes of one table."""

    def __init__(self) -> None:
        self._revisions = _Numbers(_UNKNOWN)
        self._lowest = _Numbers(_NOBODY)
        self._ranked_at = _Numbers(_UNKNOWN)
        self._highest = _Numbers(_NOBODY)
        self._settled_at: npt.NDArray[np.float64] = np.empty(0, np.float64)
        self._ranked: list[NodePods] = []

    def with_lower(self, nodes: NodeTable, rows: Rows, priority: int) -> Rows:
        """Those of the rows, in their order, that have a pod of lower priority."""
        known, lowest = self._revisions.of(len(nodes)), self._lowest.of(len(nodes))
        revisions = nodes.revision[rows]
        for row in rows[(known[rows] != revisions) | (revisions < 0)].tolist():
            lowest[row] = min((pod.priority for pod in nodes.pods_at(row)), default=_NOBODY)
            known[row] = nodes.revision[row]
        return rows[lowest[rows] < priority]

    def below(self, nodes: NodeTable, rows: Rows, priority: int, now: float) -> tuple[list[NodePods], list[int]]:
        """The ranked pods of some rows, and from which place on they are of lower priority."""
        ranked = self._on(nodes, rows, now)
        if (self._highest.of(len(nodes))[rows] < priority).all():
            return ranked, [0] * len(ranked)
        return ranked, [each.first_below(priority) for each in ranked]

    def _on(self, nodes: NodeTable, rows: Rows, now: float) -> list[NodePods]:
        known, highest = self._room_for(len(nodes)), self._highest.of(len(nodes))
        revisions = nodes.revision[rows]
        for row in rows[(known[rows] != revisions) | (revisions < 0)].tolist():
            ranked = self._ranked[row] = NodePods(nodes.pods_at(row))
            known[row], self._settled_at[row] = nodes.revision[row], ranked.settled_at
            highest[row] = ranked.highest
        found = [self._ranked[row] for row in rows.tolist()]
        for place in np.flatnonzero(self._settled_at[rows] >= now).tolist():
            found[place] = NodePods(nodes.pods_at(int(rows[place])), now)
        return found

    def _room_for(self, count: int) -> npt.NDArray[np.int64]:
        known = self._ranked_at.of(count)
        more = len(known) - len(self._ranked)
        if more > 0:
            self._ranked += [_EMPTY] * more
            self._settled_at = np.concatenate((self._settled_at, np.full(more, _LONG_AGO)))
        if count > MAX_NODES:
            # Too many to keep what is known of all of them.
            known.fill(_UNKNOWN)
            self._ranked = [_EMPTY] * len(known)
        return known


class _Numbers:
    """A number for each row, of as many rows as were ever asked for."""

    __slots__ = ("_fill", "_numbers")

    def __init__(self, fill: int) -> None:
        self._fill = fill
        self._numbers: npt.NDArray[np.int64] = np.empty(0, np.int64)

    def of(self, count: int) -> npt.NDArray[np.int64]:
        more = count - len(self._numbers)
        if more > 0:
            self._numbers = np.concatenate((self._numbers, np.full(more, self._fill, np.int64)))
        return self._numbers


_EMPTY = NodePods(())
