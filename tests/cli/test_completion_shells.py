"""Completion in real shells: somebody presses TAB.  Shells that are not installed are skipped."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bayplan
from tests.cli.support import NODE, POD, Shell, joined

PLUGIN = "from bayplan.framework import FilterPlugin\nclass SameRack(FilterPlugin): pass\n"
PATIENCE_S = 60
LINES = {
    "bayplan si": "bayplan simulate",
    "bayplan sc": "bayplan scheduler",
    "bayplan simulate -f clus": "bayplan simulate -f cluster.yaml",
    "bayplan simulate --config=clus": "bayplan simulate --config=cluster.yaml",
    "bayplan simulate --plugin sam": "bayplan simulate --plugin same_rack.py:",
    "bayplan simulate --plugin same_rack.py:": "bayplan simulate --plugin same_rack.py:SameRack",
    "bayplan simulate --plugin=same_rack.py:S": "bayplan simulate --plugin=same_rack.py:SameRack",
    "bayplan explain -f cluster.yaml pod/": "bayplan explain -f cluster.yaml pod/web",
    "bayplan simulate --output=y": "bayplan simulate --output=yaml",
    "bayplan scheduler --no-": "bayplan scheduler --no-leader-elect",
}
SHELLS = {
    "bash": (
        ["bash", "--norc", "--noprofile", "-i"],
        "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; PS1=",
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        "PS1= PROMPT_EOL_MARK=; unsetopt prompt_cr prompt_sp beep list_beep; bindkey -e; autoload -U compinit; "
        "compinit -u -D",
    ),
}


class Terminal:
    """A shell that believes that a person sits in front of it."""

    def __init__(self, folder: Path, name: str, environment: dict[str, str]) -> None:
        command, settings = SHELLS[name]
        own, theirs = pty.openpty()
        self._terminal = own
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=environment, start_new_session=True
        )
        os.close(theirs)
        self._type(f"{settings}\n")
        self._type(f"source <(bayplan completion {name}); echo READ''Y\n")
        self._until("READY")

    def completed(self, line: str) -> str:
        """The line after TAB: it is quoted and shown instead of being run."""
        self._type(f"{line}\t|\x01echo '\x05'; echo EN''D\n")
        printed = self._until("END")
        (shown,) = re.findall(r"^(bayplan .*)\|\r*$", printed, re.MULTILINE)
        return str(shown).rstrip()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)

    def _type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def _until(self, wanted: str) -> str:
        """What is printed up to a text."""
        seen = ""
        while wanted not in seen:
            ready, _, _ = select.select([self._terminal], [], [], PATIENCE_S)
            assert ready, f"waited in vain for {wanted!r} after {seen!r}"
            seen += os.read(self._terminal, 65536).decode(errors="replace")
        return seen


@pytest.fixture
def environment(shell: Shell) -> dict[str, str]:
    """Files to complete, and ``bayplan`` on the PATH."""
    shell.write("cluster.yaml", joined(NODE, POD))
    shell.write("same_rack.py", PLUGIN)
    shims = shell.folder / "bin"
    shims.mkdir()
    shim = shims / "bayplan"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m bayplan "$@"\n')
    shim.chmod(0o755)
    package = str(Path(bayplan.__file__).parents[1])
    paths = {"PATH": f"{shims}:{os.environ['PATH']}", "PYTHONPATH": package, "HOME": str(shell.folder)}
    return os.environ | paths | {"TERM": "dumb"}


@pytest.fixture(params=SHELLS)
def terminal(shell: Shell, environment: dict[str, str], request: pytest.FixtureRequest) -> Iterator[Terminal]:
    must_have(request.param)
    opened = Terminal(shell.folder, request.param, environment)
    yield opened
    opened.close()


def must_have(name: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")


@pytest.mark.slow
def test_pressing_tab(terminal: Terminal) -> None:
    assert {line: terminal.completed(line) for line in LINES} == LINES


@pytest.mark.slow
@pytest.mark.parametrize(("line", "wanted"), LINES.items())
def test_what_fish_offers(shell: Shell, environment: dict[str, str], line: str, wanted: str) -> None:
    """It can be asked without a terminal; its answers are words in place of the last one."""
    must_have("fish")
    script = "bayplan completion fish | source; complete -C $argv[1]"
    offered = subprocess.run(
        ["fish", "-N", "-c", script, line],
        cwd=shell.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    (word,) = [each.partition("\t")[0] for each in offered.stdout.splitlines()]
    assert f"{line.rpartition(' ')[0]} {word}" == wanted
