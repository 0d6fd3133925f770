"""``bayplan bench``: the numbers have the shape they should; their size is the machine's business."""

from __future__ import annotations

import json

from tests.cli.support import Shell


def test_chosen_workloads_are_measured(shell: Shell) -> None:
    ended = shell.run("bench", "plain", "spread", "--nodes", "9", "--pods", "6", "-o", "json")
    document = json.loads(ended.out)
    assert (ended.code, document["kind"]) == (0, "Benchmark")
    assert [(each["workload"], each["nodes"], each["bound"]) for each in document["results"]] == [
        ("plain", 9, 6),
        ("spread", 9, 6),
    ]


def test_all_workloads_are_measured_if_none_is_named(shell: Shell) -> None:
    lines = shell.run("bench", "--nodes", "6", "--pods", "3").out.splitlines()
    assert lines[0].split() == ["WORKLOAD", "NODES", "BOUND", "PODS/S", "US/POD", "FULL", "PASS/S", "WHAT"]
    assert len(lines) == 7


def test_an_unknown_workload_is_one_line(shell: Shell) -> None:
    ended = shell.run("bench", "spraed")
    assert ended.code == 2
    assert ended.err == 'error: there is no workload "spraed"; did you mean "spread"?\n'
