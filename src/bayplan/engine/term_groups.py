"""
Term groups: the affinity terms that pods on nodes carry, each with its owners per node, kept as pods come and go.

A pod's labels are matched against the terms once per distinct label set, and remembered.  ``engine.cache`` tells this
module of every pod that enters or leaves a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from bayplan.bounded_cache import BoundedCache
from bayplan.engine.columns import Columns, CountCol
from bayplan.engine.count_groups import LabelSet
from bayplan.framework.snapshot import TermColumn, TermKind
from bayplan.objects.pod import Pod
from bayplan.objects.selector import PodTerm

MAX_REMEMBERED_LABEL_SETS = 8192

TermGroupKey: TypeAlias = "tuple[TermKind, PodTerm, int]"
"""What makes two terms the same: kind, term and weight."""


@dataclass(slots=True, eq=False)
class TermGroup:
    """One affinity term and its owners per node."""

    kind: TermKind
    term: PodTerm
    weight: int
    col: CountCol
    owners: int = 0
    _column: TermColumn | None = None

    @property
    def key(self) -> TermGroupKey:
        return self.kind, self.term, self.weight

    def column(self, n: int) -> TermColumn:
        """As plugins read it."""
        counts = self.col.view(n)
        if self._column is None or self._column.counts is not counts:
            self._column = TermColumn(self.term.topology_key, self.weight, counts)
        return self._column


@dataclass(slots=True, eq=False)
class _Matches:
    """The terms that match one label set, as far as the list of terms was read."""

    found: dict[TermKind, list[TermGroup]] = field(default_factory=lambda: {kind: [] for kind in TermKind})
    read: int = 0


class TermGroups:
    """
    The affinity terms that pods on nodes carry.

    A fork has groups of its own where its pods differ from those of what it was forked from, and asks that else.
    """

    def __init__(
        self,
        columns: Columns,
        namespace_labels: Callable[[str], Mapping[str, str]],
        base: TermGroups | None = None,
    ) -> None:
        self._columns = columns
        self._namespace_labels = namespace_labels
        self._base = base
        self._groups: dict[TermGroupKey, TermGroup] = {}
        self._list: list[TermGroup] = []
        self._matches: BoundedCache[LabelSet, _Matches] = BoundedCache(MAX_REMEMBERED_LABEL_SETS)
        self._dead = 0

    def fork(self, columns: Columns) -> TermGroups:
        return TermGroups(columns, self._namespace_labels, self)

    @property
    def is_any(self) -> bool:
        return bool(self._groups) if self._base is None else any(True for _ in self._live())

    def matching(self, kind: TermKind, pod: Pod) -> list[TermColumn]:
        """The terms of this kind that match a pod."""
        n = self._columns.n
        return [group.column(n) for group in self._groups_matching(kind, pod)]

    def rows_will_move(self) -> None:
        """Rows are about to be numbered anew; ``Columns`` sees to the counts, as far as they are our own."""
        for key in () if self._base is None else list(self._base._live()):
            self._own(key)

    def pod_entered(self, pod: Pod, row: int) -> None:
        self._move(pod, row, 1)

    def pod_left(self, pod: Pod, row: int) -> None:
        self._move(pod, row, -1)

    def forget_matches(self) -> None:
        """Namespaces changed, or the list was rewritten: match again when asked."""
        self._matches.clear()

    def _move(self, pod: Pod, row: int, by: int) -> None:
        if pod.spec.affinity is None:
            return
        for key in terms_of(pod):
            group = self._own(key)
            group.owners += by
            group.col.add(row, by)
            # An empty group of a fork stays, since it hides that of the base.
            if group.owners == 0 and self._base is None:
                del self._groups[key]
                self._columns.drop(group.col)
                self._dead += 1
        if self._dead > 64 and self._dead > len(self._groups):
            self._list = list(self._groups.values())
            self._dead = 0
            self.forget_matches()

    def _own(self, key: TermGroupKey) -> TermGroup:
        """The group of a term, to be changed."""
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = TermGroup(*key, self._columns.make_counts())
            self._list.append(group)
            known = None if self._base is None else self._base._group(key)
            if known is not None:
                group.owners = known.owners
                group.col.data[: len(known.col.data)] = known.col.data
        return group

    def _group(self, key: TermGroupKey) -> TermGroup | None:
        return self._groups.get(key) or (None if self._base is None else self._base._group(key))

    def _live(self) -> Iterable[TermGroupKey]:
        """The terms that some pod carries."""
        if self._base is not None:
            yield from (key for key in self._base._live() if key not in self._groups)
        yield from (key for key, group in self._groups.items() if group.owners)

    def _groups_matching(self, kind: TermKind, pod: Pod) -> list[TermGroup]:
        found: list[TermGroup] = []
        if self._base is not None:
            found += [group for group in self._base._groups_matching(kind, pod) if group.key not in self._groups]
        if self._groups:
            found += [group for group in self._found(pod).found[kind] if group.owners]
        return found

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
