"""Explanations for people: one verdict line, counts that add up, what is missing, and the scores."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.simulator.explain.text import as_text
from tests.simulator.support import START, Manifest, node, pod
from tests.support.explaining import explain_documents

TAINT = {"key": "gpu", "effect": "NoSchedule"}


def told(name: str, *manifests: Manifest, **options: Any) -> list[str]:
    document = explain_documents(manifests, "default", name, now=START, discover=False)
    return as_text(document, **options).splitlines()


def test_an_unschedulable_pod() -> None:
    many = [node(f"n{n}", "1") for n in range(5)]
    lines = told("a", *many, node("near", "3"), node("gpu", "9", taints=[TAINT]), pod("a", "4"))
    assert lines[0].startswith("default/a: Unschedulable: 0/7 nodes are available: ")
    assert lines[2:6] == [
        "NODES   PLUGIN             REASON                             WHICH",
        "6       NodeResourcesFit   Insufficient cpu                   near, n0, n1 and 3 more",
        "1       TaintToleration    node(s) had untolerated taint(s)   gpu",
        "7                          nodes in all",
    ]
    assert lines[7:11] == [
        "NEAREST MISS   IT LACKS",
        "near           1 cpu of the 4 asked for",
        "n0             3 cpu of the 4 asked for",
        "n1             3 cpu of the 4 asked for",
    ]
    assert lines[-1] == "Preemption would not help."


def test_preemption_that_would_help() -> None:
    lines = told("a", node("n1"), pod("low", "3", priority=1, nodeName="n1"), pod("a", "3", priority=5))
    assert lines[-1] == "Preemption would help: without default/low it fits on n1."


def test_a_schedulable_pod_shows_the_best_nodes_side_by_side() -> None:
    lines = told("a", node("n1", "4"), node("n2", "8"), node("n3", "6"), pod("a", "2"), top=2)
    assert lines[0].startswith("default/a: Schedulable, it would go to n2, ")
    assert lines[0].endswith(" points ahead of n3")
    assert lines[2].split() == ["SCORE", "WEIGHT", "n2", "n3"]
    assert any(line.split()[:2] == ["TaintToleration", "x3"] for line in lines)
    assert lines[-1].split()[0] == "TOTAL"


@pytest.mark.parametrize(
    ("case", "manifests", "ending"),
    [
        ("the only one", [node("n1"), pod("a")], ", the only node that fits"),
        ("a tie", [node("n1"), node("n2"), pod("a")], ", one of 2 nodes with the best score"),
        ("still best", [node("n1"), pod("a", nodeName="n1")], "; still the best choice, the only node that fits"),
        (
            "another is better",
            [node("n1"), node("n2", "400"), pod("a", "2", nodeName="n1")],
            " points",
        ),
        (
            "not allowed any more",
            [node("n1", taints=[TAINT]), node("n2"), pod("a", nodeName="n1")],
            "; it would not be put there now: node(s) had untolerated taint(s)",
        ),
        ("its node is unknown", [node("n1"), pod("a", nodeName="nix")], "; that node is not among those given"),
    ],
)
def test_the_verdict_in_one_line(case: str, manifests: list[Manifest], ending: str) -> None:
    assert told("a", *manifests)[0].endswith(ending), case


def test_a_node_that_was_not_scored_is_said_not_to_be() -> None:
    assert told("a", node("n1"), pod("a"))[-1] == "Nothing was scored: n1 is the only node that fits."


def test_the_node_of_a_bound_pod_is_always_shown() -> None:
    others = [node(f"n{n}", "400") for n in range(5)]
    lines = told("a", *others, node("own", "4"), pod("a", "2", nodeName="own"), top=1)
    assert lines[2].split()[-1] == "own"


def test_a_gated_pod_says_who_holds_it() -> None:
    lines = told("a", node("n1"), pod("a", schedulingGates=[{"name": "example.com/wait"}]))
    assert lines[0].startswith("default/a: Unschedulable (held by SchedulingGates): ")
