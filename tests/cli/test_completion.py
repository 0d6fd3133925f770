"""Completion: what could be typed next, and a real bash in which somebody presses TAB."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bayplan
from tests.cli.support import NODE, POD, Shell, joined

PLUGIN = "from bayplan.framework import FilterPlugin\nclass SameRack(FilterPlugin): pass\nclass Other: pass\n"


def candidates(shell: Shell, line: str) -> list[str]:
    ended = shell.run("__complete", line)
    assert (ended.code, ended.err) == (0, "")
    return [each.partition("\t")[0] for each in ended.out.splitlines()]


@pytest.fixture
def folder(shell: Shell) -> Shell:
    deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop, namespace: market}\n"
    shell.write("cluster.yaml", joined(NODE, POD, deployment))
    shell.write("same_rack.py", PLUGIN)
    shell.write("rules/more.py", PLUGIN)
    shell.write("mine.yaml", "")
    return shell


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("bayplan si", ["simulate"]),
        ("bayplan sticky re", ["release"]),
        ("bayplan simulate --re", ["--recursive"]),
        ("bayplan scheduler --no-", ["--no-leader-elect"]),
        ("bayplan scheduler --no-leader-elect --no-", []),
        ("bayplan simulate -o ", ["table", "wide", "json", "yaml", "name", "manifests"]),
        ("bayplan explain web -o j", ["json"]),
        ("bayplan simulate --output=y", ["--output=yaml"]),
        ("bayplan simulate -f ", [":files"]),
        ("bayplan simulate --config=", [":files"]),
        ("bayplan simulate --config x -f clus", [":files"]),
        ("bayplan scheduler --cert-dir ", [":files"]),
        ("bayplan simulate ", []),
        ("bayplan bench pla", ["plain", "placement"]),
        ("bayplan bench plain mi", ["mixed", "million", "mine.yaml"]),
        ("bayplan simulate --plugin sa", ["same_rack.py:"]),
        ("bayplan simulate --plugin ru", ["rules/"]),
        ("bayplan simulate --plugin rules/", ["rules/more.py:"]),
        ("bayplan simulate --plugin same_rack.py:", ["same_rack.py:SameRack"]),
        ("bayplan simulate --plugin=same_rack.py:S", ["--plugin=same_rack.py:SameRack"]),
        ("bayplan simulate --plugin Stick", ["bayplan.plugins.sticky_vm:StickyVM"]),
        ("bayplan simulate --plugin bayplan.plugins.sti", ["bayplan.plugins.sticky_vm:StickyVM"]),
        ("bayplan manifests sch", ["scheduler"]),
        ("bayplan manifests scheduler sch", []),
        ("bayplan dev-cluster ", ["up", "down", "status"]),
        ("bayplan completion ", ["bash", "zsh", "fish"]),
        ("bayplan explain dep", ["deployment/"]),
        ("bayplan explain -f cluster.yaml pod/", ["pod/web"]),
        ("bayplan explain -f cluster.yaml deploy ", ["shop"]),
        ("bayplan explain -f cluster.yaml -n m", ["market"]),
        ("bayplan explain -f nix.yaml pod/", []),
        ("bayplan simulate -f 'a b", [":files"]),
        ("bayplan nix ", []),
    ],
)  # fmt: skip
def test_what_could_be_typed_next(folder: Shell, line: str, found: list[str]) -> None:
    if line == "bayplan nix ":
        assert "simulate" in candidates(folder, line)  # no such command: those there are
    else:
        assert candidates(folder, line) == found


def test_every_visible_command_is_offered(folder: Shell) -> None:
    found = candidates(folder, "bayplan ")
    assert {"simulate", "explain", "scheduler", "completion"} <= set(found)
    assert "__complete" not in found


def test_a_plugin_that_can_be_completed_can_be_loaded(folder: Shell) -> None:
    for spec in candidates(folder, "bayplan plugins --plugin bayplan."):
        assert folder.run("plugins", "--plugin", spec).code == 0, spec


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(shell: Shell, name: str) -> None:
    ended = shell.run("completion", name)
    assert (ended.code, ended.err) == (0, "")
    assert "bayplan __complete" in ended.out or '"$1" __complete' in ended.out


# -- a real bash --


class Terminal:
    """A bash that believes that a person sits in front of it."""

    def __init__(self, folder: Path) -> None:
        shims = folder / "bin"
        shims.mkdir()
        shim = shims / "bayplan"
        shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m bayplan "$@"\n')
        shim.chmod(0o755)
        package = str(Path(bayplan.__file__).parents[1])
        environment = os.environ | {"PATH": f"{shims}:{os.environ['PATH']}", "PYTHONPATH": package, "TERM": "dumb"}
        own, theirs = pty.openpty()
        self._terminal = own
        self._process = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "-i"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder,
            env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.type("bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; PS1=\n")
        self.type("source <(bayplan completion bash); echo READ''Y\n")
        self.until("READY")

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def until(self, wanted: str) -> str:
        """What is printed up to a text."""
        seen = ""
        while wanted not in seen:
            ready, _, _ = select.select([self._terminal], [], [], 60)
            assert ready, f"waited in vain for {wanted!r} after {seen!r}"
            seen += os.read(self._terminal, 65536).decode(errors="replace")
        return seen

    def completed(self, line: str) -> str:
        """The line after TAB: it is quoted and shown instead of being run."""
        self.type(f"{line}\t|\x01echo '\x05'; echo EN''D\n")
        printed = self.until("END")
        (shown,) = re.findall(r"^(bayplan .*)\|\r?$", printed, re.MULTILINE)
        return str(shown)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)


@pytest.fixture
def terminal(folder: Shell) -> Iterator[Terminal]:
    made = Terminal(folder.folder)
    yield made
    made.close()


def test_a_real_bash_completes(terminal: Terminal) -> None:
    lines = {
        "bayplan simu": "bayplan simulate ",
        "bayplan simulate --rec": "bayplan simulate --recursive ",
        "bayplan simulate --output=js": "bayplan simulate --output=json ",
        "bayplan bench soft": "bayplan bench soft-spread ",
        "bayplan simulate -f clus": "bayplan simulate -f cluster.yaml ",
        "bayplan simulate --config=clus": "bayplan simulate --config=cluster.yaml ",
        "bayplan simulate --plugin sam": "bayplan simulate --plugin same_rack.py:",
        "bayplan simulate --plugin same_rack.py:Sa": "bayplan simulate --plugin same_rack.py:SameRack ",
        "bayplan explain -f cluster.yaml pod/w": "bayplan explain -f cluster.yaml pod/web ",
    }
    assert {line: terminal.completed(line) for line in lines} == lines
