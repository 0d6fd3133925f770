"""``bayplan bench``: the numbers have the shape they should; their size is the machine's business."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
    assert lines[0].split() == ["WORKLOAD", "NODES", "BOUND", "PODS/S", "CPU", "US/POD", "FULL", "PASS/S", "WHAT"]
    assert len(lines) == 18


def test_an_unknown_workload_is_one_line(shell: Shell) -> None:
    ended = shell.run("bench", "spraed")
    assert ended.code == 2
    assert ended.err == 'error: there is no workload "spraed"; did you mean "spread"?\n'


def test_a_workload_may_be_a_file(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "about: mine\nsizes: {nodes: 4, pods: 3}\nsteps:\n- createNodes: {}\n- createPods: {}\n- measure: {}\n"
    )
    (result,) = json.loads(shell.run("bench", str(path), "-o", "json").out)["results"]
    assert (result["workload"], result["nodes"], result["bound"]) == ("mine", 4, 3)


def test_a_mistake_in_a_template_names_file_object_and_field(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "about: mine\nsteps:\n- createNodes: {count: 1}\n"
        "- createPods: {count: 1, templates: [{spec: {containers: [{name: c, resources: {requests: {cpu: much}}}]}}]}\n"
        "- measure: {}\n"
    )
    ended = shell.run("bench", str(path))
    assert ended.code == 2
    assert f"{path}: Pod default/pod-0: spec.containers[0].resources.requests.cpu: " in ended.err


def test_a_workload_that_is_no_file_runs_alone(shell: Shell) -> None:
    ended = shell.run("bench", "plain", "placement")
    assert (ended.code, ended.err) == (2, 'error: the workload "placement" runs alone; give it without others\n')


@pytest.mark.parametrize("flag", ["--nodes", "--pods"])
def test_a_workload_with_sizes_of_its_own_takes_no_others(shell: Shell, flag: str) -> None:
    ended = shell.run("bench", "placement", flag, "100")
    said = 'error: the workload "placement" has sizes of its own; leave out --nodes and --pods\n'
    assert (ended.code, ended.err) == (2, said)


def test_the_large_one_can_be_made_small(shell: Shell) -> None:
    done = shell.run("bench", "million", "--nodes", "20", "--pods", "30", "-o", "json")
    (result,) = json.loads(done.out)["results"]
    assert (result["workload"], result["nodes"], result["bound"]) == ("million", 20, 30)
    assert "30/30" in shell.run("bench", "million", "--nodes", "20", "--pods", "30").out
