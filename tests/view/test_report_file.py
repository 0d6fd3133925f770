"""Where a report goes is checked first, and what is there is replaced whole."""

from __future__ import annotations

import builtins
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from bayplan.errors import InputError
from bayplan.view import report_file
from bayplan.view.documents import Origin, view
from bayplan.view.report_file import ReportFile

VIEW = view(Origin("simulate", "bayplan simulate"))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("a.pdf", '"{folder}/a.pdf" is neither a page nor a picture'),
        ("a", '"{folder}/a" is neither a page nor a picture'),
        ("nowhere/a.html", "there is no folder {folder}/nowhere"),
        ("there.html", "{folder}/there.html is a folder"),
    ],
)
def test_a_place_that_will_not_do(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "there.html").mkdir()
    with pytest.raises(InputError) as refused:
        ReportFile(str(tmp_path / name))
    assert problem.format(folder=tmp_path) in str(refused.value)
    assert "--report" in str(refused.value)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match="cannot be written to"):
        ReportFile(str(tmp_path / "a.html"))


def test_a_picture_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any) -> Any:
        if name == "matplotlib":
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(InputError, match=r"pip install 'bayplan\[plots\]'"):
        ReportFile(str(tmp_path / "a.png"))
    ReportFile(str(tmp_path / "a.html"))


def test_a_report_has_the_rights_of_any_other_file(tmp_path: Path) -> None:
    path, beside = tmp_path / "a.html", tmp_path / "b"
    beside.write_text("")
    ReportFile(str(path)).write(VIEW)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(beside.stat().st_mode)
    assert path.read_bytes().startswith(b"<!doctype html>")


def test_what_fails_leaves_the_old_report_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.html"
    path.write_text("old")

    def full(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report_file.os, "replace", full)
    with pytest.raises(InputError, match=r"cannot be written: No space left on device"):
        ReportFile(str(path)).write(VIEW)
    assert [each.name for each in tmp_path.iterdir()] == ["a.html"]
    assert path.read_text() == "old"
