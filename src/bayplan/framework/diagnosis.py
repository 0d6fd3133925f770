"""
Why no node fitted, and how that is told in one line: ``0/5 nodes are available: 3 Insufficient cpu, …``.

The filters leave one number per node (which status was its first no); counting them is one ``bincount``.
The text is kube-scheduler's, to the byte, since autoscalers, dashboards and runbooks read it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bayplan.framework.snapshot import NodeTable, Rows
from bayplan.framework.status import Code, Status

FEASIBLE = -1
UNVISITED = -2


@dataclass(slots=True)
class Diagnosis:
    """The filters' findings for one pod."""

    nodes: NodeTable
    first_no: npt.NDArray[np.int32]
    """Per row: ``FEASIBLE``, ``UNVISITED`` (the search stopped earlier) or an index into ``statuses``."""
    statuses: list[Status] = field(default_factory=list)
    pre_filter_message: str = ""
    post_filter_message: str = ""
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    implicit: frozenset[int] = frozenset()
    """Statuses that nodes have without having been looked at (a PreFilter narrowed them away)."""

    def status_of(self, row: int) -> Status | None:
        """A node's first no, or ``None``."""
        index = int(self.first_no[row])
        return self.statuses[index] if index >= 0 else None

    def rows_with(self, code: Code) -> Rows:
        """The rows whose no has this code."""
        # The last two places are those that FEASIBLE and UNVISITED read.
        wanted = np.array([*(status.code is code for status in self.statuses), False, False])
        return np.flatnonzero(wanted[self.first_no])

    def counts(self) -> Iterator[tuple[Status, int]]:
        """Every status with how many nodes gave it."""
        failed = self.first_no[self.first_no >= 0]
        for index, count in enumerate(np.bincount(failed, minlength=len(self.statuses))):
            if count:
                yield self.statuses[index], int(count)

    def message(self) -> str:
        """The text of the FailedScheduling event and of the PodScheduled condition."""
        return fit_error(len(self.nodes), histogram(self.counts()), self.pre_filter_message, self.post_filter_message)


def histogram(counts: Iterable[tuple[Status, int]]) -> Counter[str]:
    """How often each reason was given; a node with two shortages counts in both."""
    reasons: Counter[str] = Counter()
    for status, count in counts:
        for reason in status.reasons:
            reasons[reason] += count
    return reasons


def fit_error(total: int, reasons: Mapping[str, int], pre_filter: str = "", post_filter: str = "") -> str:
    """kube-scheduler's FitError.  The parts are sorted as strings, counts included: ``10 x`` before ``2 y``."""
    text = f"0/{total} nodes are available:"
    if pre_filter:
        text += f" {pre_filter}."
    elif reasons:
        text += " " + ", ".join(sorted((f"{n} {reason}" for reason, n in reasons.items()), key=str.encode)) + "."
    if post_filter:
        text += f" {post_filter}"
    return text
