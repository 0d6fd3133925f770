"""A plugin that breaks, or holds a pod: explain, simulate and simulate --explain say the same, and so do exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.support import Shell
from tests.simulator.support import node, pod

FAILING = Path(__file__).parents[1] / "simulator" / "failing_plugins.py"
BREAKING = [
    "PreEnqueueRaises", "PreFilterRaises", "FilterRaises", "FilterTalksNonsense", "PreScoreRaises", "ScoreRaises",
    "ScoreIsNoNumber", "ScoreIsTooHigh", "NormalizeRaises", "ReserveRaises", "PermitRaises",
]  # fmt: skip


def run(command: list[str], shell: Shell, plugin: str, *more: str) -> tuple[int, str]:
    shell.write("cluster.yaml", yaml.safe_dump_all([node("n1"), node("n2"), pod("a"), pod("old", nodeName="n1")]))
    ended = shell.run(*command, "-f", "cluster.yaml", "--plugin", f"{FAILING}:{plugin}", *more)
    return ended.code, ended.out


def told(command: list[str], shell: Shell, plugin: str, *more: str) -> tuple[int, Any]:
    code, printed = run(command, shell, plugin, "-o", "json", *more)
    return code, json.loads(printed)


@pytest.mark.parametrize("plugin", BREAKING)
def test_an_error_is_the_verdict_and_nothing_else(shell: Shell, plugin: str) -> None:
    code, document = told(["explain", "pod", "a"], shell, plugin)
    assert code == 2
    assert document["verdict"] == "Error"
    assert plugin in document["message"]
    assert (document["node"], document["choice"], document["nodes"], document["preemption"]) == (None, None, [], None)
    code, text = run(["explain", "pod", "a"], shell, plugin)
    assert code == 2
    assert text.strip() == f"default/a: Error: {document['message']}"


@pytest.mark.parametrize("plugin", BREAKING)
def test_a_simulation_shows_the_same_error(shell: Shell, plugin: str) -> None:
    _, explained = told(["explain", "pod", "a"], shell, plugin)
    code, document = told(["simulate"], shell, plugin, "--explain")
    assert code == 2
    assert document["summary"]["errors"] == 1
    (broken,) = (each for each in document["pods"] if each["name"] == "a")
    assert (broken["state"], broken["error"], broken["message"]) == ("Pending", True, explained["message"])
    assert (broken["explanation"]["verdict"], broken["explanation"]["message"]) == ("Error", explained["message"])
    code, text = run(["simulate"], shell, plugin, "--explain")
    assert code == 2
    assert f"Error: default/a: {explained['message']}" in text
    assert "not looked at" not in text
    assert "Preemption" not in text
    assert "1 pod with an error" in text


@pytest.mark.parametrize("plugin", ["FilterRaises", "ScoreRaises"])
def test_a_bound_pod_that_cannot_be_judged_anew_is_still_bound(shell: Shell, plugin: str) -> None:
    code, text = run(["explain", "pod", "old"], shell, plugin)
    assert code == 2
    assert text.startswith("default/old: Bound to n1; judging it anew failed: ")
    assert plugin in text


def test_who_breaks_while_looking_for_room_leaves_the_reasons_and_says_so(shell: Shell) -> None:
    code, text = run(["explain", "pod", "a"], shell, "PostFilterRaises")
    assert code == 2
    assert "0/2 nodes are available: 2 node(s) are spoken for" in text
    assert "Preemption would not help" not in text
    assert "Nobody knows whether preemption would help: a plugin failed." in text


@pytest.mark.parametrize("plugin", ["ReserveRejects", "PermitRejects"])
def test_a_no_after_the_choice_is_a_no(shell: Shell, plugin: str) -> None:
    code, document = told(["explain", "pod", "a"], shell, plugin)
    assert code == 1
    assert (document["verdict"], document["rejectedBy"]) == ("Unschedulable", plugin)
    assert document["message"] == "0/1 nodes are available: 1 node(s) are spoken for."
    code, simulated = told(["simulate"], shell, plugin)
    assert code == 1
    assert simulated["pods"][1]["message"] == document["message"]
    text = run(["explain", "pod", "a"], shell, plugin)[1]
    assert f"Unschedulable (rejected by {plugin} on " in text
    assert "Preemption" not in text


def test_a_pod_that_permit_holds_is_waiting(shell: Shell) -> None:
    code, document = told(["explain", "pod", "a"], shell, "PermitHolds")
    assert code == 1
    assert document["verdict"] == "Waiting"
    assert document["message"] == f"held by PermitHolds, to go to {document['choice']['best']}"
    code, simulated = told(["simulate"], shell, "PermitHolds", "--for", "10s", "--explain")
    assert code == 1
    (held,) = (each for each in simulated["pods"] if each["name"] == "a")
    assert held["message"].startswith("held by PermitHolds, to go to n")
    assert held["explanation"]["verdict"] == "Waiting"
    assert "Waiting: held by PermitHolds" in run(["explain", "pod", "a"], shell, "PermitHolds")[1]
