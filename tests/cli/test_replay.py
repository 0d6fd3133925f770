"""``bayplan replay``: exit codes, shapes, and what is wrong in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.support import Shell
from tests.simulator.replay.support import SYNCED, add, bind, node, pod, written

LINES = [add(0, node("big", "16")), add(0, node("small", "4")), SYNCED, add(1, pod("p"))]
CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- {schedulerName: default-scheduler}
- {schedulerName: other}
"""
BREAKS = """\
from bayplan.framework import FilterPlugin


class Breaks(FilterPlugin):
    name = "Breaks"

    def filter_node(self, state, pod, node):
        raise ValueError("oops")
"""


def recorded(shell: Shell, node_name: str = "big", **settings: bool) -> str:
    return str(written(shell.folder / "a.jsonl", *LINES, bind(2, "p", node_name), **settings))


def test_the_same_decisions_are_0_and_others_1(shell: Shell) -> None:
    ended = shell.run("replay", recorded(shell))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "2 changes in 60 s; 2 nodes and 1 pods in the end\n1 bind: 1 agree\n"
    ended = shell.run("replay", recorded(shell, "small"))
    assert (ended.code, ended.err) == (1, "")
    header, row, *_ = ended.out.splitlines()
    assert header.split() == ["POD", "RESULT", "THEIRS", "TOTAL", "OURS", "TOTAL", "BECAUSE"]
    assert row.split()[:3] == ["default/p", "differ", "small"]


@pytest.mark.parametrize(("shape", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_documents(shell: Shell, shape: str, read: object) -> None:
    path = recorded(shell)
    document = read(shell.run("replay", path, "-o", shape).out)  # type: ignore[operator]
    assert (document["apiVersion"], document["kind"]) == ("bayplan.io/v1alpha1", "Replay")
    assert document["pods"] == []
    everything = read(shell.run("replay", path, "-o", shape, "--all").out)  # type: ignore[operator]
    assert [each["result"] for each in everything["pods"]] == ["agree"]


def test_a_file_that_breaks_off_is_read_with_a_note(shell: Shell) -> None:
    path = Path(recorded(shell, whole=False))
    path.write_bytes(path.read_bytes() + b'{"t": 3, "add": {"apiV')
    ended = shell.run("replay", str(path))
    assert ended.code == 0
    assert ended.err == f"warning: {path}: the recording breaks off after 2.0 s; it was read up to there\n"
    assert "1 bind: 1 agree" in ended.out


def test_what_is_no_recording_is_one_line_and_2(shell: Shell) -> None:
    path = shell.write("cluster.yaml", "apiVersion: v1\nkind: List\nitems: []\n")
    ended = shell.run("replay", path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"error: {path}: this is not a recording; write one with bayplan snapshot --watch FILE\n"
    assert shell.run("replay", str(shell.folder)).err.count("\n") == 1
    assert shell.run("replay", "none.jsonl").code == 2


def test_a_profile_decides_for_pods_of_other_schedulers_if_it_is_named(shell: Shell) -> None:
    config = shell.write("config.yaml", CONFIG.replace("default-scheduler", "mine"))
    path = recorded(shell)
    ended = shell.run("replay", path, "--config", config)
    assert ended.code == 0
    assert 'no profile is for the scheduler "default-scheduler"' in ended.out
    assert "1 bind: 1 agree" in shell.run("replay", path, "--config", config, "--profile", "mine").out
    ended = shell.run("replay", path, "--config", config, "--profile", "yours")
    assert (ended.code, ended.err) == (2, 'error: --profile: there is no profile "yours"; write one of mine, other\n')


def test_a_plugin_that_breaks_is_2_and_named(shell: Shell) -> None:
    plugin = shell.write("breaks.py", BREAKS)
    ended = shell.run("replay", recorded(shell), "--plugin", f"{plugin}:Breaks")
    assert ended.code == 2
    assert "1 bind: 1 error" in ended.out
    assert "oops" in ended.out
