"""Standard streams that are closed, full or read by somebody who leaves: an exit code and at most one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BAYPLAN = f"{sys.executable} -m bayplan"
HELPS = ["--help", "-h", "", "simulate --help", "sticky --help", "bench --help", "--version"]
FULL = "error: standard output cannot be written: No space left on device; send it somewhere else\n"
CLOSED = "error: standard output is closed; send it to a file or through a pipe\n"


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = os.environ | {"NO_COLOR": "1"} | environment
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=settings, timeout=60)


@pytest.mark.parametrize("arguments", HELPS)
def test_who_reads_the_help_may_leave_early(arguments: str) -> None:
    ended = run(f"{BAYPLAN} {arguments} | true; exit ${{PIPESTATUS[0]}}")
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [*HELPS, "plugins", "manifests"])
@pytest.mark.parametrize(("where", "said"), [(">/dev/full", FULL), (">&-", CLOSED)])
def test_output_that_nobody_can_take_is_told(arguments: str, where: str, said: str) -> None:
    ended = run(f"{BAYPLAN} {arguments} {where}")
    assert (ended.returncode, ended.stderr) == (2, said)


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full", "2> >(exec 0<&-)"])
@pytest.mark.parametrize(
    ("arguments", "code", "is_told"),
    [("simulate -f missing.yaml", 2, False), ("--bogus", 2, False), ("simulate -f warned.yaml", 0, True)],
    ids=["an error", "wrong arguments", "a warning"],
)
def test_complaints_that_nobody_hears_change_nothing(
    tmp_path: Path, where: str, arguments: str, code: int, is_told: bool
) -> None:
    (tmp_path / "warned.yaml").write_text(
        "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: s}}\n"
    )
    ended = run(f"cd {tmp_path}; {BAYPLAN} {arguments} {where}")
    assert ended.returncode == code
    assert ended.stdout.startswith("NODE") is is_told, "complaints are never output"
    assert "error" not in ended.stdout


def test_no_stream_at_all_is_no_crash() -> None:
    assert run(f"{BAYPLAN} --help <&- >&- 2>&-").returncode == 2


def test_a_terminal_that_knows_few_characters_gets_the_rest_escaped(tmp_path: Path) -> None:
    node = "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n"
    pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: zürich, nodeName: n1,"
    (tmp_path / "in.yaml").write_text(f"{node}{pod} containers: [{{name: c, image: i}}]}}}}\n")
    ended = run(f"{BAYPLAN} simulate -f {tmp_path}/in.yaml -o json", PYTHONIOENCODING="ascii")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "z\\xfcrich" in ended.stdout


@pytest.mark.parametrize("asked", ["bash_source", "nonsense", "source_nonsense"])
def test_a_completion_nobody_knows_is_one_line(asked: str) -> None:
    ended = run(BAYPLAN, _BAYPLAN_COMPLETE=asked)
    assert ended.returncode != 0
    assert len(ended.stderr.splitlines()) == 1
    assert "this should not have happened" not in ended.stderr
