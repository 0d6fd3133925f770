"""
What tipped it: why an evaluation took one node and not another one, in one word and the name of a plugin.

The one rule for everybody who compares two choices: ``shadow`` and ``replay`` (our node and that of another scheduler)
and ``compare`` (the nodes of two configurations).  A filter that says no to the other node settles it.  Where both
nodes fit, it is the plugin that speaks loudest for the chosen one: the largest difference of weighted scores in its
favour, and of equally large ones the first in the order of the profile.  Equal totals are a tie, which no plugin tips.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from bayplan.framework.decision import Decision


class How(StrEnum):
    """How one node came before another."""

    SAME = "same"
    """They are the same node."""
    TIE = "tie"
    """Both have the same total: which of them is taken is chance."""
    SCORE = "score"
    """Both fit, and the chosen one has the higher total."""
    FILTER = "filter"
    """The other node does not fit."""
    UNSEEN = "unseen"
    """The other node was not looked at: the search ended before, or a nominated node was taken."""
    MISSING = "missing"
    """There is no such other node."""
    ERROR = "error"
    """The evaluation broke, so nothing is known."""


@dataclass(frozen=True, slots=True)
class Tip:
    """Why the chosen node was taken, or none was, and not the other one."""

    how: How
    plugin: str = ""
    """The one that tipped it; empty where none did."""
    reasons: tuple[str, ...] = ()
    """What a filter said of the other node, or what broke."""
    total: int | None = None
    """The chosen node's, where nodes were scored: a single feasible node is not."""
    other_total: int | None = None


def tip(decision: Decision, other: str) -> Tip:
    """
    What tipped a decision of which everything was told (``decide``) against another node.

    To be asked before the cluster changes: a decision shares the columns that it was made of.
    """
    diagnosis = decision.diagnosis
    if decision.status.is_error:
        return Tip(How.ERROR, decision.status.plugin, decision.status.reasons)
    row = None if diagnosis is None else diagnosis.nodes.row_of(other)
    if diagnosis is None or row is None:
        return Tip(How.MISSING)
    total = _total(decision, decision.node)
    rejection = diagnosis.status_of(row)
    if rejection is not None:
        return Tip(How.FILTER, rejection.plugin, rejection.reasons, total)
    if decision.node == other:
        return Tip(How.SAME, total=total, other_total=total)
    other_total = _total(decision, other)
    if total is None or other_total is None:
        return Tip(How.UNSEEN, total=total)
    if total == other_total:
        return Tip(How.TIE, total=total, other_total=other_total)
    loudest = loudest_for(scores_of(decision, decision.node), scores_of(decision, other))
    return Tip(How.SCORE, loudest, total=total, other_total=other_total)


def loudest_for(chosen: Mapping[str, int], other: Mapping[str, int]) -> str:
    """The plugin whose weighted score speaks most for the chosen node; empty if none does."""
    ahead = {plugin: score - other.get(plugin, 0) for plugin, score in chosen.items()}
    plugin = max(ahead, key=lambda name: ahead[name], default="")
    return plugin if plugin and ahead[plugin] > 0 else ""


def scores_of(decision: Decision, node: str | None) -> dict[str, int]:
    """Each plugin's weighted score of a node; none where it was not scored."""
    position = _position(decision, node)
    if position is None:
        return {}
    return {scores.plugin: int(scores.weighted[position]) for scores in decision.scores}


def _total(decision: Decision, node: str | None) -> int | None:
    position = _position(decision, node)
    return None if position is None or not len(decision.totals) else int(decision.totals[position])


def _position(decision: Decision, node: str | None) -> int | None:
    """Where a node is among the feasible ones."""
    row = None if decision.diagnosis is None or node is None else decision.diagnosis.nodes.row_of(node)
    rows = decision.feasible.tolist()
    return rows.index(row) if row in rows else None
