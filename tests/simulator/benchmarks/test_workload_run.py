"""Every step of a workload file does in memory what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayplan.simulator.benchmarks import workload_file
from bayplan.simulator.benchmarks.workload_file import Workload
from bayplan.simulator.benchmarks.workload_run import WorkloadRun

FULL = "containers: [{name: main, resources: {requests: {cpu: '3'}}}]"


@pytest.fixture
def workload(tmp_path: Path, request: pytest.FixtureRequest) -> Workload:
    path = tmp_path / "mine.yaml"
    path.write_text(f"about: x\nsizes: {{nodes: 4, pods: 4}}\nsteps:\n{request.param}- measure: {{}}\n")
    return workload_file.read(path)


def ran(workload: Workload) -> tuple[int, int]:
    run = WorkloadRun(workload, workload.sizes, 0, lambda done, total: None, remember=True)
    run.run()
    assert run.seconds > 0
    return run.bound, run.wanted


NODES = "- createNodes: {}\n"
FILLED = NODES + f"- createPods: {{name: first, templates: [{{spec: {{{FULL}}}}}]}}\n- barrier: {{}}\n"
MORE = f"- createPods: {{templates: [{{spec: {{{FULL}}}}}]}}\n"
TINY_NODE = "{apiVersion: v1, kind: Node, status: {allocatable: {cpu: '4', memory: 32Gi, pods: '10'}}}"


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        pytest.param(FILLED + "- createPods: {count: 3}\n", (3, 3), id="what a barrier waited for is not measured"),
        pytest.param(FILLED + MORE, (0, 4), id="pods that fit nowhere are given up"),
        pytest.param(FILLED + "- delete: {name: first}\n" + MORE, (4, 4), id="deleted pods leave their room"),
        pytest.param(NODES + "- createPods: {}\n- delete: {name: pod}\n", (0, 0), id="pods may go before they are tried"),
        pytest.param(FILLED + "- createPods: {name: tiny, count: 1}\n- delete: {name: first, everyPods: 1}\n" + MORE.replace("{templates", "{count: 1, templates"), (2, 2), id="deletes go on while pods are bound"),
        pytest.param(FILLED + "- createPods: {name: tiny, count: 1}\n- churn: {everyPods: 1, template: " + TINY_NODE + "}\n" + MORE.replace("{templates", "{count: 1, templates"), (2, 2), id="churn may bring nodes"),
        pytest.param(FILLED + "- createNodes: {count: 8}\n" + MORE, (4, 4), id="nodes may come later"),
        pytest.param(NODES + "- createPods: {pending: true, name: never, templates: [{spec: {nodeSelector: {a: b}}}]}\n- createPods: {}\n", (4, 4), id="pods that stay pending are not waited for"),
        pytest.param(NODES + "- createPods: {templates: [{spec: {nodeName: 'node-{number}'}}]}\n", (0, 0), id="pods with a node are there from the start"),
    ],
    indirect=["workload"],
)  # fmt: skip
def test_a_step_does_what_it_says(workload: Workload, expected: tuple[int, int]) -> None:
    assert ran(workload) == expected
