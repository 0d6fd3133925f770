"""Verdicts: what follows from what tipped it, and how it is told."""

from __future__ import annotations

import pytest

from bayplan.controllers.shadow.verdict import DIFFERENT, OF_TIP, QUIET, Finding, judged, unjudged
from bayplan.framework.tipping import How, Tip
from bayplan.testing import pod

P = pod("p").on("a").build()


def test_every_way_of_coming_before_another_node_means_something() -> None:
    assert OF_TIP.keys() == set(How)
    assert not set(QUIET) & set(DIFFERENT)


@pytest.mark.parametrize(
    ("tip", "finding", "message"),
    [
        (Tip(How.SCORE, "Fit", total=9, other_total=7), Finding.DIFFER, ""),
        (Tip(How.FILTER, "Fit", ("no room", "no cpu"), 9), Finding.INFEASIBLE, "no room, no cpu"),
        (Tip(How.UNSEEN), Finding.DIFFER, "the search ended before their node was looked at"),
        (Tip(How.MISSING), Finding.UNJUDGED, "their node is not known"),
        (Tip(How.ERROR, "Fit", ("oops",)), Finding.ERROR, "oops"),
    ],
)
def test_what_tipped_it_is_told(tip: Tip, finding: Finding, message: str) -> None:
    verdict = judged(0.0, P, "a", "b", tip)
    assert (verdict.finding, verdict.message) == (finding, message)
    assert verdict.is_different == (finding in DIFFERENT)
    assert verdict.as_document() == {
        "at": "1970-01-01T00:00:00.000000Z",
        "namespace": "default",
        "name": "p",
        "scheduler": "default-scheduler",
        "result": finding.value,
        "theirs": {"node": "a", "total": tip.other_total},
        "ours": {"node": "b", "total": tip.total},
        "because": tip.plugin or None,
        "message": message,
    }


def test_who_cannot_be_judged_is_on_their_node_all_the_same() -> None:
    verdict = unjudged(1.0, P, "why")
    assert (verdict.key, verdict.theirs, verdict.ours, verdict.message) == ("default/p", "a", None, "why")
