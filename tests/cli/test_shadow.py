"""``bayplan shadow``: how verdicts are shown, and wrong arguments; it runs in ``tests/e2e/test_shadow.py``."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator

import pytest

from bayplan.cli import shadow
from bayplan.controllers.shadow.tally import Tally
from bayplan.controllers.shadow.verdict import Finding, Verdict
from tests.cli.support import Shell


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """The command takes the signals of the process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def verdict(name: str, finding: Finding, ours: str = "node-2") -> Verdict:
    return Verdict(0.0, "shop", name, "default-scheduler", finding, "node-1", ours, 7, 9, "Fit", "")


def shown(capsys: pytest.CaptureFixture[str], form: type[shadow._Lines] | type[shadow._Table], every: bool) -> str:
    tally = Tally()
    told = form(tally, every)
    for each in (
        verdict("a", Finding.AGREE),
        verdict("b", Finding.TIE),
        verdict("c", Finding.DIFFER),
        verdict("a-long-name", Finding.INFEASIBLE, "a-long-node"),
        verdict("d", Finding.DIFFER),
    ):
        tally.add(each)
        told.tell(each)
    told.end()
    return capsys.readouterr().out


def test_the_table_shows_what_does_not_agree_and_its_columns_grow(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, shadow._Table, every=False).splitlines() == [
        "POD      RESULT   THEIRS   TOTAL   OURS     TOTAL   BECAUSE",
        "shop/c   differ   node-1   7       node-2   9       Fit",
        "shop/a-long-name   infeasible   node-1   7       a-long-node   9       Fit",
        "shop/d             differ       node-1   7       node-2        9       Fit",
        "",
        "5 binds: 1 agree, 1 tie, 2 differ, 1 infeasible",
        "tipped by Fit (3)",
    ]
    assert "shop/a " in shown(capsys, shadow._Table, every=True)


def test_without_anything_to_tell_there_are_only_the_sums(capsys: pytest.CaptureFixture[str]) -> None:
    shadow._Table(Tally(), every=False).end()
    assert capsys.readouterr().out == "0 binds\n"


def test_as_json_there_is_an_object_a_line_and_the_sums_last(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.loads(line) for line in shown(capsys, shadow._Lines, every=False).splitlines()]
    assert [line["kind"] for line in lines] == [*["ShadowVerdict"] * 3, "ShadowSummary"]
    assert {line["apiVersion"] for line in lines} == {"bayplan.io/v1alpha1"}
    assert [line["name"] for line in lines[:-1]] == ["c", "a-long-name", "d"]
    assert len(shown(capsys, shadow._Lines, every=True).splitlines()) == 6


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--profile", "none"], '--profile: there is no profile "none"; write one of bayplan'),
        (["--for", "0s"], "--for: 0s leaves no time at all; write a duration such as 10s"),
        (["--settle", "soon"], "--settle: "),
        (["--config", "none.yaml"], "none.yaml: "),
    ],
)
def test_wrong_arguments_are_one_line_and_2(shell: Shell, arguments: list[str], complaint: str) -> None:
    ended = shell.run("shadow", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {complaint}")
    assert ended.err.count("\n") == 1
