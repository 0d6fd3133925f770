"""``bayplan top``: arguments; what it shows is tested in ``tests/app/top``."""

from __future__ import annotations

from pathlib import Path

from tests.cli.support import Shell


def test_a_cluster_that_cannot_be_read_is_one_line(shell: Shell, tmp_path: Path) -> None:
    missing = tmp_path / "kubeconfig"
    ended = shell.run("top", f"--kubeconfig={missing}")

    assert ended.code == 2
    assert len(ended.err.splitlines()) == 1
    assert str(missing) in ended.err


def test_how_often_must_be_a_time(shell: Shell) -> None:
    ended = shell.run("top", "--every=often")

    assert ended.code == 2
    assert "--every" in ended.err
