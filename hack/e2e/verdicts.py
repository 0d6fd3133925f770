"""What a run of ``e2e.test`` says of each test, and two runs side by side.  Used by ``python -m hack.e2e``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from bayplan import text_layout

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
TEST = "[It]"
"""What the names of tests begin with; before and after them a report has set-up and tidying up."""
_LABELS = re.compile(r"\[sig-\w+\] |\[[A-Z]\w+(:\w+)?\] ?|\[[^\]]+\]$")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one test ended, and why it did not pass."""

    state: str
    why: str = ""


def read(report: Path) -> dict[str, Verdict]:
    """The tests of a JUnit report that were chosen to run, by name."""
    found = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        kind, _, name = case.get("name", "").partition(" ")
        if kind == TEST and (verdict := _verdict(case)) is not None:
            found[_LABELS.sub("", name).strip()] = verdict
    return found


def only_bayplan_fails(verdicts: Mapping[str, Mapping[str, Verdict]]) -> list[str]:
    """What Bayplan does not pass and kube-scheduler does; everything that fails, where there is nothing to compare."""
    ours, theirs = verdicts.get("bayplan", {}), verdicts.get("kube-scheduler")
    if theirs is None:
        return [name for name, verdict in ours.items() if verdict.state == FAILED]
    return [
        name for name, verdict in theirs.items() if verdict.state == PASSED and ours and _state(ours, name) != PASSED
    ]


def table(verdicts: Mapping[str, Mapping[str, Verdict]]) -> str:
    """A row for each test, a column for each scheduler; below it why tests did not pass."""
    names = sorted({name for found in verdicts.values() for name in found})
    rows = [[*(_state(found, name) for found in verdicts.values()), name] for name in names]
    lines = [text_layout.table([*(scheduler.upper() for scheduler in verdicts), "TEST"], rows)]
    for scheduler, found in verdicts.items():
        lines += [f"{scheduler} {each.state}: {name}\n  {each.why}" for name, each in sorted(found.items()) if each.why]
    return "\n".join(lines)


def _verdict(case: ElementTree.Element) -> Verdict | None:
    for tag in ("failure", "error"):
        if (failed := case.find(tag)) is not None:
            return Verdict(FAILED, _first_line(failed))
    skipped = case.find("skipped")
    if skipped is None:
        return Verdict(PASSED)
    # A test that skips itself says why; the others were not chosen.
    return Verdict(SKIPPED, _first_line(skipped)) if skipped.get("message", "skipped") != "skipped" else None


def _state(found: Mapping[str, Verdict], name: str) -> str:
    return found[name].state if name in found else "not run"


def _first_line(element: ElementTree.Element) -> str:
    text = (element.get("message") or element.text or "").strip()
    return text.splitlines()[0] if text else ""
