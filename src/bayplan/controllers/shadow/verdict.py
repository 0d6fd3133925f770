"""
What became of one pod that somebody else bound: their node, ours, and what tipped it.

``judge`` makes verdicts; ``tally`` counts them; ``bayplan shadow`` and ``bayplan replay`` show them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bayplan.framework.tipping import How, Tip
from bayplan.objects.pod import Pod
from bayplan.objects.times import format_micro_time


class Finding(StrEnum):
    """How the two decisions compare."""

    AGREE = "agree"
    """The same node."""
    TIE = "tie"
    """Another node with the same total: which of the two is taken is chance."""
    RACE = "race"
    """Another node, which is ours as well if binds that were under way are put into another order."""
    DIFFER = "differ"
    """Another node, which fits and has a lower total."""
    INFEASIBLE = "infeasible"
    """A node that does not fit by our filters."""
    UNJUDGED = "unjudged"
    """It cannot be said what was decided, and when."""
    ERROR = "error"
    """A plugin broke, so that we have no decision."""


DIFFERENT = (Finding.DIFFER, Finding.INFEASIBLE)
"""What counts as a difference."""

QUIET = (Finding.AGREE, Finding.TIE)
"""What is counted, and told by itself only if all is to be told."""

OF_TIP = {
    How.SAME: Finding.AGREE,
    How.TIE: Finding.TIE,
    How.SCORE: Finding.DIFFER,
    How.UNSEEN: Finding.DIFFER,
    How.FILTER: Finding.INFEASIBLE,
    How.MISSING: Finding.UNJUDGED,
    How.ERROR: Finding.ERROR,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One pod, decided twice."""

    at: float
    namespace: str
    name: str
    scheduler: str
    finding: Finding
    theirs: str
    ours: str | None = None
    theirs_total: int | None = None
    ours_total: int | None = None
    plugin: str = ""
    message: str = ""
    """Why it is infeasible or cannot be judged; what broke; which order makes their node ours."""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def is_different(self) -> bool:
        return self.finding in DIFFERENT

    def as_document(self) -> dict[str, Any]:
        return {
            "at": format_micro_time(self.at),
            "namespace": self.namespace,
            "name": self.name,
            "scheduler": self.scheduler,
            "result": self.finding.value,
            "theirs": {"node": self.theirs, "total": self.theirs_total},
            "ours": {"node": self.ours, "total": self.ours_total},
            "because": self.plugin or None,
            "message": self.message,
        }


def judged(at: float, pod: Pod, theirs: str, ours: str | None, tip: Tip) -> Verdict:
    """The verdict that follows from what tipped our decision against their node."""
    message = ", ".join(tip.reasons)
    if tip.how is How.UNSEEN:
        message = "the search ended before their node was looked at"
    elif tip.how is How.MISSING:
        message = "their node is not known"
    return Verdict(
        at,
        pod.namespace,
        pod.name,
        pod.scheduler_name,
        OF_TIP[tip.how],
        theirs,
        ours,
        tip.other_total,
        tip.total,
        tip.plugin,
        message,
    )


def unjudged(at: float, pod: Pod, why: str) -> Verdict:
    """A pod that is on a node, and nobody can say what was decided when."""
    return Verdict(at, pod.namespace, pod.name, pod.scheduler_name, Finding.UNJUDGED, pod.node_name, message=why)
