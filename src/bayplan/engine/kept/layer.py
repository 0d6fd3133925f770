"""
What a group of plugins says of every node for pods that look the same to it: whether it fits, and its score so far.

The layer of the plugins that look at node objects comes first, and is shared by classes that differ only in what pods
ask for; the layer of those that look at a node's own row lies on top of it.  Plugins are asked by the same functions
as in ``engine.evaluation``.  ``engine.kept.memory`` makes both.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

import numpy as np

from bayplan.engine import scoring
from bayplan.engine.filtering import Rejections, filter_table, pre_filter
from bayplan.engine.node_filters import first_rejection
from bayplan.engine.plugin_calls import Calls
from bayplan.engine.plugin_group import PluginGroup
from bayplan.engine.promises import Promised
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.plugin import ScorePlugin
from bayplan.framework.promise import Depends
from bayplan.framework.snapshot import NodeTable, NodeView, Rows, Scores

REJECTED = -1
"""The value of a row that does not fit."""

_DIFFER = attrgetter("differ")


class NotKeptError(Exception):
    """Nothing can be kept for pods of this class, for the reason given."""


class RawScores:
    """Raw scores of a plugin whose normalisation looks at all feasible nodes."""

    __slots__ = ("plugin", "weight", "values", "differ")

    def __init__(self, plugin: ScorePlugin, weight: int, values: Scores) -> None:
        self.plugin = plugin
        self.weight = weight
        self.values = values
        self.differ = bool(values.min() != values.max())
        """Equal raw scores stay equal after any normalisation, so they cannot change which node is best."""

    def write(self, row: int, score: int) -> None:
        if self.values[row] != score:
            self.values[row] = score
            self.differ = bool(self.values.min() != self.values.max())


class Layer:
    """The answers of one group of plugins, on top of the layer below."""

    __slots__ = ("all_raw", "raw", "state", "values", "_filters", "_plain", "_promised")

    def __init__(
        self,
        calls: Calls,
        nodes: NodeTable,
        group: PluginGroup,
        promised: Promised,
        weights: Mapping[str, int],
        below: Layer | None = None,
    ) -> None:
        self.state: CycleState = CycleState() if below is None else below.state.copy()
        if not pre_filter(calls, group.pre_filters, self.state, nodes).is_all:
            raise NotKeptError("PreFilter narrows the nodes or rejects the pod")
        open_rows = np.ones(len(nodes), np.bool_) if below is None else below.values >= 0
        rejections = Rejections(nodes, open_rows)
        filter_table(calls, group.filters, self.state, rejections)
        self._promised = promised
        self._filters = [each for each in group.filters if each.name not in self.state.skip_filter]
        self.values: Scores = np.zeros(len(nodes), np.int64) if below is None else below.values.copy()
        """Per row: ``REJECTED``, else the sum of the scores that need no normalising."""
        self.values[~rejections.open] = REJECTED
        self._plain: list[tuple[ScorePlugin, int]] = []
        self.raw: list[RawScores] = []
        scoring.pre_score(calls, group.pre_scores, self.state, nodes, np.arange(len(nodes), dtype=np.intp))
        feasible = rejections.feasible()
        for scorer in group.scores:
            if scorer.name not in self.state.skip_score:
                self._score(calls, scorer, weights.get(scorer.name, 1), nodes, feasible)
        self.all_raw: list[RawScores] = [*([] if below is None else below.all_raw), *self.raw]

    def _score(self, calls: Calls, scorer: ScorePlugin, weight: int, nodes: NodeTable, feasible: Rows) -> None:
        raw = scoring.raw_scores(calls, scorer, self.state, nodes, feasible)
        if len(feasible):
            # Equal scores are not normalised later, so a plugin that cannot do it must be found out here.
            scoring.normalized(calls, scorer, self.state, nodes, raw.view(), feasible)
        if not scoring.normalizes(scorer):
            self._plain.append((scorer, weight))
            self.values[feasible] += raw * weight
            return
        whole = np.full(len(nodes), raw[0] if len(raw) else 0, np.int64)
        whole[feasible] = raw
        self.raw.append(RawScores(scorer, weight, whole))

    @property
    def differ(self) -> bool:
        """Do scores that look at all feasible nodes have a say in which is best?"""
        return any(map(_DIFFER, self.all_raw))

    def depends_within(self, *these: Depends) -> bool:
        """Do the answers, without those of the layer below, depend on nothing else?"""
        scorers = [scorer for scorer, _ in self._plain] + [each.plugin for each in self.raw]
        depends = [self._promised[each.name].filter for each in self._filters]
        depends += [self._promised[each.name].score for each in scorers]
        return all(each in these for each in depends)

    def ask(self, calls: Calls, node: NodeView) -> int:
        """What these plugins, without those of the layer below, give one node; ``REJECTED`` if one turns it down."""
        state = self.state
        if not first_rejection(calls, self._filters, state, calls.pod, node).is_success:
            return REJECTED
        total = 0
        for scorer, weight in self._plain:
            score = scoring.raw_score(calls, scorer, state, node)
            scoring.check_range(calls, scorer, score, score)
            total += score * weight
        return total

    def ask_raw(self, calls: Calls, node: NodeView, row: int) -> None:
        """Bring the raw scores of one row that fits up to date."""
        for each in self.raw:
            each.write(row, scoring.raw_score(calls, each.plugin, self.state, node))
