"""Nodes are drained as kubectl does it: budgets are kept, and what belongs to the node stays."""

from __future__ import annotations

from typing import Any

from bayplan.simulator.what_if.changes import Drain
from tests.simulator.support import budget, node, pod, workload
from tests.simulator.what_if.asking import asked, keys, on

NODES = [node("n1"), node("n2"), node("n3")]
SET = {**workload("ReplicaSet", "web", cpu="1", replicas=3)}


def web(*nodes: str) -> list[dict[str, Any]]:
    return [on(f"web-{number}", name, "web") for number, name in enumerate(nodes)]


def test_a_budget_of_one_lets_pods_go_one_after_the_other() -> None:
    document = asked(
        [*NODES, SET, *web("n1", "n1", "n1"), budget("web", {"app": "web"}, maxUnavailable=1)], Drain("n1")
    )
    assert [(each["round"], each["name"]) for each in document["drains"][0]["evictions"]] == [
        (1, "web-0"), (2, "web-1"), (3, "web-2"),
    ]  # fmt: skip
    assert (len(document["moved"]), document["blocked"], document["worseOff"]) == (3, [], 0)


def test_a_budget_that_allows_nothing_blocks_the_drain() -> None:
    document = asked(
        [*NODES, SET, *web("n1", "n2", "n3"), budget("web", {"app": "web"}, maxUnavailable=0)], Drain("n1")
    )
    (blocked,) = document["blocked"]
    assert (blocked["name"], blocked["budget"], blocked["node"]) == ("web-0", "default/web", "n1")
    assert blocked["message"] == "The disruption budget web needs 3 healthy pods and has 3 currently"
    assert document["worseOff"] == 1
    assert document["moved"] == []


def test_a_budget_blocks_the_second_where_the_first_finds_no_room() -> None:
    full = [node("n1"), node("n2", cpu="1")]
    document = asked([*full, SET, *web("n1", "n1", "n2"), budget("web", {"app": "web"}, minAvailable=2)], Drain("n1"))
    assert keys(document["pending"]) == ["web-0"]
    assert keys(document["blocked"]) == ["web-1"]


def test_what_a_file_says_of_a_budget_gives_way_to_the_pods() -> None:
    stale = {
        **budget("web", {"app": "web"}, maxUnavailable=1),
        "status": {"disruptionsAllowed": 0, "currentHealthy": 0},
    }
    document = asked([*NODES, SET, *web("n1", "n1", "n2"), stale], Drain("n1"))
    assert (len(document["moved"]), document["blocked"]) == (2, [])


def test_daemons_stay_and_pods_that_nobody_makes_again_are_lost() -> None:
    objects = [*NODES, workload("DaemonSet", "agent"), pod("alone", nodeName="n1")]
    document = asked(objects, Drain("n1"))
    (drain,) = document["drains"]
    assert (drain["stay"], drain["needs"]) == (1, ["--force"])
    assert keys(document["lost"]) == ["alone"]
    assert document["worseOff"] == 1


def test_local_data_is_lost_only_with_a_flag() -> None:
    scratch = on("web-0", "n1", "web", volumes=[{"name": "scratch", "emptyDir": {}}])
    assert asked([*NODES, SET, scratch], Drain("n1"))["drains"][0]["needs"] == ["--delete-emptydir-data"]


def test_nodes_are_closed_together_and_drained_in_turn() -> None:
    document = asked([*NODES, SET, *web("n1", "n2", "n3")], Drain("n1"), Drain("n2"))
    assert {each["to"] for each in document["moved"]} == {"n3"}
    assert [each["node"] for each in document["drains"]] == ["n1", "n2"]


def test_what_was_refused_on_one_node_goes_once_another_is_drained() -> None:
    """The budget counts the whole workload: the pod that waits for the other's replacement goes in a later round."""
    objects = [*NODES, SET, *web("n1", "n2", "n3"), budget("web", {"app": "web"}, maxUnavailable=1)]
    document = asked(objects, Drain("n1"), Drain("n2"))
    assert (len(document["moved"]), document["blocked"]) == (2, [])
