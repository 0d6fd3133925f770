"""
PreScore, Score, NormalizeScore, weights, and the pick of one winner among the feasible nodes.

Called by ``scheduling_cycle.decide`` when more than one node is feasible.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayplan.engine.running import Calls
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.decision import PluginScores
from bayplan.framework.plugin import MAX_SCORE, MIN_SCORE, PreScorePlugin, ScorePlugin
from bayplan.framework.profile import Profile
from bayplan.framework.snapshot import NodeTable, Rows, Scores
from bayplan.framework.status import Code, Status
from bayplan.objects.pod import Pod

NUMBERS = "iufb"
"""Kinds of numpy that are numbers."""


class ScoreError(Exception):
    """A plugin ended scoring with an error status."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status


def pre_score(calls: Calls, profile: Profile, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> None:
    """Let plugins prepare; one that skips adds nothing to any node."""
    for plugin in profile.extension("pre_score"):
        assert isinstance(plugin, PreScorePlugin)
        status = calls.verdict(plugin, "PreScore", plugin.pre_score, state, pod, nodes, feasible)
        if status.is_skip:
            state.skip_score.add(plugin.name)
        elif not status.is_success:
            text = f'running PreScore plugin "{plugin.name}": {calls.complaint(status)}'
            raise ScoreError(Status(Code.ERROR, (text,), plugin.name))


def score(
    calls: Calls, profile: Profile, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows
) -> list[PluginScores]:
    """Every score plugin's raw and normalised scores of the feasible rows."""
    results = []
    for plugin in profile.extension("score"):
        assert isinstance(plugin, ScorePlugin)
        if plugin.name in state.skip_score:
            continue
        raw = _raw(calls, plugin, state, pod, nodes, feasible)
        raw.flags.writeable = False
        normalized = calls.run(plugin, "NormalizeScore", plugin.normalize, state, pod, raw, feasible)
        normalized = _checked(calls, plugin, "NormalizeScore", normalized, nodes, feasible)
        _check_range(calls, plugin, normalized)
        results.append(PluginScores(plugin.name, profile.weights.get(plugin.name, 1), raw, normalized))
    return results


def _raw(calls: Calls, plugin: ScorePlugin, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> Scores:
    if plugin._score_derived:
        scores = [
            calls.run(plugin, "Score", plugin.score_node, state, pod, nodes.node(row)) for row in feasible.tolist()
        ]
        return _checked(calls, plugin, "Score", _as_array(scores), nodes, feasible)
    whole = calls.run(plugin, "Score", plugin.score, state, pod, nodes)
    whole = _checked(calls, plugin, "Score", whole, nodes)
    return whole.view() if len(feasible) == len(nodes) else whole[feasible]


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
                name = nodes.names[at if rows is None else int(rows[at])]
                problem = f"the score of node {name} is {_shown(score)}"
                raise calls.refuse(plugin, point, f"{problem}; return a whole number, {MIN_SCORE} to {MAX_SCORE}")
    return scores if scores.dtype == np.int64 else scores.astype(np.int64)


def _is_score(score: object) -> bool:
    """Is it a number of 64 bits?  NaN is not."""
    return isinstance(score, (int, float, np.integer, np.floating)) and bool(-(2**63) < score < 2**63)


def _shown(score: object) -> str:
    try:
        text = repr(score)
    except ValueError:  # Python writes no numbers of more than some thousand digits
        return "a number of thousands of digits"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _check_range(calls: Calls, plugin: ScorePlugin, scores: Scores) -> None:
    if len(scores) and (scores.min() < MIN_SCORE or scores.max() > MAX_SCORE):
        bad = int(scores.min()) if scores.min() < MIN_SCORE else int(scores.max())
        raise calls.refuse(
            plugin,
            "Score",
            f'plugin "{plugin.name}" returns an invalid score {bad}, '
            f"it should in the range of [{MIN_SCORE}, {MAX_SCORE}] after normalizing",
        )


def total(results: list[PluginScores], count: int) -> Scores:
    """Weighted sums.  With no score plugin at all every node is worth 1."""
    if not results:
        return np.ones(count, np.int64)
    totals = np.zeros(count, np.int64)
    for result in results:
        totals += result.normalized if result.weight == 1 else result.normalized * result.weight
    return totals


def pick(totals: Scores, seed: int, cycle: int) -> tuple[int, int]:
    """The winner's position and how many shared the best total; ties are broken by seed and cycle number."""
    best = np.flatnonzero(totals == totals.max())
    if len(best) == 1:
        return int(best[0]), 1
    return int(best[scramble(seed, cycle) % len(best)]), len(best)


def scramble(seed: int, number: int) -> int:
    """A well mixed 64-bit number from two (splitmix64): repeats for the same seed, whatever ran before."""
    z = (seed * 0x9E3779B97F4A7C15 + (number + 1) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return z ^ (z >> 31)
