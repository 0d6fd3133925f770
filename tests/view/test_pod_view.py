"""One pod's page: the sentence, the blocker, bars, groups that sum to all, misses, help and scores."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.simulator.explain.explanation import explain
from bayplan.view.pod_view import pod_view
from tests.simulator.support import Manifest, node, pod
from tests.view.support import ran

TAINT = {"key": "gpu", "effect": "NoSchedule"}


def viewed(name: str, *manifests: Manifest) -> dict[str, Any]:
    world = ran(*manifests)
    asked = world.cluster.pod(f"default/{name}")
    assert asked is not None
    return pod_view(explain(world.scheduler, asked), asked, world.scheduler.cache.nodes, owner="Job/x", command="c")


def test_a_pod_that_no_node_has_room_for() -> None:
    view = viewed("a", node("n1", "2"), node("n2", "3"), pod("a", "4"))
    assert view["sentence"] == (
        "It waits: no node of 2 has enough cpu; it asks for 4, and the most that one has free is 3 (n2)."
    )
    assert view["blocker"] == {"plugin": "NodeResourcesFit", "reason": "Insufficient cpu", "nodes": 2}
    assert view["bars"] == [{"resource": "cpu", "requested": 4000, "free": 3000, "node": "n2"}]
    assert view["nearest"][0] == {"node": "n2", "text": "lacks 1 cpu of the 4 asked for"}
    assert view["help"] == ["It fits if n2 has 1 cpu more.", "Preemption would not help."]
    assert (view["owner"], view["command"], view["verdict"], view["node"]) == ("Job/x", "c", "Unschedulable", None)


def test_the_blocker_is_what_nodes_say_that_could_take_it() -> None:
    view = viewed("a", *(node(f"t{n}", "64", taints=[TAINT]) for n in range(3)), node("n1", "2"), pod("a", "4"))
    assert view["blocker"] == {"plugin": "NodeResourcesFit", "reason": "Insufficient cpu", "nodes": 1}
    assert view["sentence"] == (
        "It waits: 1 of 4 nodes lack cpu; it asks for 4, and the most that one has free is 2 (n1)."
    )
    assert [(group["plugin"], group["nodes"]) for group in view["groups"]] == [
        ("TaintToleration", 3),
        ("NodeResourcesFit", 1),
    ]


def test_the_blocker_where_more_room_would_not_help() -> None:
    view = viewed("a", node("n1", taints=[TAINT]), node("n2", taints=[TAINT]), pod("a"))
    assert view["sentence"] == "It waits: no node of 2 will do: node(s) had untolerated taint(s) (TaintToleration)."


@pytest.mark.parametrize(
    ("case", "manifests", "sentence"),
    [
        ("bound", [node("n1"), pod("a")], "It is on n1; still the best choice, the only node that fits."),
        (
            "gated",
            [node("n1"), pod("a", schedulingGates=[{"name": "example.com/wait"}])],
            "It waits: SchedulingGates holds it back: waiting for scheduling gates: [example.com/wait].",
        ),
        ("no nodes", [pod("a")], "It waits: no nodes available to schedule pods"),
    ],
)
def test_the_sentence(case: str, manifests: list[Manifest], sentence: str) -> None:
    assert viewed("a", *manifests)["sentence"] == sentence, case


def test_groups_sum_to_all_nodes_and_name_a_few() -> None:
    view = viewed("a", *(node(f"n{n:02}", "1") for n in range(30)), node("big", "8"), pod("a", "2"))
    assert sum(group["nodes"] for group in view["groups"]) == 31
    assert view["groups"][0] == {"plugin": "", "reason": "fits", "nodes": 1, "which": ["big"]}
    assert len(view["groups"][1]["which"]) == 20


def test_scores_of_the_best_nodes_and_of_its_own() -> None:
    view = viewed("a", *(node(f"n{n}", str(n + 4)) for n in range(8)), pod("a", "2", nodeName="n0"))
    shown = [each["name"] for each in view["scores"]["nodes"]]
    assert (len(shown), shown[-1]) == (6, "n0")
    for each in view["scores"]["nodes"]:
        assert sum(each["scores"]) == each["total"]


def test_a_pod_on_a_node_is_measured_as_if_it_were_not_there() -> None:
    view = viewed("a", node("n1", "4"), pod("a", "4"))
    assert view["bars"] == [{"resource": "cpu", "requested": 4000, "free": 4000, "node": "n1"}]
