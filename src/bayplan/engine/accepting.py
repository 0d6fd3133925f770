"""
Accepts the answers of plugins that the full pass accepts, and leaves all others for it to complain about.

``engine.class_cache`` and ``engine.class_entry`` read every answer through it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayplan.framework.plugin import MAX_SCORE, MIN_SCORE, FilterPlugin, Verdicts
from bayplan.framework.snapshot import Mask, Scores
from bayplan.framework.status import REJECTED, as_status


class NotRememberedError(Exception):
    """This pod's class cannot be carried over now; the full pass decides."""


def passes(plugin: FilterPlugin, answer: Any, count: int) -> Mask:
    """Which rows a filter lets through."""
    codes, reasons = (answer.codes, answer.statuses) if isinstance(answer, Verdicts) else (answer, plugin.reasons)
    if codes.shape != (count,) or codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() > len(reasons):
        raise NotRememberedError
    let_through: Mask = codes == 0
    if any(reason.code not in REJECTED for reason in reasons) and not let_through.all():
        raise NotRememberedError
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
    status = as_status(verdict)
    if not status.is_success and not status.is_skip:
        raise NotRememberedError
    return status.is_skip


def whole(scores: Any, count: int) -> Scores:
    """Raw scores, one for each of so many rows."""
    if scores.shape != (count,) or scores.dtype.kind not in "iufb":
        raise NotRememberedError
    if scores.dtype.kind in "uf" and not (np.abs(scores) < 2.0**63).all():
        raise NotRememberedError
    integers: Scores = scores.astype(np.int64)
    return integers


def in_range(scores: Any, count: int) -> Scores:
    """Normalised scores."""
    integers = whole(scores, count)
    if len(integers) and (integers.min() < MIN_SCORE or integers.max() > MAX_SCORE):
        raise NotRememberedError
    return integers


def one_in_range(score: Any) -> int:
    """The score of one node."""
    integer = int(score)
    if not MIN_SCORE <= integer <= MAX_SCORE:
        raise NotRememberedError
    return integer
