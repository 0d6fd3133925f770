"""
PreScore, Score, NormalizeScore, weights, and the pick of one winner among the feasible nodes.

Called by ``scheduling_cycle.decide`` when more than one node is feasible.
"""

from __future__ import annotations

import numpy as np

from bayplan.engine.running import Calls
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.decision import PluginScores
from bayplan.framework.plugin import MAX_SCORE, MIN_SCORE, PreScorePlugin, ScorePlugin
from bayplan.framework.profile import Profile
from bayplan.framework.snapshot import NodeTable, Rows, Scores
from bayplan.framework.status import Code, Status
from bayplan.objects.pod import Pod


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
        normalized = _checked(calls, plugin, "NormalizeScore", normalized, len(feasible))
        _check_range(calls, plugin, normalized)
        results.append(PluginScores(plugin.name, profile.weights.get(plugin.name, 1), raw, normalized))
    return results


def _raw(calls: Calls, plugin: ScorePlugin, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> Scores:
    if plugin._score_derived:
        scores = [
            calls.run(plugin, "Score", plugin.score_node, state, pod, nodes.node(row)) for row in feasible.tolist()
        ]
        return _checked(calls, plugin, "Score", _as_array(calls, plugin, scores), len(feasible))
    whole = calls.run(plugin, "Score", plugin.score, state, pod, nodes)
    whole = _checked(calls, plugin, "Score", whole, len(nodes))
    return whole.view() if len(feasible) == len(nodes) else whole[feasible]


def _as_array(calls: Calls, plugin: ScorePlugin, scores: list[int]) -> object:
    """Scores that were asked for one by one."""
    try:
        return np.array(scores)
    except ValueError as error:  # some are numbers, some are lists
        raise calls.refuse(plugin, "Score", f"score_node must return a number ({error})") from error


def _checked(calls: Calls, plugin: ScorePlugin, point: str, scores: object, length: int) -> Scores:
    """Scores as int64, or a ``PluginError`` that says what is wrong with them."""
    if not isinstance(scores, np.ndarray) or scores.dtype.kind not in "iufb":
        kind = getattr(scores, "dtype", type(scores).__name__)
        raise calls.refuse(plugin, point, f"scores must be an array of numbers, got {kind}")
    if scores.shape != (length,):
        raise calls.refuse(plugin, point, f"got scores of shape {scores.shape} for {length} nodes")
    if scores.dtype.kind in "uf" and not (np.abs(scores) < 2.0**63).all():
        raise calls.refuse(plugin, point, "a score is NaN, infinite or beyond 64 bits")
    return scores if scores.dtype == np.int64 else scores.astype(np.int64)


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
