"""
Counts per node added up over topology domains.

``NodeTable.summed`` is how plugins ask; the engine's own table keeps sums that were asked for and moves them with the
pods, any other adds them up here.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ids: TypeAlias = "npt.NDArray[np.integer[Any]]"
"""One domain per node, as a number."""


def summed(counts: npt.NDArray[np.integer[Any]], ids: Ids, size: int) -> npt.NDArray[np.int64]:
    """One sum per domain; nodes with -1 or ``size - 1`` count nowhere, and the last sum is 0."""
    if len(ids) and ids.min() < 0:
        ids = np.where(ids >= 0, ids, size - 1)
    sums = np.bincount(ids, counts, size).astype(np.int64)
    sums[-1] = 0
    return sums
