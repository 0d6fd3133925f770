"""
PreScore, Score, NormalizeScore, and the pick of one winner among the feasible nodes.

``engine.evaluation`` asks when more than one node is feasible, ``engine.kept`` for all pods of a class.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from bayplan.engine.plugin_calls import Calls, CycleError
from bayplan.errors import PluginError
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.plugin import MAX_SCORE, MIN_SCORE, PreScorePlugin, ScorePlugin
from bayplan.framework.snapshot import NodeTable, NodeView, Rows, Scores

NUMBERS = "iufb"
"""Kinds of numpy that are numbers."""


def pre_score(
    calls: Calls, plugins: Iterable[PreScorePlugin], state: CycleState, nodes: NodeTable, feasible: Rows
) -> None:
    """Let plugins prepare; one that skips adds nothing to any node."""
    for plugin in plugins:
        status = calls.verdict(plugin, "PreScore", plugin.pre_score, state, calls.pod, nodes, feasible)
        if status.is_skip:
            state.skip_score.add(plugin.name)
        elif not status.is_success:
            raise CycleError(calls.misplaced(plugin, "PreScore", status))


def raw_scores(calls: Calls, plugin: ScorePlugin, state: CycleState, nodes: NodeTable, feasible: Rows) -> Scores:
    """A plugin's raw scores of the feasible rows."""
    if plugin._score_derived:
        scores = [
            calls.run(plugin, "Score", plugin.score_node, state, calls.pod, nodes.node(row))
            for row in feasible.tolist()
        ]
        return _checked(calls, plugin, "Score", _as_array(scores), nodes, feasible)
    whole = calls.run(plugin, "Score", plugin.score, state, calls.pod, nodes)
    whole = _checked(calls, plugin, "Score", whole, nodes)
    return whole.view() if len(feasible) == len(nodes) else whole[feasible]


def raw_score(calls: Calls, plugin: ScorePlugin, state: CycleState, node: NodeView) -> int:
    """A plugin's raw score of one node."""
    score = calls.run(plugin, "Score", plugin.score_node, state, calls.pod, node)
    if not _is_score(score):
        raise _no_score(calls, plugin, "Score", node.name, score)
    return int(score)


def normalizes(plugin: ScorePlugin) -> bool:
    """Does the plugin look at the scores of all feasible nodes once more?"""
    return type(plugin).normalize is not ScorePlugin.normalize


def normalized(
    calls: Calls, plugin: ScorePlugin, state: CycleState, nodes: NodeTable, raw: Scores, feasible: Rows
) -> Scores:
    """What raw scores of the feasible rows come to: 0 to 100."""
    if normalizes(plugin):
        raw.flags.writeable = False
        scores = calls.run(plugin, "NormalizeScore", plugin.normalize, state, calls.pod, raw, feasible)
        raw = _checked(calls, plugin, "NormalizeScore", scores, nodes, feasible)
    if len(raw):
        check_range(calls, plugin, int(np.minimum.reduce(raw)), int(np.maximum.reduce(raw)))
    return raw


def _as_array(scores: list[Any]) -> npt.NDArray[Any]:
    """Scores that were asked for one by one; as they are, if not all are numbers."""
    try:
        array = np.array(scores)
        if array.ndim == 1 and array.dtype.kind in NUMBERS:
            return array
    except ValueError:  # some are numbers, some are lists
        pass
    array = np.empty(len(scores), object)
    array[:] = scores
    return array


def _checked(
    calls: Calls, plugin: ScorePlugin, point: str, scores: object, nodes: NodeTable, rows: Rows | None = None
) -> Scores:
    """Scores of some rows (else of all) as int64, or a ``PluginError`` that says what is wrong with them."""
    length = len(nodes) if rows is None else len(rows)
    if not isinstance(scores, np.ndarray):
        raise calls.refuse(plugin, point, f"scores must be an array of numbers, got {type(scores).__name__}")
    if scores.shape != (length,):
        raise calls.refuse(plugin, point, f"got scores of shape {scores.shape} for {length} nodes")
    kind = scores.dtype.kind
    if kind not in NUMBERS or (kind in "uf" and not (np.abs(scores) < 2.0**63).all()):
        for at, score in enumerate(scores.tolist()):
            if not _is_score(score):
                raise _no_score(calls, plugin, point, nodes.names[at if rows is None else int(rows[at])], score)
    return scores if scores.dtype == np.int64 else scores.astype(np.int64)


def _no_score(calls: Calls, plugin: ScorePlugin, point: str, node_name: str, score: object) -> PluginError:
    problem = f"the score of node {node_name} is {_shown(score)}"
    return calls.refuse(plugin, point, f"{problem}; return a whole number, {MIN_SCORE} to {MAX_SCORE}")


def _is_score(score: object) -> bool:
    """Is it a number of 64 bits?  NaN is not."""
    return isinstance(score, (int, float, np.integer, np.floating)) and bool(-(2**63) < score < 2**63)


def _shown(score: object) -> str:
    try:
        text = repr(score)
    except ValueError:  # Python writes no numbers of more than some thousand digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_range(calls: Calls, plugin: ScorePlugin, lowest: int, highest: int) -> None:
    """Scores must lie in 0..100 once they are normalised."""
    if lowest < MIN_SCORE or highest > MAX_SCORE:
        raise calls.refuse(
            plugin,
            "Score",
            f'plugin "{plugin.name}" returns an invalid score {lowest if lowest < MIN_SCORE else highest}, '
            f"it should in the range of [{MIN_SCORE}, {MAX_SCORE}] after normalizing",
        )


def pick(totals: Scores, number: int) -> tuple[int, int]:
    """The winner's position and how many shared the best total; ``which_of`` chooses among them."""
    best = (totals == np.maximum.reduce(totals)).nonzero()[0]
    return best.item(which_of(len(best), number)), len(best)


def which_of(ties: int, number: int) -> int:
    """Which of so many equals, in the order of their rows, is taken."""
    return number % ties


def scramble(seed: int, number: int) -> int:
    """A well mixed 64-bit number from two (splitmix64): repeats for the same seed, whatever ran before."""
    z = (seed * 0x9E3779B97F4A7C15 + (number + 1) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return z ^ (z >> 31)
