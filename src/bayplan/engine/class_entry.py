"""
What is known of one class of pods: per node, whether it fits and its score, and how to bring a row up to date.

``engine.class_cache`` fills entries and picks from them.  An answer that depends on the node's object alone is
asked for again only when objects changed; one that depends on sums alone is asked for once per sum.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bayplan.engine.accepting import one_in_range, rejects
from bayplan.engine.blocks import Blocks
from bayplan.engine.table import ColumnTable
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.plugin import Depends, FilterPlugin, ScorePlugin
from bayplan.framework.snapshot import Mask, NodeView, Scores
from bayplan.objects.pod import Pod


class NormalizedScores:
    """Raw scores of a plugin whose normalisation looks at all feasible nodes."""

    __slots__ = ("plugin", "weight", "raw", "differ")

    def __init__(self, plugin: ScorePlugin, weight: int, raw: Scores) -> None:
        self.plugin = plugin
        self.weight = weight
        self.raw = raw
        self.differ = bool(raw.min() != raw.max())
        """Equal raw scores stay equal after any normalisation, so they cannot change which node is best."""

    def write(self, row: int, score: int) -> None:
        if self.raw[row] != score:
            self.raw[row] = score
            self.differ = bool(self.raw.min() != self.raw.max())


class Part:
    """The plugins whose answers depend on the same things, and their scores of all rows to begin with."""

    __slots__ = ("filters", "scores", "fits", "totals")

    def __init__(self, count: int) -> None:
        self.filters: list[FilterPlugin] = []
        self.scores: list[tuple[ScorePlugin, int]] = []
        self.fits: Mask = np.ones(count, np.bool_)
        self.totals: Scores = np.zeros(count, np.int64)

    def ask(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        """What its plugins give one node; -1 if one of them turns it down."""
        for plugin in self.filters:
            if rejects(plugin.filter_node(state, pod, node)):
                return -1
        total = 0
        for scorer, weight in self.scores:
            total += one_in_range(scorer.score_node(state, pod, node)) * weight
        return total


class ClassEntry:
    """What is known of one class."""

    __slots__ = (
        "blocks", "layout", "normalized", "objects_generation", "position", "state", "whole_cluster",
        "_by_amounts", "_fixed", "_generation", "_known", "_of_object", "_of_row",
    )  # fmt: skip

    def __init__(self) -> None:
        self.state = CycleState()
        self.normalized: list[NormalizedScores] = []
        self.whole_cluster: Scores | None = None
        """Scores that depend on the objects of all nodes; None if there are none."""
        self.blocks = Blocks(np.empty(0, np.int64))
        """Per row: -1 where it does not fit, else the sum of the kept scores."""
        self.layout = -1
        self.objects_generation = -1
        self.position = 0

    def fill(self, of_object: Part, of_row: Part) -> None:
        """Everything was asked about every node."""
        self._of_object, self._of_row = of_object, of_row
        fixed = of_object.totals if self.whole_cluster is None else of_object.totals + self.whole_cluster
        self._fixed = np.where(of_object.fits, fixed, -1)
        self.blocks = Blocks(np.where(of_object.fits & of_row.fits, fixed + of_row.totals, -1))
        dependencies = [plugin.filter_depends for plugin in of_row.filters]
        dependencies += [scorer.score_depends for scorer, _ in of_row.scores]
        self._by_amounts = all(each is Depends.AMOUNTS for each in dependencies)
        self._known: dict[int, int] = {}
        self._generation = -1

    @property
    def needs_all_objects(self) -> bool:
        """Does a change of one node's object change what others score?"""
        return self.whole_cluster is not None or any(
            each.plugin.score_depends is Depends.NODES for each in self.normalized
        )

    def refresh(self, pod: Pod, nodes: ColumnTable, rows: Iterable[int]) -> None:
        """Ask again about rows that changed."""
        objects_changed = self.objects_generation != nodes.objects_generation
        for row in rows:
            if objects_changed:
                self._ask_object(pod, nodes, row)
            fixed = self._fixed.item(row)
            total = -1 if fixed < 0 else self._total_of_row(pod, nodes, row)
            if total >= 0:
                for each in self.normalized:
                    if each.plugin.score_depends is not Depends.OBJECT:
                        each.write(row, int(each.plugin.score_node(self.state, pod, nodes.node(row))))
            self.blocks.write(row, -1 if total < 0 else fixed + total)
        self.objects_generation = nodes.objects_generation

    def _ask_object(self, pod: Pod, nodes: ColumnTable, row: int) -> None:
        node = nodes.node(row)
        total = self._of_object.ask(self.state, pod, node)
        if total >= 0:
            if self.whole_cluster is not None:
                total += self.whole_cluster.item(row)
            for each in self.normalized:
                if each.plugin.score_depends is Depends.OBJECT:
                    each.write(row, int(each.plugin.score_node(self.state, pod, node)))
        self._fixed[row] = total

    def _total_of_row(self, pod: Pod, nodes: ColumnTable, row: int) -> int:
        if not self._by_amounts:
            return self._of_row.ask(self.state, pod, nodes.node(row))
        amounts = nodes.amounts
        number = amounts.of(row)
        if self._generation != amounts.generation:
            self._known.clear()
            self._generation = amounts.generation
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._of_row.ask(self.state, pod, nodes.node(row))
        return known
