"""
Runs the examples as a reader would: ``bash run.sh`` in the folder, with ``bayplan`` on the path.

``test_examples`` calls ``printed``.  When the output changes on purpose, ``python -m tests.docs.example_running`` puts
the new one into every ``run.out``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.docs.pages import ROOT

EXAMPLES = ROOT / "examples"


def folders() -> list[Path]:
    return sorted(path.parent for path in EXAMPLES.glob("*/run.sh"))


def printed(folder: Path) -> str:
    """What ``run.sh`` prints, errors included."""
    with TemporaryDirectory() as made:
        ended = subprocess.run(
            ["bash", "run.sh"],
            cwd=folder,
            env=environment(folder, Path(made)),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
    return ended.stdout


def environment(folder: Path, made: Path) -> dict[str, str]:
    """With a ``bayplan`` command, and the example's own package as if it were installed."""
    command = made / "bayplan"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bayplan "$@"\n')
    command.chmod(0o755)
    paths = [ROOT / "src", *_installed(folder, made)]
    return os.environ | {
        "PATH": os.pathsep.join([str(made), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
        "COLUMNS": "120",
    }


def _installed(folder: Path, made: Path) -> list[Path]:
    """Paths on which the example's package is found with its metadata: what an editable install amounts to."""
    description = folder / "pyproject.toml"
    if not description.exists():
        return []
    project = tomllib.loads(description.read_text())["project"]
    info = made / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return [folder / "src", made]


if __name__ == "__main__":
    for each in folders():
        (each / "run.out").write_text(printed(each))
        print(f"{each.relative_to(ROOT)}: run.out written")
