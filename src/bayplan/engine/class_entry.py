"""
What is known of one class of pods, kept while rows change: the answers for every node and the best of them.

An answer that depends on sums alone is asked for once per sum.  ``engine.class_cache`` makes entries, brings them up
to date and picks from them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bayplan.engine.amounts import Amounts, Sums
from bayplan.engine.answers import Answers
from bayplan.engine.blocks import Blocks
from bayplan.engine.table import ColumnTable
from bayplan.framework.plugin import Depends
from bayplan.objects.pod import Pod


@dataclass(slots=True)
class OfObjects:
    """Answers that depend on node objects alone, and as of when."""

    answers: Answers
    layout: int
    generation: int
    position: int


class ClassEntry:
    """What is known of one class."""

    __slots__ = ("answers", "blocks", "of_objects", "position", "_by_amounts", "_generation", "_known")

    def __init__(self, answers: Answers, of_objects: OfObjects) -> None:
        self.answers = answers
        self.of_objects = of_objects
        """What these answers were added to."""
        self.position = of_objects.position
        self.blocks = Blocks(answers.values)
        self._by_amounts = answers.depend_within(Depends.AMOUNTS)
        self._known: dict[int, int] = {}
        self._generation = -1

    @property
    def goes_by_sums(self) -> bool:
        """Is a row's sums all that moves its answers, and is the best of them the best of all?"""
        return self._by_amounts and not self.answers.normalized and not self.answers.differ

    def takes(self, row: int, change: Sums, amounts: Amounts) -> bool:
        """One more pod of the class on a row that fits it; false if it is not known what the sums are worth then."""
        then = amounts.ahead(row, change)
        total = None if then is None else self._known.get(then)
        if then is None or total is None or self._generation != amounts.generation:
            return False
        amounts.write(row, then)
        self.blocks.write(row, -1 if total < 0 else self.of_objects.answers.values.item(row) + total)
        return True

    def refresh(self, pod: Pod, nodes: ColumnTable, rows: Iterable[int]) -> None:
        """Ask again about rows that changed."""
        before, write = self.of_objects.answers.values, self.blocks.write
        total_of = self._total_of_amounts if self._by_amounts else self._total_of_row
        for row in rows:
            base = before.item(row)
            total = -1 if base < 0 else total_of(pod, nodes, row)
            write(row, -1 if total < 0 else base + total)

    def _total_of_row(self, pod: Pod, nodes: ColumnTable, row: int) -> int:
        answers = self.answers
        total = answers.ask(pod, nodes.node(row))
        if total >= 0 and answers.normalized:
            answers.normalize_again(pod, nodes, row)
        return total

    def _total_of_amounts(self, pod: Pod, nodes: ColumnTable, row: int) -> int:
        amounts = nodes.amounts
        number = amounts.of(row)
        if self._generation != amounts.generation:
            self._known.clear()
            self._generation = amounts.generation
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self.answers.ask(pod, nodes.node(row))
        if known >= 0 and self.answers.normalized:
            self.answers.normalize_again(pod, nodes, row)
        return known
