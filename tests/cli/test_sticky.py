"""``bayplan sticky``: what sticks, from files, and what is refused.  Live it is tested with the plugin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bayplan.app.sticky_command import target
from bayplan.cli.main import main
from bayplan.errors import InputError

KEY = "bayplan.io/sticky-node"
CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {unschedulable: true}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: vm-a, annotations: {bayplan.io/sticky-node: n1}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: vm-a}
status: {nodeName: n1}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: vm-b, namespace: other, annotations: {bayplan.io/sticky-node: gone}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: vm-c, annotations: {bayplan.io/sticky-node: ""}}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: vm-d, annotations: {team/node: n2}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, annotations: {bayplan.io/sticky-node-1: n2, bayplan.io/sticky-node-x: n2}}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: web}]}}}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER)
    return str(path)


def test_everything_that_sticks_is_listed(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sticky", "list", "-f", file]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["NAMESPACE", "NAME", "NODE", "NODE-STATE", "RUNS-ON"],
        ["default", "StatefulSet/web-1", "n2", "Present", "-"],
        ["default", "VirtualMachine/vm-a", "n1", "Cordoned", "n1"],
        ["default", "VirtualMachine/vm-c", "(released)", "-", "-"],
        ["other", "VirtualMachine/vm-b", "gone", "Gone", "-"],
    ]


def test_the_list_can_be_narrowed_and_read_by_programs(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sticky", "list", "-f", file, "-n", "other", "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "StickyList"
    assert document["items"] == [
        {
            "kind": "VirtualMachine",
            "namespace": "other",
            "name": "vm-b",
            "node": "gone",
            "nodeState": "Gone",
            "runsOn": None,
        }
    ]


def test_another_annotation_can_be_asked_for(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sticky", "list", "-f", file, "--annotation-key", "team/node"]) == 0
    assert "VirtualMachine/vm-d" in capsys.readouterr().out
    assert main(["sticky", "list", "-f", file, "--annotation-key", "no/body"]) == 0
    assert capsys.readouterr().out == "nothing sticks to a node\n"
    assert main(["sticky", "list", "-f", file, "--annotation-key", "no body"]) == 2
    assert capsys.readouterr().err == 'error: "no body" cannot be an annotation; write the plugin\'s annotationKey\n'


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("db", ("VirtualMachine", "db", KEY)),
        ("vm/db", ("VirtualMachine", "db", KEY)),
        ("virtualmachine/db", ("VirtualMachine", "db", KEY)),
        ("statefulset/my-web-10", ("StatefulSet", "my-web", f"{KEY}-10")),
        ("sts/web-0", ("StatefulSet", "web", f"{KEY}-0")),
    ],
)
def test_what_can_be_released(written: str, expected: tuple[str, str, str]) -> None:
    assert target(written, KEY) == expected


@pytest.mark.parametrize(
    "written", ["pod/web-0", "statefulset/web", "statefulset/-1", "vm/", "", "a?b", "vm/a/b", "a b"]
)
def test_what_cannot_be_released(written: str) -> None:
    with pytest.raises(InputError, match="is nothing that can stick"):
        target(written, KEY)


@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "-f", "cluster.yaml", "--context", "x"],
        ["list", "-f", "missing.yaml"],
        ["release", "pod/web-0"],
        ["release"],
        ["release", "vm", "-n", "a/b"],
        ["release", "vm", "--annotation-key", "a b"],
        ["release", "vm", "--kubeconfig", "missing"],
        ["hold"],
    ],
    ids=" ".join,
)
def test_bad_arguments_give_one_line_and_exit_code_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sticky", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
