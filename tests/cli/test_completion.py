"""Completion: what could be typed next.  ``test_completion_shells`` presses TAB in real shells."""

from __future__ import annotations

import pytest

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
        ("bayplan simulate --re", ["--recursive", "--report"]),
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
