"""
Runs what a page says can be run: its files are written, its Python is executed, its commands are typed.

``test_documents`` calls ``said_by``.  When the output of a command changes on purpose, ``python -m tests.docs.running``
writes the new output into the pages.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.docs.pages import ROOT, Block, blocks, name_of, pages

PROMPT = "$ "
_SHELL = 'bayplan() { "$PYTHON" -m bayplan "$@"; }\n'


def files(page: Path, folder: Path) -> None:
    """Write the files that a page shows."""
    for block in blocks(page):
        if "file" in block.settings:
            (folder / block.settings["file"]).write_text(block.text)


def typed(block: Block, folder: Path) -> str:
    """A console block as it would look after typing its commands: each with what it prints, errors last."""
    lines = []
    for command in (line for line in block.text.splitlines() if line.startswith(PROMPT)):
        ended = _run(["bash", "-c", _SHELL + command.removeprefix(PROMPT)], folder)
        printed = f"{ended.stdout}{ended.stderr}".rstrip()
        lines += [command, *([printed] if printed else [])]
    return "\n".join(lines) + "\n"


def executed(block: Block, folder: Path) -> str:
    """Run a Python block; what went wrong, or ""."""
    ended = _run([sys.executable, "-W", "error", "-c", block.text], folder)
    return ended.stderr if ended.returncode else ""


def said_by(page: Path, folder: Path) -> Iterator[tuple[Block, str]]:
    """Every console block of a page that can be run, with its text as it should be."""
    files(page, folder)
    for block in blocks(page, "console"):
        if "run" in block.flags:
            yield block, typed(block, folder)


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(ROOT / "src"), str(folder)])
    environment = os.environ | {"PYTHONPATH": paths, "PYTHON": sys.executable, "NO_COLOR": "1", "COLUMNS": "120"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def refresh(page: Path) -> bool:
    """Write the outputs of today into a page; whether that changed it."""
    before = text = page.read_text()
    with TemporaryDirectory() as folder:
        for block, now in said_by(page, Path(folder)):
            if "Traceback (most recent call last)" in now:
                raise SystemExit(f"{name_of(page)}: not written, a command broke:\n{now}")
            text = text.replace(f"\n{block.text}```", f"\n{now}```", 1)
    page.write_text(text)
    return text != before


if __name__ == "__main__":
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or pages()
    for each in chosen:
        if refresh(each):
            print(f"{name_of(each)}: written anew")
