"""``bayplan sweep``: the table, the document, and contradicting options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bayplan.cli.main import main
from tests.app.sweep.test_running import SWEEP


@pytest.fixture
def sweep(tmp_path: Path) -> str:
    (tmp_path / "sweep.yaml").write_text(SWEEP.replace("seed: 0:3", "seed: [1]"))
    return str(tmp_path / "sweep.yaml")


def test_a_sweep_is_summed_up(sweep: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "rows.csv")
    assert main(["sweep", sweep, "--workers", "1", "--out", out]) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[0].startswith("WEIGHTS   OUTAGE")
    assert said.endswith(f"8 scenarios in {out}\n")
    assert main(["sweep", sweep, "--workers", "1", "--out", out, "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["scenarios"], document["reused"]) == ("Sweep", 8, 8)
    assert document["summary"][0]["values"]["bound"]["mean"] == document["rows"][0]["bound"]


def test_options_that_contradict_one_another(sweep: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", sweep, "--workers", "2", "--on", "tcp://127.0.0.1:1"]) == 2
    assert capsys.readouterr().err == "error: --workers: has no effect with --on; leave out one of the two\n"


def test_rows_have_a_form(sweep: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", sweep, "--out", "rows.txt"]) == 2
    assert (
        capsys.readouterr().err
        == 'error: --out: "rows.txt" is neither CSV nor Parquet; write a name that ends in .csv\n'
    )
