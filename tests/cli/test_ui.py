"""``bayplan ui`` on the command line: what it refuses, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayplan.cli.main import main
from tests.app.ui.support import CLUSTER


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--address", "0.0.0.0"], "--address: 0.0.0.0 would show the cluster to everybody who can reach it"),
        (["--simulate"], "--simulate: has no effect without -f"),
        (["-f", "FILE", "--auth"], "--auth: only an API server can say who may see what"),
        (["-f", "FILE", "--kubeconfig", "x"], "files and a live cluster at once"),
        (["-f", "FILE", "--scheduler", "https://x"], "--scheduler: has no effect with -f"),
        (["-f", "FILE", "--simulate", "--speed", "0"], "--speed"),
        (["-f", "none.yaml"], "none.yaml"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], told: str) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    given = [str(tmp_path / "cluster.yaml") if each == "FILE" else each for each in flags]
    assert main(["ui", *given]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
