"""
ColumnTable: the node table that ``engine.cache`` owns and plugins read.

It holds what nodes *are* (objects, labels, taints, images) and what the pods on them add up to.  Only the
cache writes to it, through the methods under "written by the cache".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import structlog

from bayplan.engine.columns import Col, Columns, DerivedColumn, LabelIds
from bayplan.engine.count_groups import CountGroups, CountsFork
from bayplan.engine.journal import Stamps
from bayplan.engine.kept.sum_numbers import SumNumbers, Sums
from bayplan.engine.node_images import NodeImages
from bayplan.engine.pod_indexes import PodIndexes
from bayplan.engine.term_groups import TermGroups
from bayplan.framework.snapshot import (
    COLUMNS,
    Column,
    ImageState,
    LabelColumn,
    NodeTable,
    NodeView,
    PodMatcher,
    Rows,
    TermColumn,
    TermKind,
)
from bayplan.framework.summing import Ids
from bayplan.objects.node import Node, Taint
from bayplan.objects.pod import Pod

log = structlog.get_logger()

T = TypeVar("T")

# Columns of one name; whoever needs more has a function that is another one each time.
MAX_DERIVED = 8
_NOTHING_TAKEN = (0,) * 6
_TAKEN = ("req_cpu_milli", "req_mem_bytes", "nz_cpu_milli", "nz_mem_bytes")
_AMOUNTS = tuple(name for name in COLUMNS if name.startswith(("alloc_", "req_", "nz_", "pods_")))


class ColumnTable(NodeTable):
    """All nodes as columns."""

    def __init__(self, columns: Columns, stamps: Stamps) -> None:
        self.columns = columns
        self._stamps = stamps
        self.names: list[str] = []
        self.objects: list[Node] = []
        self.pods: list[dict[str, Pod]] = []
        self.objects_generation = 0
        self.taint_sets: list[tuple[Taint, ...]] = [()]
        self._taints_ids: dict[tuple[Taint, ...], int] = {(): 0}
        self._rows: dict[str, int] = {}
        self._fixed: dict[str, Col] = {name: columns.make(dtype) for name, dtype in COLUMNS.items()}
        self._revision = columns.make(np.int64)
        self._handed_out: list[str] = []
        """Fixed columns that are attributes now, as plugins asked for them."""
        self.sums = SumNumbers(columns, self._sums)
        self._labels: dict[str, LabelIds] = {}
        self._derived: dict[str, list[DerivedColumn]] = {}
        """By name; two plugins may choose the same one for different functions."""
        self._scalar_alloc: dict[str, Col] = {}
        self._scalar_req: dict[str, Col] = {}
        self._images = NodeImages()
        self._indexes = PodIndexes()
        self.counts: CountGroups | CountsFork
        self.term_groups: TermGroups
        self._base: ColumnTable | None = None
        """What this was forked from, while node objects are the same in both."""
        self._is_fork = False
        self._own_pods: set[str] = set()
        """Of a fork: the nodes whose pods it need not copy any more."""
        self.resized()

    def fork(self, columns: Columns) -> ColumnTable:
        """The same nodes and pods, to be changed without changing this table, which must stay as it is meanwhile."""
        fork = ColumnTable.__new__(ColumnTable)
        fork.__dict__ |= {name: value for name, value in self.__dict__.items() if name not in self._handed_out}
        fork._handed_out = []
        fork.columns = columns
        fork._base, fork._is_fork, fork._own_pods = self, True, set()
        fork._fixed = {name: columns.share(col) for name, col in self._fixed.items()}
        fork._revision = columns.share(self._revision)
        fork._scalar_alloc = {name: columns.share(col) for name, col in self._scalar_alloc.items()}
        fork._scalar_req = {name: columns.share(col) for name, col in self._scalar_req.items()}
        fork.sums = self.sums.fork(columns, fork._sums)
        fork._labels, fork._derived = {}, {}
        fork._indexes = self._indexes.fork()
        fork.counts = CountsFork(self.counts, columns)
        fork.term_groups = self.term_groups.fork(columns)
        return fork

    # -- read by plugins --

    def row_of(self, name: str) -> int | None:
        return self._rows.get(name)

    def node(self, row: int) -> NodeView:
        return NodeView(self, row)

    def object_at(self, row: int) -> Node:
        return self.objects[row]

    def pods_at(self, row: int) -> Iterable[Pod]:
        return self.pods[row].values()

    def label(self, key: str) -> LabelColumn:
        ids = self._labels.get(key)
        return (self._label_ids(key) if ids is None else ids).column(self.columns.n)

    def scalar_alloc(self, resource: str) -> npt.NDArray[np.int64]:
        return self._scalar(self._scalar_alloc, resource).view(self.columns.n)

    def scalar_req(self, resource: str) -> npt.NDArray[np.int64]:
        return self._scalar(self._scalar_req, resource).view(self.columns.n)

    def derive(self, name: str, of: Callable[[Node], Any], dtype: type[np.generic]) -> Column:
        return self._derived_column(name, of, dtype).col.view(self.columns.n)

    def image(self, name: str) -> ImageState | None:
        return self._images.state(name, self.objects_generation, self._rows)

    def port_users(self, protocol: str, port: int) -> Iterable[tuple[int, str]]:
        for node_name, ip in self._indexes.port_users(protocol, port):
            yield self._rows[node_name], ip

    def storage_users(self, key: tuple[str, ...]) -> Iterable[tuple[int, Pod]]:
        for pod in self._indexes.storage_users(key):
            yield self._rows[pod.node_name], pod

    def pods_of(self, kind: str, namespace: str, name: str) -> Iterable[tuple[int, Pod]]:
        owned = self._indexes.owned((kind, namespace, name), self._everybody)
        for pod in owned.values():
            yield self._rows[pod.node_name], pod

    def _everybody(self) -> Iterable[Pod]:
        return (pod for pods in self.pods for pod in pods.values())

    def matching_pods(self, *all_of: PodMatcher, skip_terminating: bool = False) -> npt.NDArray[np.int32]:
        return self.counts.ask(all_of, skip_terminating)

    def summed(self, counts: npt.NDArray[np.int32], ids: Ids, size: int) -> npt.NDArray[np.int64]:
        return self.columns.summed(counts, ids, size)

    @property
    def has_terms(self) -> bool:
        return self.term_groups.is_any

    def terms(self, kind: TermKind, pod: Pod) -> Sequence[TermColumn]:
        return self.term_groups.matching(kind, pod)

    # -- written by the cache --

    def resized(self) -> None:
        """Rows were added or removed: the fixed columns are handed out anew when they are next asked for."""
        self.total_nodes = self.columns.n
        for name in self._handed_out:
            del self.__dict__[name]
        self._handed_out.clear()

    def __getattr__(self, name: str) -> Column:
        column = self._revision if name == "revision" else self._fixed.get(name)
        if column is None:
            raise AttributeError(f"a node table has no {name}")
        view = column.view(self.columns.n)
        if not self._is_fork:  # there it may be another array at the next change
            self.__dict__[name] = view
            self._handed_out.append(name)
        return view

    def touched(self, row: int, stamp: int) -> None:
        """Something about the row is new."""
        if row < self.columns.n:  # the row of a node that is gone may have been the last one
            self._revision.own()[row] = stamp

    def append(self, node: Node) -> int:
        self._rows_will_move()
        row = self.columns.append()
        self.names.append(node.name)
        self.objects.append(node)
        self.pods.append({})
        self._rows[node.name] = row
        self.write_object(row, None, node)
        has = node.allocatable
        if not has.scalars:
            self.sums.begin(row, (has.cpu_milli, has.memory_bytes, has.ephemeral_bytes, has.pods, *_NOTHING_TAKEN))
        self.resized()
        return row

    def remove(self, row: int) -> None:
        """Remove an emptied row; the last row moves into its place."""
        self._rows_will_move()
        gone = self.objects[row]
        self._images.forget(gone)
        self.columns.remove(row)
        self.counts.row_removed(row, self.columns.n)
        _swap_out(self.names, row)
        _swap_out(self.objects, row)
        _swap_out(self.pods, row)
        del self._rows[gone.name]
        if row < len(self.names):
            self._rows[self.names[row]] = row
        self._objects_changed()
        self._trim_labels()
        self.resized()

    def write_object(self, row: int, old: Node | None, node: Node) -> None:
        """Write what a node object says; what its pods add up to stays."""
        self._own_objects()
        self.objects[row] = node
        self._objects_changed()
        self.sums.forget(row)
        fixed = self._fixed
        allocatable = node.allocatable
        fixed["alloc_cpu_milli"].own()[row] = allocatable.cpu_milli
        fixed["alloc_mem_bytes"].own()[row] = allocatable.memory_bytes
        fixed["alloc_eph_bytes"].own()[row] = allocatable.ephemeral_bytes
        fixed["alloc_pods_count"].own()[row] = allocatable.pods
        fixed["unschedulable"].own()[row] = node.unschedulable
        fixed["taints_id"].own()[row] = self._taints_id(node.taints)
        for resource, col in self._scalar_alloc.items():
            col.own()[row] = allocatable.scalars.get(resource, 0)
        for resource in allocatable.scalars:
            self._scalar(self._scalar_alloc, resource).own()[row] = allocatable.scalars[resource]
        for ids in self._labels.values():
            ids.write(row, node.labels)
        self._write_derived(row, node)
        if old is not None:
            self._images.forget(old)
        self._images.add(node)

    def own_pods(self, row: int) -> dict[str, Pod]:
        """The pods of a row, to be changed."""
        if self._is_fork and (name := self.names[row]) not in self._own_pods:
            if not self._own_pods:
                self.pods = list(self.pods)
            self._own_pods.add(name)
            self.pods[row] = dict(self.pods[row])
        return self.pods[row]

    def move_pod(self, row: int, pod: Pod, sign: int) -> None:
        """A pod enters (+1) or leaves (-1) a row."""
        fixed, accounted = self._fixed, pod.accounted
        # Written out: this is done for every pod, and a loop over ``_TAKEN`` takes longer.
        cpu, memory, nonzero_cpu, nonzero_memory = sums = plain_sums(pod)
        fixed["req_cpu_milli"].own()[row] += sign * cpu
        fixed["req_mem_bytes"].own()[row] += sign * memory
        fixed["nz_cpu_milli"].own()[row] += sign * nonzero_cpu
        fixed["nz_mem_bytes"].own()[row] += sign * nonzero_memory
        fixed["pods_count"].own()[row] += sign
        if accounted.ephemeral_bytes:
            fixed["req_eph_bytes"].own()[row] += sign * accounted.ephemeral_bytes
        for resource, amount in accounted.scalars.items():
            self._scalar(self._scalar_req, resource).own()[row] += sign * amount
        if accounted.ephemeral_bytes or accounted.scalars:
            self.sums.forget(row)
        else:
            self.sums.step(row, sums, sign)
        if pod.spec.volumes:
            fixed["attachable_count"].own()[row] += sign * pod.attachable_count
        self._indexes.move(pod, self.names[row], sign)

    def move_alike(self, rows: Rows, pods: Sequence[Pod]) -> None:
        """Pods of one template enter their rows; the numbers of the rows' sums are as they will be already."""
        for name, amount in zip(_TAKEN, plain_sums(pods[0]), strict=True):
            np.add.at(self._fixed[name].own(), rows, amount)
        np.add.at(self._fixed["pods_count"].own(), rows, 1)
        self._indexes.put_owned(pods)

    def touched_each(self, rows: Rows, stamp: int) -> None:
        """Something about each of these rows is new, the last of them at this stamp."""
        self._revision.own()[rows] = np.arange(stamp + 1 - len(rows), stamp + 1)

    def pod_replaced(self, pod: Pod) -> None:
        """A newer version of a pod without volumes, owned by the same objects."""
        self._indexes.put_owned((pod,))

    # -- private --

    def _label_ids(self, key: str) -> LabelIds:
        ids = self._labels.get(key)
        if ids is None:
            base = None if self._base is None else self._base._label_ids(key)
            ids = self._labels[key] = LabelIds(key, self.columns, base)
            for row, node in enumerate(self.objects) if base is None else ():
                ids.write(row, node.labels)
        return ids

    def _derived_column(self, name: str, of: Callable[[Node], Any], dtype: type[np.generic]) -> DerivedColumn:
        known = self._derived.setdefault(name, [])
        for derived in known:
            if derived.is_by(of, dtype):
                return derived
        base = None if self._base is None else self._base._derived_column(name, of, dtype)
        derived = DerivedColumn(of, dtype, self.columns, base)
        try:
            for row, node in enumerate(self.objects) if base is None else ():
                derived.write(row, node)
        except Exception:
            self.columns.drop(derived.col)
            raise
        if len(known) >= MAX_DERIVED:
            # A function that is never the same again; each answer is right, and none is worth keeping.
            self.columns.drop(known.pop(0).col)
        known.append(derived)
        return derived

    def _own_objects(self) -> None:
        """Node objects are about to be other ones than in what this was forked from."""
        if self._base is None:
            return
        self._base = None
        self.names, self.objects, self.pods = list(self.names), list(self.objects), list(self.pods)
        self._rows = dict(self._rows)
        self.taint_sets, self._taints_ids = list(self.taint_sets), dict(self._taints_ids)
        self._images = self._images.copy()

    def _rows_will_move(self) -> None:
        self._own_objects()
        self.term_groups.rows_will_move()

    def _objects_changed(self) -> None:
        self.objects_generation = self._stamps.take()
        self.columns.forget_sums()

    def _sums(self, row: int) -> Sums:
        """What the node has and what its pods add up to, in numbers."""
        fixed = (self._fixed[name].data.item(row) for name in _AMOUNTS)
        kept = (("has", self._scalar_alloc), ("takes", self._scalar_req))
        scalars = (
            (which, resource, amount)
            for which, columns in kept
            for resource, column in columns.items()
            if (amount := column.data.item(row))
        )
        return (*fixed, *scalars)

    def _write_derived(self, row: int, node: Node) -> None:
        for name, derived in [(name, each) for name, same in self._derived.items() for each in same]:
            try:
                derived.write(row, node)
            except Exception as error:
                # A plugin's function must not keep a node out.  The column is made anew when it is next asked
                # for, and then the error is the plugin's own and fails its pod.
                log.warning("derived column dropped", column=name, node=node.name, error=repr(error))
                self.columns.drop(derived.col)
                self._derived[name].remove(derived)

    def _scalar(self, cols: dict[str, Col], resource: str) -> Col:
        col = cols.get(resource)
        if col is None:
            col = cols[resource] = self.columns.make(np.int64)
        return col

    def _taints_id(self, taints: tuple[Taint, ...]) -> int:
        number = self._taints_ids.get(taints)
        if number is None:
            number = self._taints_ids[taints] = len(self.taint_sets)
            self.taint_sets.append(taints)
        return number

    def _trim_labels(self) -> None:
        """Names of nodes long gone must not make every count array longer for ever."""
        for key, ids in list(self._labels.items()):
            if len(ids.values) > 2 * self.columns.n + 1024:
                self.columns.drop(ids.col)
                del self._labels[key]


def plain_sums(pod: Pod) -> tuple[int, int, int, int]:
    """What a pod adds to the columns of CPU and memory (``_TAKEN``)."""
    accounted = pod.accounted
    return (accounted.cpu_milli, accounted.memory_bytes, *pod.nonzero)


def _swap_out(rows: list[T], row: int) -> None:
    last = rows.pop()
    if row < len(rows):
        rows[row] = last
