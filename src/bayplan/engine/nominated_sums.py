"""
Pods that are expected on nodes, as numbers: what those nominated there would take, of at least some priority.

A pod that is being placed must leave room for them.  With many nominated pods, adding them up for every cycle would
cost more than the rest of it, so the sums are kept, and only nodes whose nominations changed are added up again.
``engine.imagined_filters`` asks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayplan.bounded_cache import BoundedCache
from bayplan.framework.handle import NominatedPods
from bayplan.framework.preemption.what_if_rows import TAKEN, Amounts, amounts_of
from bayplan.framework.snapshot import NodeTable, Rows
from bayplan.objects.pod import Pod

# Sums are kept for so many priorities; clusters have a handful.
MAX_PRIORITIES = 8
_NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Expected:
    """Rows on which pods are expected, and what they take there."""

    rows: Rows
    amounts: Amounts
    scalars: dict[int, dict[str, int]]
    """By row: what they take of extended resources."""


class NominatedSums:
    """The expectations of one scheduler's nominations."""

    def __init__(self, nominated: NominatedPods) -> None:
        self._nominated = nominated
        self._by_priority: BoundedCache[int, _Sums] = BoundedCache(MAX_PRIORITIES)

    def for_pod(self, pod: Pod, nodes: NodeTable) -> Expected | None:
        """What this pod must leave room for; ``None`` if nothing."""
        if not any(True for _ in self._nominated.nominated_nodes()):
            return None
        sums = self._by_priority.get(pod.priority)
        if sums is None:
            sums = self._by_priority[pod.priority] = _Sums(pod.priority)
        sums.catch_up(self._nominated, nodes)
        return sums.without(pod, self._nominated, nodes)


class _Sums:
    """What nominated pods of at least one priority take; a slot for each node that has some."""

    def __init__(self, priority: int) -> None:
        self._priority = priority
        self._position = -1
        self._objects_generation = -1
        self._slots: dict[str, int] = {}
        self._free: list[int] = []
        self._rows: npt.NDArray[np.intp] = np.full(0, _NOWHERE, np.intp)
        self._amounts: Amounts = np.zeros((0, len(TAKEN)), np.int64)
        self._scalars: dict[str, dict[str, int]] = {}
        self._node_of: dict[str, str] = {}
        self._uids: dict[str, list[str]] = {}

    def catch_up(self, nominated: NominatedPods, nodes: NodeTable) -> None:
        """Add up again where nominations changed, and find the rows again where nodes did."""
        position, changed = nominated.nominations_since(self._position)
        if self._position < 0 or changed is None:
            changed = {*self._slots, *nominated.nominated_nodes()}
        self._position = position
        for name in dict.fromkeys(changed):
            self._write(name, self._counted(nominated, name), nodes)
        if self._objects_generation != nodes.objects_generation:
            self._objects_generation = nodes.objects_generation
            for name, slot in self._slots.items():
                self._rows[slot] = _row_of(nodes, name)

    def without(self, pod: Pod, nominated: NominatedPods, nodes: NodeTable) -> Expected | None:
        """All but the pod itself."""
        own = self._node_of.get(pod.uid)
        if own is not None:
            others = [other for other in self._counted(nominated, own) if other.uid != pod.uid]
            self._write(own, others, nodes)
        at = np.flatnonzero(self._rows != _NOWHERE)
        found = Expected(self._rows[at], self._amounts[at], self._scalars_by_row(nodes)) if len(at) else None
        if own is not None:
            self._write(own, self._counted(nominated, own), nodes)
        return found

    def _counted(self, nominated: NominatedPods, name: str) -> list[Pod]:
        return [other for other in nominated.nominated(name) if other.priority >= self._priority]

    def _write(self, name: str, pods: list[Pod], nodes: NodeTable) -> None:
        for uid in self._uids.pop(name, ()):
            if self._node_of.get(uid) == name:
                del self._node_of[uid]
        self._scalars.pop(name, None)
        if not pods:
            slot = self._slots.pop(name, None)
            if slot is not None:
                self._rows[slot] = _NOWHERE
                self._free.append(slot)
            return
        slot = self._slot(name)
        self._rows[slot] = _row_of(nodes, name)
        self._amounts[slot] = np.sum([amounts_of(pod) for pod in pods], axis=0)
        self._uids[name] = [pod.uid for pod in pods]
        self._node_of.update(dict.fromkeys(self._uids[name], name))
        for pod in pods:
            for resource, amount in pod.accounted.scalars.items():
                totals = self._scalars.setdefault(name, {})
                totals[resource] = totals.get(resource, 0) + amount

    def _slot(self, name: str) -> int:
        slot = self._slots.get(name)
        if slot is None:
            if not self._free:
                self._grow()
            slot = self._slots[name] = self._free.pop()
        return slot

    def _grow(self) -> None:
        have = len(self._rows)
        more = max(16, have)
        self._rows = np.concatenate((self._rows, np.full(more, _NOWHERE, np.intp)))
        self._amounts = np.concatenate((self._amounts, np.zeros((more, len(TAKEN)), np.int64)))
        self._free.extend(range(have, have + more))

    def _scalars_by_row(self, nodes: NodeTable) -> dict[int, dict[str, int]]:
        rows = ((nodes.row_of(name), totals) for name, totals in self._scalars.items())
        return {row: totals for row, totals in rows if row is not None}


def _row_of(nodes: NodeTable, name: str) -> int:
    row = nodes.row_of(name)
    return _NOWHERE if row is None else row
