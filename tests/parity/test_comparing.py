"""Differences are found and told; where kube-scheduler leaves a choice, each of its choices is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.parity.case import Case, Object, Result
from tests.parity.comparing import compare, write_mismatch


def a_pod(name: str, started: str = "2026-01-01T10:00:00Z", priority: int = 10) -> Object:
    metadata = {"namespace": "default", "name": name}
    return {"kind": "Pod", "metadata": metadata, "spec": {"priority": priority}, "status": {"startTime": started}}


def a_case(**result: Any) -> Case:
    pods = [a_pod("p"), a_pod("v1"), a_pod("v2"), a_pod("v3", started="2026-01-01T11:00:00Z")]
    return Case("0000-01-p", "mixed", "default", "p", pods, Result(**result))


def a_node(name: str, feasible: bool = True, **weighted: int) -> dict[str, Any]:
    scores = {plugin: {"weighted": score} for plugin, score in weighted.items()}
    return {"name": name, "feasible": feasible, "total": sum(weighted.values()), "scores": scores}


SCORED = a_case(node="n1", feasible=["n1", "n2"], scores={"A": {"n1": 5, "n2": 5}, "B": {"n1": 0, "n2": 0}})
REFUSED = a_case(node=None, message="0/1 nodes are available: 1 Too many pods.", feasible=[])
PREEMPTS = replace(REFUSED, result=replace(REFUSED.result, nominated_node="n1", victims=["default/v1"]))
YES = {"verdict": "Schedulable", "node": "n1", "nodes": [a_node("n1", A=5), a_node("n2", A=5)]}
NO = {"verdict": "Unschedulable", "node": None, "nodes": [a_node("n1", False)], "message": REFUSED.result.message}

AGREE: list[tuple[str, Case, dict[str, Any]]] = [
    ("the same scores, a plugin with zeros left out", SCORED, YES),
    ("another of the best nodes", SCORED, YES | {"node": "n2"}),
    ("the same message", REFUSED, NO),
    ("the same victims", PREEMPTS, NO | {"preemption": {"node": "n1", "victims": ["default/v1"]}}),
    ("another node, victims as bad", PREEMPTS, NO | {"preemption": {"node": "n2", "victims": ["default/v2"]}}),
    ("only the nominated node was looked at", a_case(node="n1", feasible=None), YES),
    ("one feasible node, not scored", a_case(node="n1", feasible=["n1"]), YES | {"nodes": [a_node("n1", A=1)]}),
]
DIFFER: list[tuple[str, Case, dict[str, Any], str]] = [
    ("another verdict", SCORED, NO, "verdict: kube-scheduler Schedulable on n1"),
    ("another score", SCORED, YES | {"nodes": [a_node("n1", A=4), a_node("n2", A=5)]}, "n1: A scores kube-scheduler 5"),
    ("a node too few", SCORED, YES | {"nodes": [a_node("n1", A=5), a_node("n2", False, A=5)]}, "n2: feasible for kube"),
    (
        "a node too many",
        SCORED,
        YES | {"nodes": [a_node("n1", A=5), a_node("n2", A=5), a_node("n3", A=5)]},
        "n3: feasible for bayplan",
    ),
    ("a node that is not among the best", SCORED, YES | {"node": "n3"}, "node: kube-scheduler one of"),
    ("another message", REFUSED, NO | {"message": "no"}, "message:"),
    ("preemption missed", PREEMPTS, NO, "preemption: kube-scheduler ['default/v1'] on n1"),
    ("preemption invented", REFUSED, NO | {"preemption": {"node": "n1", "victims": ["default/v1"]}}, "preemption:"),
    ("other victims on the node", PREEMPTS, NO | {"preemption": {"node": "n1", "victims": ["default/v2"]}}, "preempt"),
    ("victims that are worse", PREEMPTS, NO | {"preemption": {"node": "n2", "victims": ["default/v3"]}}, "preempt"),
]


@pytest.mark.parametrize(("title", "case", "explanation"), AGREE, ids=[one[0] for one in AGREE])
def test_no_difference(title: str, case: Case, explanation: dict[str, Any]) -> None:
    assert compare(case, explanation) == []


@pytest.mark.parametrize(("title", "case", "explanation", "told"), DIFFER, ids=[one[0] for one in DIFFER])
def test_difference_is_told(title: str, case: Case, explanation: dict[str, Any], told: str) -> None:
    differences = compare(case, explanation)
    assert [one for one in differences if one.startswith(told)], differences


def test_a_mismatch_leaves_a_manifest_with_the_differences_on_top(tmp_path: Path) -> None:
    path = write_mismatch(REFUSED, ["message:\n  a\n  b"], tmp_path / "new")
    text = path.read_text()
    assert text.startswith(f"# bayplan explain pod p -n default -f {path}\n# message:\n#   a\n#   b\n")
    assert yaml.safe_load(text) == {"apiVersion": "v1", "kind": "List", "items": REFUSED.objects}
