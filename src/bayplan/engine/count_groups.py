"""
Count groups: how many pods on each node match a question, kept as pods come and go.

A *count group* is a question about pods (namespaces and selector) that some constraint asked once; it moves by one on
each pod event.  ``engine.term_groups`` is the same the other way round.  A pod's labels are matched against the groups
once per distinct label set, and remembered.  ``engine.cache`` tells this module of every pod that enters or leaves a
row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.bounded_cache import BoundedCache
from bayplan.engine.columns import Columns, CountCol
from bayplan.framework.snapshot import PodMatcher, Rows
from bayplan.objects.pod import Pod

# Keeps the arrays of forgotten questions from filling memory: bytes, and never fewer than MIN_GROUPS.
MAX_GROUP_BYTES = 256 * 1024 * 1024
MIN_GROUPS = 64

LabelSet: TypeAlias = "tuple[str, frozenset[tuple[str, str]]]"


@dataclass(slots=True, eq=False)
class CountGroup:
    """Pods per node that match all matchers."""

    matchers: tuple[PodMatcher, ...]
    skip_terminating: bool
    col: CountCol

    def counts(self, pod: Pod) -> bool:
        return all(matcher.matches(pod) for matcher in self.matchers)

    def move(self, pod: Pod, row: int, by: int) -> None:
        """Count a pod that it is about, or no longer."""
        if not (self.skip_terminating and pod.is_terminating):
            self.col.add(row, by)


@dataclass(slots=True, eq=False)
class LabelClass:
    """All pods on nodes with one label set, and the groups that count them."""

    groups: list[CountGroup]
    members: dict[str, tuple[Pod, str]] = field(default_factory=dict)


class CountGroups:
    """Questions about pods on nodes, answered from kept counts."""

    def __init__(self, columns: Columns, row_of: Callable[[str], int | None]) -> None:
        self._columns = columns
        self._row_of = row_of
        self._classes: dict[LabelSet, LabelClass] = {}
        self._groups: BoundedCache[tuple[tuple[PodMatcher, ...], bool], CountGroup] = BoundedCache(
            MIN_GROUPS, dropped=self._forget
        )

    def ask(self, matchers: tuple[PodMatcher, ...], skip_terminating: bool) -> npt.NDArray[np.int32]:
        """Pods per row for a question; the first time it is asked, the members of each label set are counted."""
        key = (matchers, skip_terminating)
        group = self._groups.get(key)
        if group is None:
            group = CountGroup(matchers, skip_terminating, self._columns.make_counts())
            self._count(group)
            self._groups.limit = max(MIN_GROUPS, MAX_GROUP_BYTES // (4 * max(self._columns.n, 1)))
            self._groups[key] = group
        return group.col.view(self._columns.n)

    def pod_entered(self, pod: Pod, node_name: str, row: int) -> None:
        members = self._class_of(pod)
        members.members[pod.uid] = (pod, node_name)
        for group in members.groups:
            group.move(pod, row, 1)

    def pods_entered(self, pods: Sequence[Pod], rows: Rows) -> None:
        """Pods with the same labels, none of them terminating, each on its row."""
        members = self._class_of(pods[0])
        for pod in pods:
            members.members[pod.uid] = (pod, pod.node_name)
        for group in members.groups:
            group.col.add_each(rows)

    def _class_of(self, pod: Pod) -> LabelClass:
        members = self._classes.get(pod.label_set)
        if members is None:
            groups = [group for group in self._groups.values() if group.counts(pod)]
            members = self._classes[pod.label_set] = LabelClass(groups)
        return members

    def pod_replaced(self, pod: Pod) -> None:
        """A newer version with the same labels on the same node."""
        self._classes[pod.label_set].members[pod.uid] = (pod, pod.node_name)

    def pod_left(self, pod: Pod, row: int) -> None:
        key = pod.label_set
        members = self._classes[key]
        del members.members[pod.uid]
        for group in members.groups:
            group.move(pod, row, -1)
        if not members.members:
            del self._classes[key]

    def row_removed(self, row: int, last: int) -> None:
        """The last row has moved here; ``Columns`` has seen to the counts."""

    def _count(self, group: CountGroup) -> None:
        for members in self._classes.values():
            sample = next(iter(members.members.values()))[0]
            if not group.counts(sample):
                continue
            members.groups.append(group)
            for pod, node_name in members.members.values():
                row = self._row_of(node_name)
                if row is not None:
                    group.move(pod, row, 1)

    def _forget(self, old: CountGroup) -> None:
        self._columns.drop(old.col)
        for members in self._classes.values():
            if old in members.groups:
                members.groups.remove(old)


class CountsFork:
    """The same for a fork: what it was forked from is asked, and what has changed in the fork is added."""

    def __init__(self, base: CountGroups | CountsFork, columns: Columns) -> None:
        self._base = base
        self._columns = columns
        self._groups: dict[tuple[tuple[PodMatcher, ...], bool], CountGroup] = {}
        self._changes: list[tuple[Pod | None, int, int]] = []
        """A pod, its row, and by how many; or no pod, a removed row, and the row that took its place."""

    def ask(self, matchers: tuple[PodMatcher, ...], skip_terminating: bool) -> npt.NDArray[np.int32]:
        group = self._groups.get((matchers, skip_terminating))
        if group is None:
            known = self._base.ask(matchers, skip_terminating)
            group = CountGroup(matchers, skip_terminating, self._columns.make_counts())
            group.col.data[: len(known)] = known
            for pod, row, by in self._changes:
                if pod is None:
                    group.col.move(by, row)
                elif group.counts(pod):
                    group.move(pod, row, by)
            self._groups[matchers, skip_terminating] = group
        return group.col.view(self._columns.n)

    def pod_entered(self, pod: Pod, node_name: str, row: int) -> None:
        self._move(pod, row, 1)

    def pods_entered(self, pods: Sequence[Pod], rows: Rows) -> None:
        for pod, row in zip(pods, rows.tolist(), strict=True):
            self._move(pod, row, 1)

    def pod_replaced(self, pod: Pod) -> None:
        """A newer version with the same labels on the same node."""

    def pod_left(self, pod: Pod, row: int) -> None:
        self._move(pod, row, -1)

    def row_removed(self, row: int, last: int) -> None:
        self._changes.append((None, row, last))

    def _move(self, pod: Pod, row: int, by: int) -> None:
        self._changes.append((pod, row, by))
        for group in self._groups.values():
            if group.counts(pod):
                group.move(pod, row, by)
