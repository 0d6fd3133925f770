"""Bringing raw scores into 0..100: the shapes that in-tree plugins share.  Called from their ``normalize``."""

from __future__ import annotations

import numpy as np

from bayplan.framework.plugin import MAX_SCORE
from bayplan.framework.snapshot import Scores


def by_maximum(scores: Scores, *, reverse: bool = False) -> Scores:
    """``100 * s / max``, truncated; reversed it is 100 minus that.  All zero stays 0, or 100 reversed."""
    top = max(int(scores.max()), 0) if len(scores) else 0
    if top == 0:
        return np.full(len(scores), MAX_SCORE, np.int64) if reverse else scores
    scaled: Scores = scores * MAX_SCORE // top
    return MAX_SCORE - scaled if reverse else scaled


def by_range(scores: Scores) -> Scores:
    """``100 * (s - min) / (max - min)`` in floats, truncated; all equal gives 0."""
    if not len(scores):
        return scores
    low, high = int(np.minimum.reduce(scores)), int(np.maximum.reduce(scores))
    if low == high:
        return np.zeros(len(scores), np.int64)
    scaled = MAX_SCORE * ((scores - low).astype(np.float64) / float(high - low))
    return scaled.astype(np.int64)
