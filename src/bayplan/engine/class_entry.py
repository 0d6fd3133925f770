"""
What is known of one class of pods, kept while rows change: the answers for every node and the best of them.

An answer that depends on sums alone is asked for once per sum.  ``engine.class_cache`` makes entries, brings them up
to date and picks from them.
"""

from __future__ import annotations

from collections.abc import Iterable

from bayplan.engine.answers import Answers
from bayplan.engine.blocks import Blocks
from bayplan.engine.table import ColumnTable
from bayplan.framework.plugin import Depends
from bayplan.objects.pod import Pod


class ClassEntry:
    """What is known of one class."""

    __slots__ = ("answers", "blocks", "layout", "of_objects", "position", "_by_amounts", "_generation", "_known")

    def __init__(self, answers: Answers, of_objects: Answers, layout: int, position: int) -> None:
        self.answers = answers
        self.of_objects = of_objects
        """What these answers were added to."""
        self.layout = layout
        self.position = position
        self.blocks = Blocks(answers.values)
        self._by_amounts = answers.depend_within(Depends.AMOUNTS)
        self._known: dict[int, int] = {}
        self._generation = -1

    def refresh(self, pod: Pod, nodes: ColumnTable, rows: Iterable[int]) -> None:
        """Ask again about rows that changed."""
        before = self.of_objects.values
        for row in rows:
            base = before.item(row)
            total = -1 if base < 0 else self._total_of_row(pod, nodes, row)
            self.blocks.write(row, -1 if total < 0 else base + total)

    def _total_of_row(self, pod: Pod, nodes: ColumnTable, row: int) -> int:
        answers = self.answers
        if self._by_amounts:
            total = self._total_of_amounts(pod, nodes, row)
        else:
            total = answers.ask(pod, nodes.node(row))
        if total >= 0:
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
        return known
