"""Progress: a bar on a terminal for what takes long, lines elsewhere, nothing for what is quick."""

from __future__ import annotations

import sys

import pytest

from bayplan.cli import progress


@pytest.fixture(autouse=True)
def _always_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LOOK_EVERY", 1)


def test_a_quick_command_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.progress("pods") as tell:
        tell(1, 2)
    assert capsys.readouterr().err == ""


def test_lines_come_every_few_seconds(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    with progress.progress("pods") as tell:
        tell(1, 2)
        tell(2, 2)
    assert capsys.readouterr().err.splitlines() == ["pods: 1 of 2", "pods: 2 of 2"]


@pytest.mark.parametrize(("after_s", "shows"), [(0.0, True), (60.0, False)])
def test_a_bar_is_shown_on_a_terminal_once_it_takes_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, after_s: float, shows: bool
) -> None:
    monkeypatch.setattr(progress, "BAR_AFTER_S", after_s)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress("pods") as tell:
        tell(1, 2)
        tell(2, 2)
    captured = capsys.readouterr()
    assert ("2/2" in captured.err) is shows
    assert captured.out == ""
