"""
Looking at fewer than all nodes (``percentageOfNodesToScore``): how many are enough, and where the search stops.

``engine.evaluation`` asks for profiles that set it.
"""

from __future__ import annotations

import numpy as np

from bayplan.framework.diagnosis import FEASIBLE, UNVISITED, Diagnosis
from bayplan.framework.snapshot import Rows


def how_many(total: int, percentage: int) -> int:
    """How many feasible nodes are enough; ``percentage`` 0 adapts to the size as kube-scheduler does."""
    if total < 100:
        return total
    if percentage == 0:
        percentage = max(5, 50 - total // 125)
    return total if percentage >= 100 else max(100, total * percentage // 100)


def stop_early(diagnosis: Diagnosis, order: Rows, start: int, enough: int) -> tuple[Rows, int]:
    """
    Keep only what a search that starts at ``start`` and stops after ``enough`` feasible nodes would have
    seen.  Gives the feasible rows and where the next search starts.
    """
    first_no = diagnosis.first_no
    rotated = np.roll(order, -start)
    is_feasible = first_no[rotated] == FEASIBLE
    feasible_at = np.flatnonzero(is_feasible)
    if len(feasible_at) > enough:
        # The search ends on finding one more than enough; that one is dropped with everything behind it.
        first_no[rotated[feasible_at[enough] :]] = UNVISITED
    feasible = np.flatnonzero(first_no == FEASIBLE)
    explicit = int(np.count_nonzero(first_no >= 0))
    if diagnosis.implicit:
        explicit -= int(np.count_nonzero(np.isin(first_no, list(diagnosis.implicit))))
    return feasible, (start + len(feasible) + explicit) % max(len(order), 1)
