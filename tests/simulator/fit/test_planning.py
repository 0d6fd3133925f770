"""Plans of moves: nodes that can be emptied, and room for a pod; every step is valid when it is made."""

from __future__ import annotations

from typing import Any

from bayplan.simulator.fit.planning import shrunk, with_room
from bayplan.simulator.loading import documents_of, load
from bayplan.simulator.what_if.changes import Drain
from tests.simulator.fit.asking import read_gang
from tests.simulator.support import START, Manifest, budget, node, pod, workload
from tests.simulator.what_if.asking import asked, on

QUIET: dict[str, Any] = {"seed": 0, "now": START, "warn": lambda text: None, "progress": lambda tried, total: None}
NODES = [node("n1"), node("n2"), node("n3")]
SET = workload("ReplicaSet", "web", cpu="1", replicas=3)


def web(*nodes: str, cpu: str = "1") -> list[Manifest]:
    return [on(f"web-{number}", name, "web", cpu=cpu) for number, name in enumerate(nodes)]


def emptied(manifests: list[Manifest], most: int | None = None) -> dict[str, Any]:
    return shrunk(load(documents_of(manifests)), most, **QUIET)


def room(manifests: list[Manifest], *asked_for: Manifest, count: int | None = None) -> dict[str, Any]:
    given, gang = read_gang(manifests, *asked_for, count=count)
    return with_room(given, gang, **QUIET)


# -- emptying nodes --


def test_pods_are_gathered_on_few_nodes_and_none_moves_twice() -> None:
    document = emptied([*NODES, SET, *web("n1", "n2", "n3")])
    assert len(document["empty"]) == 2
    assert len(document["moves"]) == len({each["name"] for each in document["moves"]}) == 2
    assert [each["step"] for each in document["moves"]] == [1, 2]
    assert not {each["to"] for each in document["moves"]} & set(document["empty"])


def test_a_plan_can_be_carried_out_as_drains() -> None:
    cluster = [*NODES, SET, *web("n1", "n2", "n3"), budget("web", {"app": "web"}, maxUnavailable=1)]
    document = emptied(cluster)
    played = asked(cluster, *(Drain(name) for name in document["empty"]))
    assert (played["worseOff"], len(played["moved"])) == (0, len(document["moves"]))


def test_a_budget_that_allows_nothing_keeps_a_node() -> None:
    document = emptied([*NODES, SET, *web("n1", "n1", "n1"), budget("web", {"app": "web"}, maxUnavailable=0)])
    assert document["empty"] == ["n2", "n3"]
    assert document["moves"] == []
    assert document["stay"] == [
        {"node": "n1", "why": "default/web-0: the disruption budget default/web allows no eviction"}
    ]


def test_what_nobody_makes_again_or_may_not_move_keeps_a_node() -> None:
    alone = pod("alone", nodeName="n1")
    data = on("web-9", "n2", "web", volumes=[{"name": "data", "hostPath": {"path": "/data"}}])
    stay = {each["node"]: each["why"] for each in emptied([*NODES, SET, alone, data])["stay"]}
    assert stay["n1"] == "default/alone: nobody would make another one in its place"
    assert stay["n2"].startswith("default/web-9: its volume data is on its node")


def test_rules_of_pods_keep_nodes() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    pods = [on(f"web-{number}", f"n{number + 1}", "web", affinity=affinity) for number in range(3)]
    document = emptied([*NODES, workload("ReplicaSet", "web", "1", replicas=3, pods={"affinity": affinity}), *pods])
    assert document["empty"] == []
    assert "anti-affinity" in document["stay"][0]["why"]


def test_no_more_moves_are_planned_than_asked_for() -> None:
    document = emptied([*NODES, SET, *web("n1", "n2", "n3")], most=1)
    assert (len(document["empty"]), len(document["moves"]), document["untried"]) == (1, 1, 2)


def test_daemons_do_not_keep_a_node() -> None:
    document = emptied([*NODES, workload("DaemonSet", "agent"), SET, *web("n1", "n1", "n1")])
    assert document["empty"] == ["n2", "n3"]


# -- making room --


def test_the_fewest_pods_move_for_a_large_one() -> None:
    cluster = [*NODES[:2], SET, *web("n1", "n1", "n2")]
    document = room(cluster, pod("large", "3"))
    assert (document["room"]["node"], document["moves"]) == ("n2", [])
    tight = [*NODES[:2], workload("ReplicaSet", "web", "1", replicas=4), *web("n1", "n1", "n2", "n2")]
    document = room(tight, pod("large", "3"))
    assert len(document["moves"]) == 1
    (move,) = document["moves"]
    assert move["from"] == document["room"]["node"] != move["to"]


def test_nothing_moves_where_there_is_room() -> None:
    assert room(NODES, pod("small", "1"))["moves"] == []


def test_no_moves_help_where_the_rest_is_full() -> None:
    full = [*NODES[:2], workload("ReplicaSet", "web", "2", replicas=4), *web("n1", "n1", "n2", "n2", cpu="2")]
    document = room(full, pod("large", "3"))
    assert (document["room"]["node"], document["moves"]) == (None, [])
    assert "Insufficient cpu" in document["room"]["message"]


# Two nodes of four with two pods each, and one with none: a pod of 3 fits once, and a second after one move.
FULL = [*NODES, workload("ReplicaSet", "web", "1", replicas=4), *web("n1", "n1", "n2", "n2")]


def test_room_is_made_for_several_pods_together_and_the_plan_says_where_each_goes() -> None:
    document = room(FULL, pod("large", "3"), count=2)
    assert document["room"]["wanted"] == len(document["room"]["pods"]) == 2
    assert len({each["node"] for each in document["room"]["pods"]}) == 2
    (move,) = document["moves"]
    assert document["close"] == [move["from"]]
    assert move["from"] in {each["node"] for each in document["room"]["pods"]}


def test_room_for_all_of_them_or_for_none() -> None:
    document = room(FULL, pod("large", "3"), count=4)
    assert document["room"]["pods"] == document["moves"] == document["close"] == []
    assert document["room"]["node"] is None
    assert "of 4 would have a node; default/large-" in document["room"]["message"]


def test_pods_that_share_the_freed_room_need_no_further_moves() -> None:
    # 12 cores, 4 of pods: 8 pods of 1 fit without a move, four pods of 2 need one of each pair of single cores joined.
    split = [*NODES[:2], workload("ReplicaSet", "web", "1", replicas=4), *web("n1", "n1", "n1", "n2")]
    assert room(split, pod("half", "2"), count=2)["moves"] != []
    assert len(room(split, pod("half", "2"), count=2)["moves"]) == 1
    assert room(split, pod("small", "1"), count=4)["moves"] == []


def test_replacements_do_not_go_to_nodes_that_are_to_be_freed() -> None:
    nodes = [node(f"n{number}") for number in range(1, 6)]
    pods = web("n1", "n1", "n2", "n2", "n3", "n3", "n4", "n4")
    cluster = [*nodes, workload("ReplicaSet", "web", "1", replicas=8), *pods]
    document = room(cluster, pod("large", "3"), count=3)
    assert len(document["room"]["pods"]) == 3
    assert not {each["to"] for each in document["moves"]} & set(document["close"])
    assert len({each["uid"] for each in document["moves"]}) == len(document["moves"])
    assert len(document["moves"]) == 2
    assert "n5" in document["close"]  # where the first of them goes without any move


def test_a_node_whose_pods_would_need_another_emptied_node_is_not_called_empty() -> None:
    """Every plan can be made with all its nodes closed from the start."""
    for sizes in (("n1", "n2", "n3"), ("n1", "n1", "n2"), ("n1", "n2", "n2", "n3", "n3")):
        cluster = [*NODES, workload("ReplicaSet", "web", "1", replicas=len(sizes)), *web(*sizes)]
        document = emptied(cluster)
        assert not {each["to"] for each in document["moves"]} & set(document["empty"])
        assert document["schedulers"] == (["default-scheduler"] if document["moves"] else [])
