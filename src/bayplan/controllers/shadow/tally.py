"""
How many pods agree and how many do not, and by which plugins: the sums of ``bayplan shadow`` and ``bayplan replay``.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from bayplan.controllers.shadow.verdict import Finding, Verdict
from bayplan.text_layout import table

HEADER = ("POD", "RESULT", "THEIRS", "TOTAL", "OURS", "TOTAL", "BECAUSE")
MANY = 50
"""Reasons why pods cannot be judged that are counted by themselves; a plugin could make them up without end."""


class Tally:
    """Counts verdicts; its size does not grow with them."""

    def __init__(self) -> None:
        self.findings: Counter[Finding] = Counter()
        self.plugins: Counter[str] = Counter()
        """Of the pods that differ or are infeasible."""
        self.unjudged: Counter[str] = Counter()

    def add(self, verdict: Verdict) -> None:
        self.findings[verdict.finding] += 1
        if verdict.is_different and verdict.plugin:
            self.plugins[verdict.plugin] += 1
        if verdict.finding is Finding.UNJUDGED and (verdict.message in self.unjudged or len(self.unjudged) < MANY):
            self.unjudged[verdict.message] += 1

    @property
    def binds(self) -> int:
        return sum(self.findings.values())

    @property
    def is_different(self) -> bool:
        return bool(self.findings[Finding.DIFFER] or self.findings[Finding.INFEASIBLE])

    @property
    def has_errors(self) -> bool:
        return bool(self.findings[Finding.ERROR])

    def as_document(self) -> dict[str, Any]:
        """The counts, every finding among them."""
        return {
            "binds": self.binds,
            **{finding.value: self.findings[finding] for finding in Finding},
            "plugins": dict(self.plugins.most_common()),
            "unjudgedBecause": dict(self.unjudged.most_common()),
        }

    def as_text(self) -> str:
        """One line of counts, and the plugins behind the differences."""
        line = ", ".join(f"{self.findings[each]} {each.value}" for each in Finding if self.findings[each])
        lines = [f"{self.binds} {'bind' if self.binds == 1 else 'binds'}" + (f": {line}" if line else "")]
        if self.plugins:
            lines.append("tipped by " + ", ".join(f"{name} ({number})" for name, number in self.plugins.most_common()))
        lines += [f"unjudged: {number}: {why}" for why, number in self.unjudged.most_common()]
        return "\n".join(lines)


def row(verdict: Verdict) -> tuple[str, ...]:
    """A verdict under ``HEADER``."""
    return (
        verdict.key,
        verdict.finding.value,
        verdict.theirs,
        _number(verdict.theirs_total),
        verdict.ours or "-",
        _number(verdict.ours_total),
        ": ".join(part for part in (verdict.plugin, verdict.message) if part) or "-",
    )


def rows_as_text(verdicts: list[Verdict]) -> str:
    return table(HEADER, [row(verdict) for verdict in verdicts])


def _number(total: int | None) -> str:
    return "-" if total is None else str(total)
