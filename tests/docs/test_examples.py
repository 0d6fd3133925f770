"""The examples run, print what they are said to print, and pass their own tests."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.example_running import EXAMPLES, environment, folders, printed

every_example = pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)


@every_example
def test_an_example_prints_what_its_file_says(folder: Path) -> None:
    assert printed(folder) == (folder / "run.out").read_text()


@every_example
def test_an_example_is_explained_and_listed(folder: Path) -> None:
    assert "run.sh" in (folder / "README.md").read_text()
    assert f"({folder.name})" in (EXAMPLES / "README.md").read_text()


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("test_*.py")), ids=lambda path: path.stem)
def test_the_tests_of_an_example_pass(path: Path, tmp_path: Path) -> None:
    example = next(folder for folder in folders() if folder in path.parents)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(example), path.name]
    ended = subprocess.run(
        command, cwd=path.parent, env=environment(example, tmp_path), capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_smallest_plugin_is_thirteen_lines() -> None:
    lines = (EXAMPLES / "01-minimal-plugin" / "no_spot_nodes.py").read_text().splitlines()
    assert len(lines) <= 14
    assert re.match('"""NoSpotNodes: ', lines[0])


def test_the_demo_shows_a_pod_that_lacks_cpu_and_meets_a_taint() -> None:
    said = (EXAMPLES / "05-simulate" / "run.out").read_text()
    assert "1 node(s) had untolerated taint(s), 5 Insufficient cpu." in said
    assert "NEAREST MISS" in said
