"""
Growable arrays, one slot per node: the storage under ``engine.cache`` and ``engine.count_groups``.

Rows are dense: a removed row is filled by the last one, so every array can be read as ``[:n]`` without
holes, and a pass over all nodes never asks which rows exist.  ``Columns`` knows every array that is
indexed by row (also the counts), so growing and moving rows happens in this one place.  A fork shares
arrays with what it was forked from until it writes to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from bayplan.framework.snapshot import LabelColumn, Rows, read_only
from bayplan.framework.summing import Ids, summed
from bayplan.objects.node import Node

FIRST_CAPACITY = 64
# A question is asked over few topologies; more than that are those of nodes that have changed since.
MAX_SUMS = 8


class Col:
    """One growable array.  Read ``data``, write to ``own()``; hand out ``view()``, which cannot be written."""

    __slots__ = ("data", "fill", "_is_shared", "_length", "_view")

    def __init__(self, data: npt.NDArray[Any], fill: Any = 0, *, is_shared: bool = False) -> None:
        self.fill = fill
        self.data = data
        self._is_shared = is_shared
        self._view: npt.NDArray[Any] | None = None
        self._length = -1

    def own(self) -> npt.NDArray[Any]:
        """The array, to write to: a copy if it belongs to what this was forked from."""
        if self._is_shared:
            self._be(self.data.copy())
        return self.data

    def _be(self, data: npt.NDArray[Any]) -> None:
        self.data = data
        self._is_shared = False
        self._view = None

    def view(self, n: int) -> npt.NDArray[Any]:
        """The first ``n`` slots, read-only."""
        if self._view is None or self._length != n:
            self._view = read_only(self.data[:n])
            self._length = n
        return self._view

    def grow(self, capacity: int) -> None:
        grown = np.full(capacity, self.fill, self.data.dtype)
        grown[: len(self.data)] = self.data
        self._be(grown)

    def move(self, source: int, target: int) -> None:
        """Fill ``target`` from ``source`` and clear ``source``."""
        data = self.own()
        data[target] = data[source]
        data[source] = self.fill


class CountCol(Col):
    """Counts per node that move by one, and their sums over domains that move along."""

    __slots__ = ("_handed_out", "_sums")

    def __init__(self, capacity: int, handed_out: dict[int, CountCol]) -> None:
        super().__init__(np.zeros(capacity, np.int32))
        self._handed_out = handed_out
        self._sums: list[tuple[Ids, npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
        """Domains, sums over them, and the same as others may read it."""

    def view(self, n: int) -> npt.NDArray[Any]:
        before = self._view
        view = super().view(n)
        if view is not before:
            self._handed_out.pop(id(before), None)
            self._handed_out[id(view)] = self
        return view

    def is_viewed_as(self, counts: npt.NDArray[Any]) -> bool:
        return self._view is counts

    def grow(self, capacity: int) -> None:
        self._handed_out.pop(id(self._view), None)
        super().grow(capacity)

    def add(self, row: int, by: int) -> None:
        self.data[row] += by
        for ids, sums, _ in self._sums:
            domain = ids.item(row)
            if 0 <= domain < len(sums) - 1:
                sums[domain] += by

    def add_each(self, rows: Rows) -> None:
        """One more for each of these rows; a row may be there more than once."""
        np.add.at(self.data, rows, 1)
        for ids, sums, _ in self._sums:
            domains = ids[rows]
            np.add.at(sums, domains[(domains >= 0) & (domains < len(sums) - 1)], 1)

    def summed(self, n: int, ids: Ids, size: int) -> npt.NDArray[np.int64]:
        """Sums over domains, from now on kept; they cannot be written by others."""
        for known, sums, handed_out in self._sums:
            if known is ids and len(sums) == size:
                return handed_out
        sums = summed(self.view(n), ids, size)
        handed_out = read_only(sums)
        self._sums.append((ids, sums, handed_out))
        if len(self._sums) > MAX_SUMS:
            del self._sums[0]
        return handed_out

    def forget_sums(self) -> None:
        self._sums.clear()


class Columns:
    """All arrays that are indexed by node row."""

    def __init__(self) -> None:
        self.n = 0
        self._capacity = FIRST_CAPACITY
        self._cols: dict[int, Col] = {}
        self._counts: dict[int, CountCol] = {}
        """By the identity of the view that was handed out last."""
        self._summed: dict[int, CountCol] = {}

    def fork(self) -> Columns:
        """As many rows, and no arrays yet: those that are shared from here, or made there."""
        fork = Columns()
        fork.n, fork._capacity = self.n, self._capacity
        return fork

    def share(self, col: Col) -> Col:
        """An array of what this was forked from, copied when it is first written to."""
        return self._kept(Col(read_only(col.data), col.fill, is_shared=True))

    def make(self, dtype: type[np.generic], fill: Any = 0) -> Col:
        """A new array that follows every growth and move from now on."""
        return self._kept(Col(np.full(self._capacity, fill, dtype), fill))

    def _kept(self, col: Col) -> Col:
        self._cols[id(col)] = col
        return col

    def make_counts(self) -> CountCol:
        """As ``make``, for counts that can be summed up."""
        col = CountCol(self._capacity, self._counts)
        self._cols[id(col)] = col
        return col

    def drop(self, col: Col) -> None:
        """Stop keeping an array."""
        del self._cols[id(col)]
        if isinstance(col, CountCol):
            self._counts.pop(id(col._view), None)
            self._summed.pop(id(col), None)

    def summed(self, counts: npt.NDArray[Any], ids: Ids, size: int) -> npt.NDArray[np.int64]:
        """Counts summed up over domains.  If they were handed out here, and the domains stay, the sums are kept."""
        col = self._counts.get(id(counts))
        if col is None or not col.is_viewed_as(counts) or ids.flags.writeable:
            return summed(counts, ids, size)
        self._summed[id(col)] = col
        return col.summed(self.n, ids, size)

    def forget_sums(self) -> None:
        """Domains have changed."""
        for col in self._summed.values():
            col.forget_sums()
        self._summed.clear()

    def append(self) -> int:
        """A fresh row at the end."""
        if self.n == self._capacity:
            self._capacity *= 2
            for col in self._cols.values():
                col.grow(self._capacity)
        self.n += 1
        return self.n - 1

    def remove(self, row: int) -> int | None:
        """Remove a row; the last row takes its place.  Gives the row that moved, if one did."""
        last = self.n - 1
        for col in self._cols.values():
            col.move(last, row)
        self.n = last
        return last if last != row else None


class LabelIds:
    """A node label as numbers, kept while nodes come and go."""

    __slots__ = ("key", "col", "values", "id_of", "_column", "_is_shared")

    def __init__(self, key: str, columns: Columns, base: LabelIds | None = None) -> None:
        self.key = key
        self.col: Col = columns.make(np.int32, -1) if base is None else columns.share(base.col)
        self.values: list[str] = [] if base is None else base.values
        self.id_of: dict[str, int] = {} if base is None else base.id_of
        self._is_shared = base is not None
        self._column: LabelColumn | None = None

    def column(self, n: int) -> LabelColumn:
        """As plugins read it."""
        view = self.col.view(n)
        if self._column is None or self._column.ids is not view:
            self._column = LabelColumn(self.key, view, self.values, self.id_of)
        return self._column

    def write(self, row: int, labels: Mapping[str, str]) -> None:
        value = labels.get(self.key)
        if value is None:
            self.col.own()[row] = -1
            return
        number = self.id_of.get(value)
        if number is None:
            if self._is_shared:
                self.values, self.id_of, self._is_shared = list(self.values), dict(self.id_of), False
                self._column = None
            number = self.id_of[value] = len(self.values)
            self.values.append(value)
        self.col.own()[row] = number


class DerivedColumn:
    """A column computed from node objects by a plugin's function."""

    __slots__ = ("of", "dtype", "col")

    def __init__(
        self, of: Callable[[Node], Any], dtype: type[np.generic], columns: Columns, base: DerivedColumn | None = None
    ) -> None:
        self.of = of
        self.dtype = dtype
        self.col: Col = columns.make(dtype) if base is None else columns.share(base.col)

    def is_by(self, of: Callable[[Node], Any], dtype: type[np.generic]) -> bool:
        """Whether this function makes the same column: it is the same one, or the same lines made anew."""
        return self.dtype is dtype and (self.of is of or self.of == of or _is_remade(self.of, of))

    def write(self, row: int, node: Node) -> None:
        value = self.of(node)
        self.col.own()[row] = value


def _is_remade(one: Any, other: Any) -> bool:
    """A lambda is a new function each time; what it goes by beside the node must be the same."""
    code = getattr(one, "__code__", None)
    if code is None or code is not getattr(other, "__code__", None):
        return False
    held, known = ([cell.cell_contents for cell in each.__closure__ or ()] for each in (one, other))
    return _are_same((*held, one.__defaults__), (*known, other.__defaults__))


def _are_same(held: tuple[Any, ...], known: tuple[Any, ...]) -> bool:
    return all(a is b or (isinstance(a, _COMPARED) and a == b) for a, b in zip(held, known, strict=True))


_COMPARED = (str, bytes, int, float, tuple, frozenset, Struct)
"""Values whose comparison says all."""
