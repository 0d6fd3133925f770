"""
Many imagined nodes at once: some rows of a table, with other pods on them than there are.

Only what pods take is imagined (``Depends.AMOUNTS``), so only filters that look at nothing else are asked about such
a table.  ``framework.preemption.dry_run`` and the engine, for pods that are expected on a node, make them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

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
    read_only,
)
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod

Amounts: TypeAlias = "npt.NDArray[np.int64]"
"""What pods take, a line for each: the numbers of ``TAKEN`` in that order."""

TAKEN = ("req_cpu_milli", "req_mem_bytes", "req_eph_bytes", "pods_count", "nz_cpu_milli", "nz_mem_bytes")
"""The columns that move with the pods on a node, beside those of extended resources."""


def amounts_of(pod: Pod) -> tuple[int, ...]:
    """What one pod takes of a node, in the order of ``TAKEN``."""
    accounted = pod.accounted
    return accounted.cpu_milli, accounted.memory_bytes, accounted.ephemeral_bytes, 1, *pod.nonzero


class WhatIfRows(NodeTable):
    """Some rows of a table.  What is asked for beyond amounts and node objects is refused."""

    def __init__(self, whole: NodeTable, rows: Rows, taken: Amounts | None = None) -> None:
        self.whole = whole
        self.rows = rows
        self.total_nodes = whole.total_nodes
        self.objects_generation = whole.objects_generation
        self.taint_sets = whole.taint_sets
        self._taken = np.stack([getattr(whole, name)[rows] for name in TAKEN]) if taken is None else taken
        self._scalars: dict[str, npt.NDArray[np.int64]] = {}
        for name, column in zip(TAKEN, self._taken, strict=True):
            setattr(self, name, read_only(column))

    def __len__(self) -> int:
        return len(self.rows)

    # -- imagining --

    def move(self, at: Rows | slice, amounts: Amounts, sign: int) -> None:
        """Imagine more (1) or less (-1) on these rows, each of which is named once: a line of amounts for each."""
        if sign > 0:
            self._taken[:, at] += amounts.T
        else:
            self._taken[:, at] -= amounts.T

    def move_scalar(self, resource: str, at: Rows | slice, amounts: npt.NDArray[np.int64], sign: int) -> None:
        """The same for an extended resource."""
        self._scalar(resource)[at] += sign * amounts

    def part(self, at: Rows) -> WhatIfRows:
        """Some of these rows as they are imagined now; they go their own way from here."""
        part = WhatIfRows(self.whole, self.rows[at], self._taken[:, at])
        part._scalars = {resource: column[at] for resource, column in self._scalars.items()}
        return part

    # -- read by plugins --

    def __getattr__(self, name: str) -> Any:
        """What is not imagined, as it is in the whole table."""
        if name == "names":
            value: Any = [self.whole.names[row] for row in self.rows.tolist()]
        elif name == "revision":
            value = read_only(np.full(len(self), -1, np.int64))
        elif name in COLUMNS:
            value = self._some(getattr(self.whole, name))
        else:
            raise AttributeError(f"a node table has no {name}")
        self.__dict__[name] = value
        return value

    def row_of(self, name: str) -> int | None:
        row = self.whole.row_of(name)
        if row is None:
            return None
        at = np.flatnonzero(self.rows == row)
        return int(at[0]) if len(at) else None

    def node(self, row: int) -> NodeView:
        return NodeView(self, row)

    def object_at(self, row: int) -> Node:
        return self.whole.object_at(int(self.rows[row]))

    def label(self, key: str) -> LabelColumn:
        whole = self.whole.label(key)
        return LabelColumn(key, self._some(whole.ids), whole.values, whole.id_of)

    def derive(self, name: str, of: Callable[[Node], Any], dtype: type[np.generic]) -> Column:
        return self._some(self.whole.derive(name, of, dtype))

    def scalar_alloc(self, resource: str) -> npt.NDArray[np.int64]:
        return self._some(self.whole.scalar_alloc(resource))

    def scalar_req(self, resource: str) -> npt.NDArray[np.int64]:
        return read_only(self._scalar(resource))

    def _some(self, column: Column) -> Column:
        return read_only(column[self.rows])

    def _scalar(self, resource: str) -> npt.NDArray[np.int64]:
        column = self._scalars.get(resource)
        if column is None:
            column = self._scalars[resource] = self.whole.scalar_req(resource)[self.rows]
        return column

    # -- refused: nobody has imagined which pods these are --

    def pods_at(self, row: int) -> Iterable[Pod]:
        _refuse()

    def image(self, name: str) -> ImageState | None:
        _refuse()

    def port_users(self, protocol: str, port: int) -> Iterable[tuple[int, str]]:
        _refuse()

    def storage_users(self, key: tuple[str, ...]) -> Iterable[tuple[int, Pod]]:
        _refuse()

    def pods_of(self, kind: str, namespace: str, name: str) -> Iterable[tuple[int, Pod]]:
        _refuse()

    def matching_pods(self, *all_of: PodMatcher, skip_terminating: bool = False) -> npt.NDArray[np.int32]:
        _refuse()

    def terms(self, kind: TermKind, pod: Pod) -> Sequence[TermColumn]:
        _refuse()


def _refuse() -> NoReturn:
    raise TypeError("only amounts are imagined here: a filter that looks at more must not promise Depends.AMOUNTS")
