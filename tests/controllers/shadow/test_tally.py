"""Sums of verdicts, which do not grow with them."""

from __future__ import annotations

from bayplan.controllers.shadow import tally as counting
from bayplan.controllers.shadow.tally import Tally, row, rows_as_text
from bayplan.controllers.shadow.verdict import Finding, Verdict


def verdict(finding: Finding, plugin: str = "", message: str = "", ours: str | None = "b") -> Verdict:
    return Verdict(0.0, "ns", "p", "default-scheduler", finding, "a", ours, 7, 9, plugin, message)


def test_every_finding_is_counted_and_differences_by_plugin() -> None:
    tally = Tally()
    assert (tally.binds, tally.is_different, tally.as_text()) == (0, False, "0 binds")
    tally.add(verdict(Finding.AGREE))
    tally.add(verdict(Finding.TIE))
    assert not tally.is_different
    assert tally.as_text() == "2 binds: 1 agree, 1 tie"
    tally.add(verdict(Finding.DIFFER, "Fit"))
    tally.add(verdict(Finding.INFEASIBLE, "Ports", "no port"))
    tally.add(verdict(Finding.RACE, "Fit"))
    tally.add(verdict(Finding.UNJUDGED, message="by name"))
    assert (tally.is_different, tally.has_errors) == (True, False)
    tally.add(verdict(Finding.ERROR, "Fit"))
    assert tally.has_errors
    assert tally.as_document() == {
        "binds": 7,
        "agree": 1,
        "tie": 1,
        "race": 1,
        "differ": 1,
        "infeasible": 1,
        "unjudged": 1,
        "error": 1,
        "plugins": {"Fit": 1, "Ports": 1},
        "unjudgedBecause": {"by name": 1},
    }
    assert tally.as_text().splitlines()[1:] == ["tipped by Fit (1), Ports (1)", "unjudged: 1: by name"]


def test_reasons_that_are_made_up_without_end_do_not_fill_the_memory() -> None:
    tally = Tally()
    for number in range(1000):
        tally.add(verdict(Finding.UNJUDGED, message=f"reason {number}"))
    assert (tally.binds, len(tally.unjudged)) == (1000, counting.MANY)


def test_a_row_has_both_nodes_both_totals_and_why() -> None:
    told = verdict(Finding.INFEASIBLE, "Ports", "no port", ours=None)
    assert row(told) == ("ns/p", "infeasible", "a", "7", "-", "9", "Ports: no port")
    assert rows_as_text([told]).splitlines()[0].split() == list(counting.HEADER)
