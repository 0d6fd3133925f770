"""
What some plugins say of every node for pods that look the same to them: whether it fits, and its score so far.

The answers of plugins that look at node objects alone come first, and are shared by classes that differ only in what
pods ask for; those of plugins that look at a node's own row are added to them.  ``engine.class_cache`` makes both.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

import numpy as np

from bayplan.engine.accepting import in_range, one_in_range, passes, prepare_filters, prepare_scores, rejects, whole
from bayplan.engine.table import ColumnTable
from bayplan.engine.templates import Plugins
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.plugin import Depends, FilterPlugin, ScorePlugin
from bayplan.framework.snapshot import Mask, NodeView, Scores
from bayplan.objects.pod import Pod

_DIFFER = attrgetter("differ")


class NormalizedScores:
    """Raw scores of a plugin whose normalisation looks at all feasible nodes."""

    __slots__ = ("plugin", "weight", "raw", "differ")

    def __init__(self, plugin: ScorePlugin, weight: int, raw: Scores) -> None:
        self.plugin = plugin
        self.weight = weight
        self.raw = raw.copy()
        self.differ = bool(raw.min() != raw.max())
        """Equal raw scores stay equal after any normalisation, so they cannot change which node is best."""

    def write(self, row: int, score: int) -> None:
        if self.raw[row] != score:
            self.raw[row] = score
            self.differ = bool(self.raw.min() != self.raw.max())


class Answers:
    """The answers of some plugins, on top of those before them."""

    __slots__ = ("all_normalized", "normalized", "state", "values", "_filters", "_scores")

    def __init__(
        self, pod: Pod, nodes: ColumnTable, plugins: Plugins, weights: Mapping[str, int], before: Answers | None = None
    ) -> None:
        count = len(nodes)
        state = CycleState() if before is None else before.state.copy()
        self.state: CycleState = state
        prepare_filters(state, pod, nodes, plugins.pre_filters)
        self._filters: list[FilterPlugin] = [each for each in plugins.filters if each.name not in state.skip_filter]
        fits: Mask = np.ones(count, np.bool_) if before is None else before.values >= 0
        for plugin in self._filters:
            fits &= passes(plugin, plugin.filter(state, pod, nodes), count)
        prepare_scores(state, pod, nodes, np.arange(count, dtype=np.intp), plugins.pre_scores)
        self._scores: list[tuple[ScorePlugin, int]] = []
        self.normalized: list[NormalizedScores] = []
        values = np.zeros(count, np.int64) if before is None else before.values.copy()
        for scorer in plugins.scores:
            if scorer.name not in state.skip_score:
                self._score(scorer, weights.get(scorer.name, 1), pod, nodes, fits, values)
        values[~fits] = -1
        self.values: Scores = values
        """Per row: -1 where it does not fit, else the sum of the scores that need no normalising."""
        inherited = [] if before is None else before.all_normalized
        self.all_normalized: list[NormalizedScores] = [*inherited, *self.normalized]

    def _score(
        self, scorer: ScorePlugin, weight: int, pod: Pod, nodes: ColumnTable, fits: Mask, values: Scores
    ) -> None:
        raw = whole(scorer.score(self.state, pod, nodes), len(nodes))
        if type(scorer).normalize is not ScorePlugin.normalize:
            # Equal scores are not normalised later, so a plugin that cannot do it must be found out here.
            rows = np.flatnonzero(fits)
            in_range(scorer.normalize(self.state, pod, raw[rows], rows), len(rows))
            self.normalized.append(NormalizedScores(scorer, weight, raw))
            return
        in_range(raw, len(raw), of_interest=fits)
        self._scores.append((scorer, weight))
        values += raw if weight == 1 else raw * weight

    @property
    def differ(self) -> bool:
        """Do scores that look at all feasible nodes have a say in which is best?"""
        return any(map(_DIFFER, self.all_normalized))

    def depend_within(self, *these: Depends) -> bool:
        """Do they depend on nothing else?"""
        scorers = [scorer for scorer, _ in self._scores] + [each.plugin for each in self.normalized]
        depends = [each.filter_depends for each in self._filters] + [each.score_depends for each in scorers]
        return all(each in these for each in depends)

    def ask(self, pod: Pod, node: NodeView) -> int:
        """What these plugins, without those before them, give one node; -1 if one of them turns it down."""
        state = self.state
        for plugin in self._filters:
            if rejects(plugin.filter_node(state, pod, node)):
                return -1
        total = 0
        for scorer, weight in self._scores:
            total += one_in_range(scorer.score_node(state, pod, node)) * weight
        return total

    def normalize_again(self, pod: Pod, nodes: ColumnTable, row: int) -> None:
        """Bring the raw scores of one row up to date."""
        for each in self.normalized:
            each.write(row, int(each.plugin.score_node(self.state, pod, nodes.node(row))))
