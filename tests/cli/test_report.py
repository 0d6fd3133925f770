"""``--report`` on the commands that have it: stdout and exit code stay, the file says the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import BIG, NODE, POD, Shell, joined


def data_of(path: Path) -> dict[str, Any]:
    found = re.search(r'id="view">(.*?)</script>', path.read_text(), re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def reported(shell: Shell, *command: str) -> dict[str, Any]:
    """The data of the report, after a check that it changed nothing else."""
    path = shell.folder / "report.html"
    plain, with_report = shell.run(*command), shell.run(*command, "--report", str(path))
    assert (with_report.code, with_report.out, with_report.err) == (plain.code, plain.out, plain.err)
    view = data_of(path)
    assert view["source"] == command[0]
    assert view["command"].startswith(f"bayplan {command[0]} ")
    assert "--report" not in view["command"]
    return view


def test_simulate(shell: Shell) -> None:
    view = reported(shell, "simulate", "-f", shell.write("all.yaml", joined(NODE, POD, BIG)), "-o", "json")
    assert view["clusters"][0]["summary"]["pending"] == 1


@pytest.mark.parametrize("form", ["svg", "png"])
def test_pictures(shell: Shell, form: str) -> None:
    path = shell.folder / f"a.{form}"
    ended = shell.run("simulate", "-f", shell.write("all.yaml", joined(NODE, POD)), f"--report={path}")
    assert (ended.code, ended.err) == (0, "")
    assert path.read_bytes().lstrip().startswith(b"\x89PNG" if form == "png" else b"<?xml")


def test_a_wrong_name_is_told_before_anything_is_read(shell: Shell) -> None:
    ended = shell.run("simulate", "-f", str(shell.folder / "nothing.yaml"), "--report", "a.pdf")
    assert ended.code == 2
    assert ended.err == (
        'error: --report: "a.pdf" is neither a page nor a picture; write a name that ends in .html, .svg, .png\n'
    )
