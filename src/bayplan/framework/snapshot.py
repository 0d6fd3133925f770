"""
The cluster as plugins see it: ``NodeTable`` (all nodes, as read-only columns) and ``NodeView`` (one row).

Column names say what and in which unit (``req_cpu_milli``); the same name on a ``NodeView`` gives that
node's number, so one expression can serve both forms of a plugin.  Tables are filled by ``engine.cache``;
nothing here can change a cluster.  A table is valid until the next change of the cluster, which in the
engine means: for the whole of one scheduling cycle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.framework import selecting
from bayplan.framework.summing import Ids, summed
from bayplan.objects.node import Node, Taint
from bayplan.objects.pod import HostPort, Pod
from bayplan.objects.pod_template import PodTemplate
from bayplan.objects.selector import NodeRequirement, Selector

Codes: TypeAlias = "npt.NDArray[np.integer[Any]]"
"""One small integer per node: 0 passes, k is the k-th reason."""

Scores: TypeAlias = "npt.NDArray[np.int64]"
"""One integer per node."""

Mask: TypeAlias = "npt.NDArray[np.bool_]"
"""One truth per node."""

Rows: TypeAlias = "npt.NDArray[np.intp]"
"""Row numbers of some nodes, ascending."""

Column: TypeAlias = "npt.NDArray[Any]"

COLUMNS: dict[str, type[np.generic]] = {
    "alloc_cpu_milli": np.int64,
    "alloc_mem_bytes": np.int64,
    "alloc_eph_bytes": np.int64,
    "alloc_pods_count": np.int64,
    "req_cpu_milli": np.int64,
    "req_mem_bytes": np.int64,
    "req_eph_bytes": np.int64,
    "pods_count": np.int64,
    "nz_cpu_milli": np.int64,
    "nz_mem_bytes": np.int64,
    "attachable_count": np.int64,
    "unschedulable": np.bool_,
    "taints_id": np.int32,
}
"""
The fixed columns.  ``nz_`` counts pods without requests at their scoring defaults; ``attachable_count`` is how many
volumes of pods may have to be attached to the node, a volume of two pods counted twice.
"""


def read_only(column: Column) -> Column:
    """The same numbers, to be handed to plugins."""
    view = column.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """One node label as numbers: ``ids[row]`` indexes ``values``; -1 where the node lacks the label."""

    key: str
    ids: npt.NDArray[np.int32]
    values: Sequence[str]
    id_of: Mapping[str, int]

    def zeros(self, dtype: type[np.generic] = np.int64) -> Column:
        """A count per value, with one spare slot at the end that ``-1`` reads and that stays 0."""
        return np.zeros(len(self.values) + 1, dtype)


@dataclass(frozen=True, slots=True)
class PodMatcher:
    """Pods of some namespaces (``None``: all) whose labels match."""

    namespaces: frozenset[str] | None
    selector: Selector

    def matches(self, pod: Pod | PodTemplate) -> bool:
        if self.namespaces is not None and pod.namespace not in self.namespaces:
            return False
        return self.selector.matches(pod.labels)


class TermKind(Enum):
    """The affinity terms that pods on nodes carry, by what they mean for a pod still to be placed."""

    REQUIRED_AFFINITY = "required affinity"
    REQUIRED_ANTI_AFFINITY = "required anti-affinity"
    PREFERRED_AFFINITY = "preferred affinity"
    PREFERRED_ANTI_AFFINITY = "preferred anti-affinity"

    # Asked four times for every pod; the hash of an Enum is made in Python, from its name.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class TermColumn:
    """How many pods on each node carry one affinity term (weight 0 for required terms)."""

    topology_key: str
    weight: int
    counts: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ImageState:
    """Where an image is: its size as first reported, and the rows of the nodes that have it."""

    size_bytes: int
    num_nodes: int
    rows: Rows


class NodeTable(ABC):
    """All nodes.  Fixed columns are attributes; the rest is asked for by name."""

    alloc_cpu_milli: npt.NDArray[np.int64]
    alloc_mem_bytes: npt.NDArray[np.int64]
    alloc_eph_bytes: npt.NDArray[np.int64]
    alloc_pods_count: npt.NDArray[np.int64]
    req_cpu_milli: npt.NDArray[np.int64]
    req_mem_bytes: npt.NDArray[np.int64]
    req_eph_bytes: npt.NDArray[np.int64]
    pods_count: npt.NDArray[np.int64]
    nz_cpu_milli: npt.NDArray[np.int64]
    nz_mem_bytes: npt.NDArray[np.int64]
    attachable_count: npt.NDArray[np.int64]
    unschedulable: Mask
    taints_id: npt.NDArray[np.int32]

    revision: npt.NDArray[np.int64]
    """
    A number per node that is another one whenever the node or a pod on it has changed: what a plugin worked out for a
    node stays good while it stands.  -1 where pods are imagined on or off the node.
    """

    names: Sequence[str]
    total_nodes: int
    """Nodes in the cluster: the same as ``len`` unless the table shows a single node."""
    objects_generation: int
    """Moves whenever any node object changes; masks over labels and taints stay valid while it stands."""
    taint_sets: Sequence[tuple[Taint, ...]]
    """The distinct taint lists of nodes; ``taints_id`` indexes it.  It only grows."""

    def __len__(self) -> int:
        return len(self.names)

    # -- one row --

    @abstractmethod
    def row_of(self, name: str) -> int | None:
        """The row of a node, or ``None``."""

    @abstractmethod
    def node(self, row: int) -> NodeView:
        """One row as a node."""

    @abstractmethod
    def object_at(self, row: int) -> Node: ...

    @abstractmethod
    def pods_at(self, row: int) -> Iterable[Pod]: ...

    # -- columns by name --

    @abstractmethod
    def label(self, key: str) -> LabelColumn:
        """A node label as a column."""

    @abstractmethod
    def scalar_alloc(self, resource: str) -> npt.NDArray[np.int64]:
        """Allocatable of an extended resource; zeros where nodes have none."""

    @abstractmethod
    def scalar_req(self, resource: str) -> npt.NDArray[np.int64]:
        """What pods request of an extended resource."""

    @abstractmethod
    def derive(self, name: str, of: Callable[[Node], Any], dtype: type[np.generic]) -> Column:
        """A column computed from node objects, kept up to date as they change.  ``name`` identifies it."""

    @abstractmethod
    def image(self, name: str) -> ImageState | None:
        """Which nodes hold an image."""

    @abstractmethod
    def port_users(self, protocol: str, port: int) -> Iterable[tuple[int, str]]:
        """(row, host IP) of every use of a host port."""

    @abstractmethod
    def storage_users(self, key: tuple[str, ...]) -> Iterable[tuple[int, Pod]]:
        """(row, pod) of every pod on a node that mounts this claim or inline disk; see ``Pod.storage_keys``."""

    @abstractmethod
    def pods_of(self, kind: str, namespace: str, name: str) -> Iterable[tuple[int, Pod]]:
        """(row, pod) of every pod on a node that this object owns."""

    # -- counts of pods --

    @abstractmethod
    def matching_pods(self, *all_of: PodMatcher, skip_terminating: bool = False) -> npt.NDArray[np.int32]:
        """Pods on each node that match every matcher.  Counts are kept, not recounted."""

    def summed(self, counts: npt.NDArray[np.int32], ids: Ids, size: int) -> npt.NDArray[np.int64]:
        """
        Counts per node (of ``matching_pods`` or a term), added up over domains: ``ids`` says each node's domain, and
        nodes with -1 or ``size - 1`` count nowhere.  Sums over ids that cannot be written to are kept, not recounted.
        """
        return summed(counts, ids, size)

    @property
    def has_terms(self) -> bool:
        """Does any pod on a node carry an affinity term?  If that is not known, yes."""
        return True

    @abstractmethod
    def terms(self, kind: TermKind, pod: Pod) -> Sequence[TermColumn]:
        """The terms of pods on nodes that match this pod, each with its owners per node."""

    # -- selections, worked out once per distinct question --

    def matching(self, requirement: NodeRequirement) -> Mask:
        """Which nodes a compiled node selector and affinity accept."""
        return selecting.matching(self, requirement)

    def tolerating(self, tolerations: tuple[Any, ...], effects: frozenset[str]) -> Mask:
        """Which nodes have no taint of these effects that the tolerations leave standing."""
        mask: Mask = selecting.untolerated_counts(self, tolerations, effects) == 0
        return mask

    def untolerated(self, tolerations: tuple[Any, ...], effects: frozenset[str]) -> npt.NDArray[np.int64]:
        """How many taints of these effects are not tolerated, per node."""
        return selecting.untolerated_counts(self, tolerations, effects)


class NodeView:
    """One node: its object, its pods, and every column of the table as a plain number."""

    __slots__ = ("table", "row")

    def __init__(self, table: NodeTable, row: int) -> None:
        self.table = table
        self.row = row

    # The columns, as this node's numbers; made below, one property for each column of the table.
    alloc_cpu_milli: int
    alloc_mem_bytes: int
    alloc_eph_bytes: int
    alloc_pods_count: int
    req_cpu_milli: int
    req_mem_bytes: int
    req_eph_bytes: int
    pods_count: int
    nz_cpu_milli: int
    nz_mem_bytes: int
    attachable_count: int
    unschedulable: bool
    taints_id: int

    def __getattr__(self, name: str) -> Any:
        """Called for attributes that are not there, and only for those."""
        raise AttributeError(f"a node has no {name!r}; columns are {', '.join(COLUMNS)}")

    def __repr__(self) -> str:
        return f"NodeView({self.name!r})"

    @property
    def name(self) -> str:
        return self.table.names[self.row]

    @property
    def object(self) -> Node:
        return self.table.object_at(self.row)

    @property
    def labels(self) -> Mapping[str, str]:
        return self.object.labels

    @property
    def annotations(self) -> Mapping[str, str]:
        return self.object.annotations

    @property
    def taints(self) -> tuple[Taint, ...]:
        return self.object.taints

    @property
    def zone(self) -> str:
        return self.object.zone

    @property
    def region(self) -> str:
        return self.object.region

    @property
    def pods(self) -> Iterable[Pod]:
        return self.table.pods_at(self.row)

    @property
    def host_ports(self) -> Iterable[HostPort]:
        for pod in self.pods:
            yield from pod.host_ports

    def label_id(self, key: str) -> int:
        """The node's value of a label, as the number ``table.label(key)`` gives it; -1 if it lacks it."""
        return int(self.table.label(key).ids[self.row])

    def scalar_alloc(self, resource: str) -> int:
        return int(self.table.scalar_alloc(resource)[self.row])

    def scalar_req(self, resource: str) -> int:
        return int(self.table.scalar_req(resource)[self.row])

    def as_table(self) -> NodeTable:
        """A table of this one node, for plugins written in the all-nodes form only."""
        from bayplan.framework.preemption.what_if import OneNodeTable

        return OneNodeTable(self)


def _number_of(column: str) -> property:
    read = attrgetter(column)
    return property(lambda view: read(view.table)[view.row].item())


for _column in COLUMNS:
    setattr(NodeView, _column, _number_of(_column))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The cluster at one moment of the engine."""

    nodes: NodeTable
    generation: int
