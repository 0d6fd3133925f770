"""What is read of a report of Kubernetes' own end-to-end tests, and when a run counts as failed."""

from __future__ import annotations

from pathlib import Path

from hack.e2e.verdicts import FAILED, PASSED, SKIPPED, Verdict, only_bayplan_fails, read, table

REPORT = """<?xml version="1.0"?>
<testsuites><testsuite>
  <testcase name="[SynchronizedBeforeSuite]"></testcase>
  <testcase name="[It] [sig-scheduling] Ports [Serial] collide [Feature:Ports] [Beta] [sig-scheduling, Serial]"></testcase>
  <testcase name="[It] [sig-scheduling] Zones spread [sig-scheduling]"><failure message="no such zone&#xA;at x.go:3"/></testcase>
  <testcase name="[It] [sig-scheduling] Zones differ [sig-scheduling]"><skipped message="skipped - needs two"/></testcase>
  <testcase name="[It] [sig-node] not chosen [sig-node]"><skipped message="skipped"/></testcase>
</testsuite></testsuites>
"""
OK, BAD = Verdict(PASSED), Verdict(FAILED, "because")


def test_tests_that_were_chosen_are_read_without_their_labels(tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(REPORT)
    assert read(report) == {
        "Ports collide": OK,
        "Zones spread": Verdict(FAILED, "no such zone"),
        "Zones differ": Verdict(SKIPPED, "skipped - needs two"),
    }


def test_bayplan_has_to_pass_what_kube_scheduler_passes() -> None:
    theirs = {"a": OK, "b": OK, "c": BAD, "d": OK}
    ours = {"a": OK, "b": BAD, "c": BAD}
    assert only_bayplan_fails({"kube-scheduler": theirs, "bayplan": ours}) == ["b", "d"]
    assert only_bayplan_fails({"kube-scheduler": theirs}) == []
    assert only_bayplan_fails({"bayplan": ours}) == ["b", "c"]


def test_the_table_has_both_side_by_side_and_says_why() -> None:
    shown = table({"kube-scheduler": {"a": OK, "b": OK}, "bayplan": {"a": OK, "b": BAD}})
    assert shown.splitlines() == [
        "KUBE-SCHEDULER   BAYPLAN   TEST",
        "passed           passed    a",
        "passed           failed    b",
        "bayplan failed: b",
        "  because",
    ]
