"""
Accepts the answers of plugins that the full pass accepts, and leaves all others for it to complain about.

``engine.answers`` and ``engine.every_time`` read every answer through it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bayplan.engine.scoring import NUMBERS
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.plugin import (
    MAX_SCORE,
    MIN_SCORE,
    FilterPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    Verdicts,
)
from bayplan.framework.snapshot import Mask, NodeTable, Rows, Scores
from bayplan.framework.status import REJECTED, as_status
from bayplan.objects.pod import Pod


class NotRememberedError(Exception):
    """This pod's class cannot be carried over now; the full pass decides."""


def prepare_filters(state: CycleState, pod: Pod, nodes: NodeTable, plugins: Iterable[PreFilterPlugin]) -> None:
    """Run PreFilter; a plugin that narrows the nodes or rejects the pod leaves the rest to the full pass."""
    for plugin in plugins:
        prepared(plugin, plugin.pre_filter(state, pod, nodes), state)


def prepared(plugin: PreFilterPlugin, answer: Any, state: CycleState) -> None:
    """Take in the answer of one plugin at PreFilter."""
    if answer is None:
        return
    if isinstance(answer, PreFilterResult):
        raise NotRememberedError
    if skips(answer):
        state.skip_filter.add(plugin.name)


def prepare_scores(
    state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows, plugins: Iterable[PreScorePlugin]
) -> None:
    """Run PreScore."""
    for plugin in plugins:
        if skips(plugin.pre_score(state, pod, nodes, feasible)):
            state.skip_score.add(plugin.name)


def passes(plugin: FilterPlugin, answer: Any, count: int) -> Mask:
    """Which rows a filter lets through."""
    codes, reasons = (answer.codes, answer.statuses) if isinstance(answer, Verdicts) else (answer, plugin.reasons)
    kind = codes.dtype.kind
    if codes.shape != (count,) or kind not in "iu":
        raise NotRememberedError
    highest = codes.max()
    if highest > len(reasons) or (kind == "i" and codes.min() < 0):
        raise NotRememberedError
    if highest and any(reason.code not in REJECTED for reason in reasons):
        raise NotRememberedError
    let_through: Mask = codes == 0
    return let_through


def rejects(verdict: Any) -> bool:
    """Does a filter turn one node down?"""
    if verdict is None:
        return False
    status = as_status(verdict)
    if not status.is_rejected and not status.is_success:
        raise NotRememberedError
    return status.is_rejected


def skips(verdict: Any) -> bool:
    """Does a plugin ask not to be asked any further?"""
    if verdict is None:
        return False
    status = as_status(verdict)
    if not status.is_success and not status.is_skip:
        raise NotRememberedError
    return status.is_skip


def whole(scores: Any, count: int) -> Scores:
    """Raw scores, one for each of so many rows."""
    if scores.shape != (count,) or scores.dtype.kind not in NUMBERS:
        raise NotRememberedError
    if scores.dtype.kind in "uf" and not (np.abs(scores) < 2.0**63).all():
        raise NotRememberedError
    integers: Scores = scores if scores.dtype == np.int64 else scores.astype(np.int64)
    return integers


def in_range(scores: Any, count: int, of_interest: Mask | None = None) -> Scores:
    """Normalised scores; those of nodes that do not fit may be anything."""
    integers = whole(scores, count)
    if len(integers) and (integers.min() < MIN_SCORE or integers.max() > MAX_SCORE):
        if of_interest is None:
            raise NotRememberedError
        in_range(integers[of_interest], int(np.count_nonzero(of_interest)))
    return integers


def one_in_range(score: Any) -> int:
    """The score of one node."""
    integer = int(score)
    if not MIN_SCORE <= integer <= MAX_SCORE:
        raise NotRememberedError
    return integer
