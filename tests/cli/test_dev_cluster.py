"""``bayplan dev-cluster`` without a checkout; ``tests/e2e`` runs it with one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayplan.cli import dev_cluster
from bayplan.cli.main import main


def test_outside_a_checkout_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev_cluster, "CHECKOUT", tmp_path)

    assert main(["dev-cluster", "up"]) == 2
    assert capsys.readouterr().err == (
        "error: dev-cluster needs a checkout of the repository; clone it and run make dev-cluster there\n"
    )


@pytest.mark.parametrize("arguments", [["sideways"], [], ["up", "--nodes", "-1"], ["up", "--nodes", "many"]])
def test_wrong_arguments_give_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dev-cluster", *arguments]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("error: ")
    assert complaint.count("\n") == 1
