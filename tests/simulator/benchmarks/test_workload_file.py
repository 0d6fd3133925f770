"""Workload files are read as they are meant, and what is wrong in one is told in a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayplan.errors import InputError
from bayplan.simulator.benchmarks import workload_file
from bayplan.simulator.benchmarks.workload_file import CreatePods, Delete, Measure, Sizes

WORDS = {"createNodes", "createObjects", "createPods", "churn", "delete", "barrier", "measure"}


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


def test_the_shipped_files_cover_the_kinds_of_workload() -> None:
    assert set(workload_file.shipped()) == {
        "affinity", "all-different", "anti-affinity", "daemons", "default-spread", "devices", "gated", "mixed",
        "node-affinity", "plain", "preemption", "preferred-affinity", "preferred-anti-affinity", "soft-spread", "spread",
        "unschedulable", "volumes",
    }  # fmt: skip


@pytest.mark.parametrize("name", workload_file.shipped())
def test_every_shipped_file_can_be_read_and_ends_with_its_measurement(name: str) -> None:
    workload = workload_file.find(name)
    assert workload.name == name
    assert workload.about
    assert isinstance(workload.actions[-1], Measure)


def test_a_file_of_ones_own_is_found_by_its_path(tmp_path: Path) -> None:
    path = written(tmp_path, "about: mine\nsizes: {nodes: 3}\nsteps:\n- createNodes: {}\n- measure: {}\n")
    workload = workload_file.find(str(path))
    assert (workload.name, workload.about, workload.sizes.nodes) == ("mine", "mine", 3)


def test_sizes_of_the_command_go_before_those_of_the_file() -> None:
    workload = workload_file.find("plain")
    assert workload.sized(None, 7) == Sizes(nodes=5000, pods=7)


@pytest.mark.parametrize(
    ("count", "expected"),
    [("12", 12), ("nodes", 20), ("pods", 50), ("pods / 10", 5), ("nodes*2", 40), ("pods / 100", 1)],
)
def test_a_count_is_a_number_or_a_part_of_a_size(count: str, expected: int) -> None:
    assert Sizes(nodes=20, pods=50).count(count) == expected


def test_a_step_is_its_word_and_settings() -> None:
    actions = workload_file.find("gated").actions
    pods = [action for action in actions if isinstance(action, CreatePods)]
    assert [(each.name, each.pending) for each in pods] == [("gated", True), ("old", False), ("pod", False)]
    assert [each.everyPods for each in actions if isinstance(each, Delete)] == [2]


STEPS = "about: x\nsteps:\n"
MEASURE = "- measure: {}\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("about: x\nsteps: []\n", "steps: the last one, and no other, must be measure; write - measure: {}"),
        (STEPS + MEASURE + "- barrier: {}\n", "steps: the last one, and no other, must be measure; write - measure: {}"),
        (STEPS + "- createPod: {}\n" + MEASURE, 'steps[0].createPod: unknown field; did you mean "createPods"?'),
        (STEPS + "- createPods: {cuont: 3}\n" + MEASURE, 'steps[0].createPods.cuont: unknown field; did you mean "count"?'),
        (
            STEPS + "- createPods: {count: many}\n" + MEASURE,
            'steps[0].createPods.count: "many" is no count; write a number, nodes, pods, or a share such as pods / 10',
        ),
        (
            STEPS + "- createObjects: {count: 2147483647, template: {}}\n" + MEASURE,
            "steps[0].createObjects.count: 2147483647 is too many; write at most 10000000",
        ),
        (
            STEPS + "- createPods: {count: pods * 99999999999}\n" + MEASURE,
            'steps[0].createPods.count: "pods * 99999999999" is too many; write at most 10000000',
        ),
        (
            STEPS + "- createPods: {templates: [{}, {metadata: 1}]}\n" + MEASURE,
            "steps[0].createPods.templates[1]: metadata is 1; write a mapping",
        ),
        (
            STEPS + "- createNodes: {template: {status: []}}\n" + MEASURE,
            "steps[0].createNodes.template: status is []; write a mapping",
        ),
        (STEPS + "- createPods: {templates: {}}\n" + MEASURE, "steps[0].createPods.templates: must be a list, not {}"),
        (STEPS + "- createObjects: {}\n" + MEASURE, "steps[0].createObjects.template: is missing, but required"),
        (STEPS + "- churn: {everyPods: 0}\n" + MEASURE, "steps[0].churn.everyPods: must be greater than 0, not 0"),
        (
            STEPS + "- createPods: {name: old}\n- delete: {name: odl}\n" + MEASURE,
            'steps: delete: no earlier step makes "odl"; did you mean "old"?',
        ),
        (
            STEPS + "- createPods: {}\n- createPods: {}\n" + MEASURE,
            'steps: two make pods named "pod"; give one of them another name',
        ),
        (STEPS + "- measure:\n", "steps[0].measure: must be a mapping, not null"),
        ("name: y\n" + STEPS + MEASURE, "name: the name of the file says it; remove it"),
        ("- a\n", "a workload is a mapping; write about, sizes and steps"),
        ("", "a workload is one mapping, and there are 0 documents; write about, sizes and steps"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_file_and_field(tmp_path: Path, text: str, line: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        workload_file.read(path)
    assert str(caught.value) == f"{path}: {line}"


def test_two_words_in_one_step_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, STEPS + "- createNodes: {}\n  createPods: {}\n" + MEASURE)
    with pytest.raises(InputError, match=r"steps\[0\]: a step is one of .*; begin the next with a dash"):
        workload_file.read(path)


def test_every_mistake_has_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, STEPS + "- createPods: {count: x, cuont: 3}\n" + MEASURE)
    with pytest.raises(InputError) as caught:
        workload_file.read(path)
    assert len(str(caught.value).splitlines()) == 2


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.yaml: no such file or folder"):
        workload_file.find(str(tmp_path / "gone.yaml"))
