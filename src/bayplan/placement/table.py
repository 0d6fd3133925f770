"""ClusterTable: all clusters as columns, one row each.

`fleet` keeps it; filters and scorers read it. Rows are reused, names are not: the order of two names never changes, and
`rank` holds it. Columns that only some placements ask about (labels, claims, topologies, add-on scores) come into being
when the first one asks, and are kept up to date from then on.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.objects.quantity import Quantity, parse
from bayplan.objects.third_party.placement import CLAIM, LABEL, AddOnPlacementScore, ManagedCluster
from bayplan.objects.times import parse_time
from bayplan.objects.toleration import Taint

Mask: TypeAlias = npt.NDArray[np.bool_]
Ids: TypeAlias = npt.NDArray[np.int32]
Numbers: TypeAlias = npt.NDArray[np.int64]
SmallNumbers: TypeAlias = npt.NDArray[np.int8]
Amounts: TypeAlias = npt.NDArray[np.float64]

Key: TypeAlias = tuple[str, str]
"""``(Label, key)`` or ``(Claim, name)``."""

ABSENT = 0
FOREVER = float("inf")
RESOURCES = ("cpu", "memory")


def values_of(cluster: ManagedCluster, kind: str) -> Mapping[str, str]:
    """The labels of a cluster, or its claims."""
    return cluster.claims if kind == CLAIM else cluster.labels


class ValueColumn:
    """The value of one label or claim in every row, as a small number; `ABSENT` where there is none."""

    def __init__(self, key: Key, capacity: int) -> None:
        self.kind, self.name = key
        self.ids: Ids = np.zeros(capacity, np.int32)
        self.values: list[str] = [""]
        self._index: dict[str, int] = {}

    def put(self, row: int, cluster: ManagedCluster | None) -> None:
        value = None if cluster is None else values_of(cluster, self.kind).get(self.name)
        self.ids[row] = ABSENT if value is None else self.id_of(value)

    def id_of(self, value: str) -> int:
        known = self._index.get(value)
        if known is None:
            known = self._index[value] = len(self.values)
            self.values.append(value)
        return known

    def find(self, value: str) -> int:
        """The number of a value, `ABSENT` if no cluster ever had it."""
        return self._index.get(value, ABSENT)


class Topology:
    """Levels of keys as a tree: a node is a path of values, so equal zone names in two regions are two zones."""

    def __init__(self, columns: tuple[ValueColumn, ...], capacity: int) -> None:
        self.columns = columns
        self.ids: list[Ids] = [np.zeros(capacity, np.int32) for _ in columns]
        self.parents: list[list[int]] = [[] for _ in columns]
        self.values: list[list[int]] = [[] for _ in columns]
        self._index: list[dict[tuple[int, int], int]] = [{} for _ in columns]
        self._children: dict[int, tuple[int, dict[int, list[int]]]] = {}
        self._rows: dict[int, Numbers] = {}

    def put(self, row: int) -> None:
        node, before = 0, int(self.ids[-1][row])
        for level, column in enumerate(self.columns):
            node = self._node(level, node, int(column.ids[row]))
            self.ids[level][row] = node
        if node != before:
            self._rows.pop(before, None)
            self._rows.pop(node, None)

    def grow(self, capacity: int) -> None:
        self.ids = [grown(each, capacity) for each in self.ids]
        self._rows.clear()

    def rows(self, leaf: int) -> Numbers:
        """The rows in a node of the last level; rows that nobody uses may be among them."""
        found = self._rows.get(leaf)
        if found is None:
            found = self._rows[leaf] = np.flatnonzero(self.ids[-1] == leaf)
        return found

    def _node(self, level: int, parent: int, value: int) -> int:
        index = self._index[level]
        node = index.get((parent, value))
        if node is None:
            node = index[parent, value] = len(index)
            self.parents[level].append(parent)
            self.values[level].append(value)
        return node

    def children(self, level: int, parent: int) -> list[int]:
        """The nodes under a node of the level above, by name; 0 is the root."""
        kept = self._children.get(level)
        if kept is None or kept[0] != len(self.values[level]):
            found: dict[int, list[int]] = {}
            for node in sorted(range(len(self.values[level])), key=lambda node: self.name(level, node)):
                found.setdefault(self.parents[level][node], []).append(node)
            kept = self._children[level] = len(self.values[level]), found
        return kept[1].get(parent, [])

    def name(self, level: int, node: int) -> str:
        """The value that makes this node, without its parents; "" where the key is missing."""
        return self.columns[level].values[self.values[level][node]]

    def path(self, level: int, node: int) -> tuple[str, ...]:
        names: list[str] = []
        for each in range(level, -1, -1):
            names.append(self.name(each, node))
            node = self.parents[each][node]
        return tuple(reversed(names))

    def is_known(self, level: int, node: int) -> bool:
        return self.values[level][node] != ABSENT


class ScoreColumn:
    """One add-on score in every row, and until when it holds; 0 where there is none."""

    def __init__(self, resource: str, name: str, capacity: int) -> None:
        self.resource, self.name = resource, name
        self.values: Numbers = np.zeros(capacity, np.int64)
        self.until: Amounts = np.full(capacity, FOREVER)
        self.timed: set[int] = set()
        """Rows whose score holds only so long."""

    def put(self, row: int, score: AddOnPlacementScore | None) -> None:
        items = () if score is None else score.status.scores or ()
        found = next((each.value for each in items if each.name == self.name), None)
        self.values[row] = found or 0
        until = None if score is None or found is None else time_of(score.status.valid_until)
        self.until[row] = FOREVER if until is None else until
        (self.timed.discard if until is None else self.timed.add)(row)


class ClusterTable:
    """Clusters as rows; `apply` and `remove` change them, everybody else reads."""

    def __init__(self, capacity: int = 64) -> None:
        self.capacity = capacity
        self.row_of: dict[str, int] = {}
        self.clusters: list[ManagedCluster | None] = [None] * capacity
        self.alive: Mask = np.zeros(capacity, np.bool_)
        self.rank: Numbers = np.zeros(capacity, np.int64)
        self.decisions: Numbers = np.zeros(capacity, np.int64)
        self.taint_ids: Ids = np.zeros(capacity, np.int32)
        self.taints: list[tuple[Taint, ...]] = [()]
        """All different lists of taints that clusters have; the first one is of those without."""
        self.amounts: dict[str, Amounts] = {name: np.full(capacity, np.nan) for name in RESOURCES}
        self.scores: dict[tuple[str, str], AddOnPlacementScore] = {}
        self._taint_index: dict[tuple[Taint, ...], int] = {(): 0}
        self._taint_uses: list[int] = [0]
        self._taint_holes: list[int] = []
        self._recounted: list[int] = []
        self._recounts = 0
        self._columns: dict[Key, ValueColumn] = {}
        self._topologies: dict[tuple[Key, ...], Topology] = {}
        self._score_columns: dict[tuple[str, str], ScoreColumn] = {}
        self._names: list[str] = []
        self._free = list(range(capacity - 1, -1, -1))

    def __len__(self) -> int:
        return len(self.row_of)

    def name(self, row: int) -> str:
        cluster = self.clusters[row]
        assert cluster is not None
        return cluster.name

    def apply(self, cluster: ManagedCluster) -> int:
        """Put a cluster into its row, or into a new one; which row that is."""
        row = self.row_of.get(cluster.name)
        if row is None:
            row = self._take(cluster.name)
        self.clusters[row] = cluster
        self.alive[row] = not cluster.is_terminating
        self._taint(row, cluster.taints)
        status = cluster.status
        for name, column in self.amounts.items():
            given, capacity = (status.allocatable or {}).get(name), (status.capacity or {}).get(name)
            column[row] = np.nan if given is None or capacity is None else _amount(given)
        self._put(row, cluster)
        return row

    def remove(self, name: str) -> int | None:
        """Free a cluster's row; which one it was."""
        row = self.row_of.pop(name, None)
        if row is None:
            return None
        place = bisect_left(self._names, name)
        del self._names[place]
        self.rank[self.rank > place] -= 1
        self.clusters[row] = None
        self.alive[row] = False
        self._taint(row, ())
        self.decisions[row] = 0
        for column in self.amounts.values():
            column[row] = np.nan
        self._put(row, None)
        self._free.append(row)
        return row

    def recount(self, rows: Numbers, is_more: Mask) -> None:
        """One placement more has each of these clusters, or one fewer."""
        self.decisions[rows] += np.where(is_more, 1, -1)
        if len(self._recounted) > self.capacity:
            self._recounted.clear()
        self._recounted += rows.tolist()
        self._recounts += len(rows)

    @property
    def recounts(self) -> int:
        """A mark for `recounted`."""
        return self._recounts

    def recounted(self, since: int) -> list[int] | None:
        """Rows whose count changed since that mark; None if it was too long ago to know."""
        number = self._recounts - since
        if number > len(self._recounted):
            return None
        return self._recounted[len(self._recounted) - number :]

    def apply_score(self, score: AddOnPlacementScore, *, is_gone: bool = False) -> int | None:
        """Take an add-on's scores for a cluster, or their absence; the row, None if there is no such cluster."""
        key = (score.namespace, score.name)
        if is_gone:
            self.scores.pop(key, None)
        else:
            self.scores[key] = score
        row = self.row_of.get(score.namespace)
        if row is not None:
            for (resource, _), column in self._score_columns.items():
                if resource == score.name:
                    column.put(row, self.scores.get(key))
        return row

    def column(self, key: Key) -> ValueColumn:
        """The values of a label or claim."""
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = ValueColumn(key, self.capacity)
            for row, cluster in self.rows():
                column.put(row, cluster)
        return column

    def topology(self, keys: tuple[Key, ...]) -> Topology:
        """The tree of these keys."""
        topology = self._topologies.get(keys)
        if topology is None:
            topology = Topology(tuple(self.column(key) for key in keys), self.capacity)
            self._topologies[keys] = topology
            for row, _ in self.rows():
                topology.put(row)
        return topology

    def score_column(self, resource: str, name: str) -> ScoreColumn:
        column = self._score_columns.get((resource, name))
        if column is None:
            column = self._score_columns[resource, name] = ScoreColumn(resource, name, self.capacity)
            for row, cluster in self.rows():
                column.put(row, self.scores.get((cluster.name, resource)))
        return column

    def score_items(self, cluster: str, resource: str) -> list[dict[str, Any]] | None:
        """An add-on's scores of a cluster, as expressions read them."""
        score = self.scores.get((cluster, resource))
        if score is None:
            return None
        return [{"name": each.name, "value": each.value} for each in score.status.scores or ()]

    def rows(self) -> Iterator[tuple[int, ManagedCluster]]:
        for row in self.row_of.values():
            cluster = self.clusters[row]
            assert cluster is not None
            yield row, cluster

    def _put(self, row: int, cluster: ManagedCluster | None) -> None:
        for column in self._columns.values():
            column.put(row, cluster)
        for topology in self._topologies.values():
            topology.put(row)
        for (resource, _), scored in self._score_columns.items():
            scored.put(row, None if cluster is None else self.scores.get((cluster.name, resource)))

    def _take(self, name: str) -> int:
        if not self._free:
            self._grow()
        row = self._free.pop()
        self.row_of[name] = row
        place = bisect_left(self._names, name)
        insort(self._names, name)
        # Free rows keep some old rank; nobody reads it.
        self.rank[self.rank >= place] += 1
        self.rank[row] = place
        return row

    def _taint(self, row: int, taints: tuple[Taint, ...]) -> None:
        """Taints carry times, so new lists keep coming; one that nobody has makes room for another."""
        before, known = int(self.taint_ids[row]), self._taint_index.get(taints)
        if known is None:
            known = self._taint_holes.pop() if self._taint_holes else len(self.taints)
            self._taint_index[taints] = known
            self.taints[known : known + 1] = [taints]
            self._taint_uses[known : known + 1] = [0]
        self.taint_ids[row] = known
        self._taint_uses[known] += 1
        self._taint_uses[before] -= 1
        if before and not self._taint_uses[before]:
            del self._taint_index[self.taints[before]]
            self._taint_holes.append(before)

    def _grow(self) -> None:
        old, self.capacity = self.capacity, self.capacity * 3 // 2
        self._free = list(range(self.capacity - 1, old - 1, -1))
        self.clusters += [None] * (self.capacity - old)
        self.alive, self.rank = grown(self.alive, self.capacity), grown(self.rank, self.capacity)
        self.decisions, self.taint_ids = grown(self.decisions, self.capacity), grown(self.taint_ids, self.capacity)
        self.amounts = {name: grown(each, self.capacity, np.nan) for name, each in self.amounts.items()}
        for column in self._columns.values():
            column.ids = grown(column.ids, self.capacity)
        for topology in self._topologies.values():
            topology.grow(self.capacity)
        for scored in self._score_columns.values():
            scored.values = grown(scored.values, self.capacity)
            scored.until = grown(scored.until, self.capacity, FOREVER)


def grown(array: npt.NDArray[Any], capacity: int, fill: float = 0) -> npt.NDArray[Any]:
    """A longer copy."""
    longer = np.full(capacity, fill, array.dtype)
    longer[: len(array)] = array
    return longer


def _amount(given: Quantity) -> float:
    """An amount as a number; one that is none counts as not told, so that one odd object does not stop a hub."""
    try:
        return float(parse(given))
    except ValueError:
        return float("nan")


def time_of(text: str | None) -> float | None:
    """A time as a number; one that is none counts as not told."""
    try:
        return parse_time(text)
    except ValueError:
        return None


def key_of(kind: str, name: str) -> Key:
    return (CLAIM if kind == CLAIM else LABEL, name)
