"""A shopping list for what waits: the engine tries each proposal, and nothing of it is left behind."""

from __future__ import annotations

from typing import Any

from bayplan.objects.node import Node
from bayplan.simulator.fit.buying import Offer, buy
from bayplan.simulator.loading import documents_of, load
from tests.simulator.fit.asking import read
from tests.simulator.support import START, Manifest, node, objects, pod, workload


def offer(name: str, cpu: str, price: float = 1.0, **labels: str) -> Offer:
    (made,) = (each for each in objects(node(name, cpu, labels=labels)) if isinstance(each, Node))
    return Offer(name, made, price)


def bought(
    manifests: list[Manifest], *offers: Offer, asked: Manifest | None = None, count: int | None = None
) -> dict[str, Any]:
    given, kind = read(manifests, asked) if asked is not None else (load(documents_of(manifests)), None)
    return buy(given, offers, kind, count, now=START)


def test_what_waits_is_held_by_as_few_nodes_as_do() -> None:
    document = bought([node("n1"), workload("Deployment", "web", "1", replicas=10)], offer("m5", "4"))
    assert document["buy"] == [{"template": "m5", "count": 2, "price": 1.0}]
    assert (document["total"], document["pending"]) == ({"nodes": 2, "price": 2.0}, [])
    assert sum(document["perNode"].values()) == 6


def test_the_cheapest_mixture_is_bought() -> None:
    web = workload("Deployment", "web", "2", replicas=5)
    document = bought([node("n1", "1")], offer("small", "2", 1.0), offer("large", "4", 1.9), asked=web)
    assert {each["template"]: each["count"] for each in document["buy"]} == {"large": 2, "small": 1}
    assert (document["wanted"], document["fits"], document["total"]["price"]) == (5, 0, 4.8)


def test_a_workload_that_runs_already_only_grows() -> None:
    web = workload("Deployment", "web", "1", replicas=2)
    larger = {**web, "spec": {**web["spec"], "replicas": 6}}
    document = bought([node("n1"), web], offer("m5", "1"), asked=larger)
    assert (document["wanted"], document["fits"], document["total"]["nodes"]) == (4, 2, 2)


def test_pods_without_a_controller_are_tried_again_with_every_list() -> None:
    pods = [pod(f"p{number}", "3") for number in range(5)]
    document = bought([node("n1"), *pods], offer("a", "3", 5.0), offer("b", "6", 2.0))
    assert document["buy"] == [{"template": "b", "count": 2, "price": 2.0}]
    assert document["pending"] == []


def test_who_is_pushed_away_is_held_as_well() -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    low = [pod(f"low-{number}", "2", nodeName="n1") for number in range(2)]
    important = workload("Deployment", "important", "2", replicas=2, pods={"priorityClassName": "high"})
    document = bought([node("n1"), high, *low], offer("m5", "4"), asked=important)
    assert [each["name"] for each in document["preempted"]] == ["low-0", "low-1"]
    assert (document["fits"], document["total"]["nodes"], document["perNode"]) == (2, 1, {"m5-new-1": 2})


def test_what_no_template_holds_is_told() -> None:
    document = bought([node("n1"), pod("huge", "64")], offer("m5", "4"))
    assert document["buy"] == []
    assert [each["name"] for each in document["pending"]] == ["huge"]
    assert "Insufficient cpu" in document["pending"][0]["message"]


def test_daemons_of_new_nodes_take_their_share() -> None:
    objects_ = [node("n1", "1"), workload("DaemonSet", "agent", "1"), workload("Deployment", "web", "1", replicas=6)]
    document = bought(objects_, offer("m5", "4"))
    assert document["buy"] == [{"template": "m5", "count": 2, "price": 1.0}]


def test_labels_of_a_template_count() -> None:
    choosy = pod("choosy", "1", nodeSelector={"disk": "ssd"})
    document = bought([node("n1"), choosy], offer("plain", "4", 1.0), offer("fast", "4", 3.0, disk="ssd"))
    assert document["buy"] == [{"template": "fast", "count": 1, "price": 3.0}]


def test_nothing_is_bought_where_everything_has_room() -> None:
    document = bought([node("n1")], offer("m5", "4"), asked=pod("one", "1"), count=4)
    assert (document["buy"], document["wanted"], document["fits"]) == ([], 4, 4)
