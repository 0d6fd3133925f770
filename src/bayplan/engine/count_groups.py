"""
Count groups: how many pods on each node match a question, kept as pods come and go.

A *count group* is a question about pods (namespaces and selector) that some constraint asked once; a *term
group* is the same the other way round: an affinity term that pods on nodes carry, with its owners per node.
Both move by one on each pod event.  A pod's labels are matched against the groups once per distinct label
set, and remembered.  ``engine.cache`` tells this module of every pod that enters or leaves a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.bounded_cache import BoundedCache
from bayplan.engine.columns import Columns, CountCol
from bayplan.framework.snapshot import PodMatcher, Rows, TermColumn, TermKind
from bayplan.objects.pod import Pod
from bayplan.objects.selector import PodTerm

# Keeps the arrays of forgotten questions from filling memory: bytes, and never fewer than MIN_GROUPS.
MAX_GROUP_BYTES = 256 * 1024 * 1024
MIN_GROUPS = 64
MAX_REMEMBERED_LABEL_SETS = 8192

LabelSet: TypeAlias = "tuple[str, frozenset[tuple[str, str]]]"


class CountGroup:
    """Pods per node that match all matchers."""

    __slots__ = ("matchers", "skip_terminating", "col")

    def __init__(self, matchers: tuple[PodMatcher, ...], skip_terminating: bool, col: CountCol) -> None:
        self.matchers = matchers
        self.skip_terminating = skip_terminating
        self.col = col

    def counts(self, pod: Pod) -> bool:
        return all(matcher.matches(pod) for matcher in self.matchers)


class LabelClass:
    """All pods on nodes with one label set, and the groups that count them."""

    __slots__ = ("members", "groups")

    def __init__(self) -> None:
        self.members: dict[str, tuple[Pod, str]] = {}
        self.groups: list[CountGroup] = []


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
        self._move(members, pod, row, 1)

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
            members = self._classes[pod.label_set] = LabelClass()
            members.groups = [group for group in self._groups.values() if group.counts(pod)]
        return members

    def pod_replaced(self, pod: Pod) -> None:
        """A newer version with the same labels on the same node."""
        self._classes[pod.label_set].members[pod.uid] = (pod, pod.node_name)

    def pod_left(self, pod: Pod, row: int) -> None:
        key = pod.label_set
        members = self._classes[key]
        del members.members[pod.uid]
        self._move(members, pod, row, -1)
        if not members.members:
            del self._classes[key]

    @staticmethod
    def _move(members: LabelClass, pod: Pod, row: int, by: int) -> None:
        for group in members.groups:
            if not (group.skip_terminating and pod.is_terminating):
                group.col.add(row, by)

    def _count(self, group: CountGroup) -> None:
        data = group.col.data
        for members in self._classes.values():
            sample = next(iter(members.members.values()))[0]
            if not group.counts(sample):
                continue
            members.groups.append(group)
            for pod, node_name in members.members.values():
                row = self._row_of(node_name)
                if row is not None and not (group.skip_terminating and pod.is_terminating):
                    data[row] += 1

    def _forget(self, old: CountGroup) -> None:
        self._columns.drop(old.col)
        for members in self._classes.values():
            if old in members.groups:
                members.groups.remove(old)


class TermGroup:
    """One affinity term and its owners per node."""

    __slots__ = ("kind", "term", "weight", "col", "owners", "_column")

    def __init__(self, kind: TermKind, term: PodTerm, weight: int, col: CountCol) -> None:
        self.kind = kind
        self.term = term
        self.weight = weight
        self.col = col
        self.owners = 0
        self._column: TermColumn | None = None

    def column(self, n: int) -> TermColumn:
        """As plugins read it."""
        counts = self.col.view(n)
        if self._column is None or self._column.counts is not counts:
            self._column = TermColumn(self.term.topology_key, self.weight, counts)
        return self._column


class _Matches:
    """The terms that match one label set, as far as the list of terms was read."""

    __slots__ = ("found", "read")

    def __init__(self) -> None:
        self.found: dict[TermKind, list[TermGroup]] = {kind: [] for kind in TermKind}
        self.read = 0


class TermGroups:
    """The affinity terms that pods on nodes carry."""

    def __init__(self, columns: Columns, namespace_labels: Callable[[str], Mapping[str, str]]) -> None:
        self._columns = columns
        self._namespace_labels = namespace_labels
        self._groups: dict[tuple[TermKind, PodTerm, int], TermGroup] = {}
        self._list: list[TermGroup] = []
        self._matches: BoundedCache[LabelSet, _Matches] = BoundedCache(MAX_REMEMBERED_LABEL_SETS)
        self._dead = 0

    @property
    def is_any(self) -> bool:
        return bool(self._groups)

    def matching(self, kind: TermKind, pod: Pod) -> list[TermColumn]:
        """The terms of this kind that match a pod."""
        if not self._groups:
            return []
        n = self._columns.n
        found = self._found(pod).found[kind]
        return [group.column(n) for group in found if group.owners]

    def pod_entered(self, pod: Pod, row: int) -> None:
        if pod.spec.affinity is None:
            return
        for kind, term, weight in terms_of(pod):
            group = self._groups.get((kind, term, weight))
            if group is None:
                group = TermGroup(kind, term, weight, self._columns.make_counts())
                self._groups[kind, term, weight] = group
                self._list.append(group)
            group.owners += 1
            group.col.add(row, 1)

    def pod_left(self, pod: Pod, row: int) -> None:
        if pod.spec.affinity is None:
            return
        for kind, term, weight in terms_of(pod):
            group = self._groups[kind, term, weight]
            group.owners -= 1
            group.col.add(row, -1)
            if group.owners == 0:
                del self._groups[kind, term, weight]
                self._columns.drop(group.col)
                self._dead += 1
        if self._dead > 64 and self._dead > len(self._groups):
            self._list = list(self._groups.values())
            self._dead = 0
            self.forget_matches()

    def forget_matches(self) -> None:
        """Namespaces changed, or the list was rewritten: match again when asked."""
        self._matches.clear()

    def _found(self, pod: Pod) -> _Matches:
        key = pod.label_set
        matches = self._matches.get(key)
        if matches is None:
            matches = self._matches[key] = _Matches()
        if matches.read < len(self._list):
            labels = self._namespace_labels(pod.namespace)
            for group in self._list[matches.read :]:
                if term_matches(group.term, pod, labels):
                    matches.found[group.kind].append(group)
            matches.read = len(self._list)
        return matches


def term_matches(term: PodTerm, pod: Pod, namespace_labels: Mapping[str, str]) -> bool:
    """Does a term carried by a pod on a node select this pod, whose namespace has these labels?"""
    if pod.namespace not in term.namespaces:
        selector = term.namespace_selector
        if selector is None or not selector.matches(namespace_labels):
            return False
    return term.selector.matches(pod.labels)


def terms_of(pod: Pod) -> Iterable[tuple[TermKind, PodTerm, int]]:
    """Every affinity term a pod carries, with its weight (0 where it is required)."""
    for kind, read in _READ.items():
        try:
            found = read(pod)
        except ValueError:
            # The API server has let pods in whose selectors cannot be read; such terms select no pod.
            continue
        for weight, term in found:
            yield kind, term, weight


_READ: dict[TermKind, Callable[[Pod], Iterable[tuple[int, PodTerm]]]] = {
    TermKind.REQUIRED_AFFINITY: lambda pod: ((0, term) for term in pod.required_affinity_terms),
    TermKind.REQUIRED_ANTI_AFFINITY: lambda pod: ((0, term) for term in pod.required_anti_affinity_terms),
    TermKind.PREFERRED_AFFINITY: lambda pod: pod.preferred_affinity_terms,
    TermKind.PREFERRED_ANTI_AFFINITY: lambda pod: pod.preferred_anti_affinity_terms,
}
