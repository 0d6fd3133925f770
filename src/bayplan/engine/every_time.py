"""
Deciding with plugins that must be asked about every pod: their answers join those that are kept.

``engine.class_cache`` calls ``complete`` for pods whose domains, volumes or unknown plugins have a say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bayplan.engine.accepting import in_range, passes, prepared, skips, whole
from bayplan.engine.answers import Answers, NormalizedScores
from bayplan.engine.running import Calls
from bayplan.engine.table import ColumnTable
from bayplan.engine.templates import Plugins
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.decision import Decision
from bayplan.framework.plugin import Plugin, ScorePlugin
from bayplan.framework.snapshot import Mask, Rows, Scores
from bayplan.objects.pod import Pod


def complete(
    decision: Decision,
    answers: Answers,
    asked: Plugins,
    left: Sequence[Plugin],
    calls: Calls,
    nodes: ColumnTable,
    weights: Mapping[str, int],
    number: int,
) -> Decision | None:
    """Choose the node; ``None`` if none fits, which the full pass must explain.  ``left`` do not sit this pod out."""
    pod, state, values = decision.pod, decision.state, answers.values
    decision.slow_plugins = calls.slow
    fits = _filtered(calls, state, nodes, asked, left, values >= 0)
    feasible = np.flatnonzero(fits)
    if not len(feasible):
        return None
    decision.feasible = feasible
    if len(feasible) == 1:
        decision.node, decision.ties = nodes.names[feasible.item()], 1
        return decision
    totals = values[feasible]
    _add_normalized(totals, answers.all_normalized, state, pod, feasible)
    _add_scores(totals, calls, state, nodes, asked, left, weights, feasible)
    best = np.flatnonzero(totals == totals.max())
    decision.ties = len(best)
    decision.node = nodes.names[feasible.item(best.item(number % len(best)))]
    return decision


def _filtered(
    calls: Calls, state: CycleState, nodes: ColumnTable, asked: Plugins, left: Sequence[Plugin], fits: Mask
) -> Mask:
    pod = calls.pod
    for pre in asked.pre_filters:
        if pre in left:
            prepared(pre, calls.run(pre, "PreFilter", pre.pre_filter, state, pod, nodes), state)
    for plugin in asked.filters:
        if plugin in left and plugin.name not in state.skip_filter:
            answer = calls.run(plugin, "Filter", plugin.filter, state, pod, nodes)
            fits &= passes(plugin, answer, len(nodes))
    return fits


def _add_normalized(
    totals: Scores, kept: Sequence[NormalizedScores], state: CycleState, pod: Pod, feasible: Rows
) -> None:
    for each in kept:
        if each.differ:
            normal = each.plugin.normalize(state, pod, each.raw[feasible], feasible)
            totals += in_range(normal, len(feasible)) * each.weight


def _add_scores(
    totals: Scores,
    calls: Calls,
    state: CycleState,
    nodes: ColumnTable,
    asked: Plugins,
    left: Sequence[Plugin],
    weights: Mapping[str, int],
    feasible: Rows,
) -> None:
    pod = calls.pod
    for pre in asked.pre_scores:
        if pre in left and skips(calls.run(pre, "PreScore", pre.pre_score, state, pod, nodes, feasible)):
            state.skip_score.add(pre.name)
    for scorer in asked.scores:
        if scorer in left and scorer.name not in state.skip_score:
            raw = _raw(calls, scorer, state, nodes, feasible)
            normal = in_range(scorer.normalize(state, pod, raw, feasible), len(feasible))
            totals += normal * weights.get(scorer.name, 1)


def _raw(calls: Calls, scorer: ScorePlugin, state: CycleState, nodes: ColumnTable, feasible: Rows) -> Scores:
    pod = calls.pod
    if scorer._score_derived:
        rows = [calls.run(scorer, "Score", scorer.score_node, state, pod, nodes.node(row)) for row in feasible.tolist()]
        return whole(np.array(rows), len(feasible))
    return whole(calls.run(scorer, "Score", scorer.score, state, pod, nodes), len(nodes))[feasible]
