"""
What is kept for one class of pods while rows change: the answers for every node, and the best of them.

An answer that depends on sums alone is asked for once per sum.  ``engine.kept.memory`` makes these and brings them up
to date, ``engine.evaluation`` and ``engine.batch`` pick from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bayplan.engine.kept.best_rows import BestRows
from bayplan.engine.kept.layer import REJECTED, Layer
from bayplan.engine.kept.sum_numbers import MAX_SUMS, SumNumbers, Sums
from bayplan.engine.plugin_calls import Calls
from bayplan.engine.table import ColumnTable
from bayplan.framework.decision import Decision
from bayplan.framework.promise import Depends


@dataclass(slots=True)
class ObjectsLayer:
    """Answers that depend on node objects alone, and as of when."""

    layer: Layer
    generation: int
    position: int


class ClassAnswers:
    """What is known of one class."""

    __slots__ = ("best", "layer", "objects", "position", "_by_sums", "_known")

    def __init__(self, layer: Layer, objects: ObjectsLayer) -> None:
        self.layer = layer
        self.objects = objects
        """What the layer lies on."""
        self.position = objects.position
        self.best = BestRows(layer.values)
        self._by_sums = layer.depends_within(Depends.AMOUNTS)
        self._known: dict[int, int] = {}
        """Totals by the number of the sums."""

    @property
    def goes_by_sums(self) -> bool:
        """Is a row's sums all that moves its answers, and is the best of them the best of all?"""
        return self._by_sums and not self.layer.raw and not self.layer.differ

    def choose(self, decision: Decision, nodes: ColumnTable, number: int) -> int | None:
        """Fill in one of the best rows, chosen by ``number``; which one, or ``None`` if no row fits."""
        picked = self.best.pick(number)
        if picked is None:
            return None
        row, decision.ties = picked
        decision.node = nodes.names[row]
        return row

    def takes(self, row: int, change: Sums, sums: SumNumbers) -> bool:
        """One more pod of the class on a row that fits it; false if it is not known what the sums are worth then."""
        then = sums.ahead(row, change)
        total = None if then is None else self._known.get(then)
        if then is None or total is None:
            return False
        sums.write(row, then)
        self.best.write(row, REJECTED if total < 0 else self.objects.layer.values.item(row) + total)
        return True

    def refresh(self, calls: Calls, nodes: ColumnTable, rows: Iterable[int]) -> None:
        """Ask again about rows that changed."""
        below, write = self.objects.layer.values, self.best.write
        for row in rows:
            base = below.item(row)
            total = REJECTED if base < 0 else self._total(calls, nodes, row)
            write(row, REJECTED if total < 0 else base + total)

    def _total(self, calls: Calls, nodes: ColumnTable, row: int) -> int:
        layer = self.layer
        total = self._total_of_sums(calls, nodes, row) if self._by_sums else layer.ask(calls, nodes.node(row))
        if total >= 0 and layer.raw:
            layer.ask_raw(calls, nodes.node(row), row)
        return total

    def _total_of_sums(self, calls: Calls, nodes: ColumnTable, row: int) -> int:
        number = nodes.sums.of(row)
        known = self._known.get(number)
        if known is None:
            if len(self._known) >= MAX_SUMS:
                self._known.clear()
            known = self._known[number] = self.layer.ask(calls, nodes.node(row))
        return known
