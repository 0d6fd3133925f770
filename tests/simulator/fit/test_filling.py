"""How many more fit: as many as the engine places, and the reason that ends it."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InputError
from bayplan.simulator.fit.filling import Wish, fill
from tests.simulator.fit.asking import read
from tests.simulator.support import START, Manifest, node, pod, simulated, workload
from tests.simulator.what_if.asking import on

NODES = [node("n1"), node("n2", "2")]
HIGH = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}


def filled(manifests: list[Manifest], *asked: Manifest, **wish: Any) -> dict[str, Any]:
    given, kind = read(manifests, *asked)
    return fill(given, Wish(kind, **wish), now=START)


def test_pods_fill_the_nodes_and_the_next_one_hears_why() -> None:
    document = filled([*NODES, pod("there", "1", nodeName="n1")], pod("more", "1"))
    assert (document["fits"], document["perNode"]) == (5, {"n1": 3, "n2": 2})
    assert document["limit"].startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_thousands_fit_in_several_batches() -> None:
    document = filled([node(f"n{number}", "40") for number in range(30)], pod("more", "1"))
    assert (document["fits"], set(document["perNode"].values())) == (1200, {40})


def test_every_plugin_has_a_say() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "more"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    document = filled(NODES, pod("more", meta={"labels": {"app": "more"}}, affinity=affinity))
    assert document["fits"] == 2
    assert "anti-affinity rules" in document["limit"]


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet"])
def test_a_workload_grows(kind: str) -> None:
    assert filled(NODES, workload(kind, "web", "2", replicas=99))["fits"] == 3


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
def test_a_workload_that_runs_already_keeps_its_pods(kind: str) -> None:
    web = workload(kind, "web", "1", replicas=2)
    document = filled([*NODES, web], web)
    assert (document["fits"], document["preempted"]) == (4, [])
    assert sum(document["perNode"].values()) == 4


def test_a_deployment_that_runs_already_keeps_its_pods() -> None:
    web = workload("Deployment", "web", "1", replicas=2)
    document = filled([*NODES, web], {**web, "spec": {**web["spec"], "replicas": 30}})
    assert (document["fits"], document["preempted"]) == (4, [])


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet"])
def test_a_workload_that_runs_already_is_not_rolled_out(kind: str) -> None:
    with pytest.raises(InputError, match=f"{kind} default/web runs already with another pod template"):
        filled([*NODES, workload(kind, "web", "1", replicas=2)], workload(kind, "web", "2", replicas=2))


def test_pods_that_wait_come_first() -> None:
    assert filled([*NODES, pod("waits", "2")], pod("more", "2"))["fits"] == 2


def test_others_go_only_if_they_may() -> None:
    cluster = [node("n1"), HIGH, workload("ReplicaSet", "web", "2", replicas=2)]
    cluster += [on(f"web-{number}", "n1", "web", cpu="2") for number in range(2)]
    important = pod("more", "2", priorityClassName="high")
    kept = filled(cluster, important)
    assert (kept["fits"], kept["preempted"]) == (0, [])
    assert kept["limit"] == "0/1 nodes are available: 1 Insufficient cpu."
    pushed = filled(cluster, important, may_preempt=True)
    assert pushed["fits"] == 2
    assert [each["name"] for each in pushed["preempted"]] == ["web-0", "web-1"]


def test_there_is_an_end_to_asking() -> None:
    document = filled(NODES, pod("more", "1"), most=4)
    assert (document["fits"], document["limit"]) == (4, "not asked: no more than 4 are tried")


def test_nothing_fits_where_there_is_no_node() -> None:
    document = filled([], pod("more"))
    assert (document["fits"], document["perNode"]) == (0, {})
    assert document["limit"]


def test_as_many_fit_as_a_simulation_of_that_many_places() -> None:
    cluster = [node(f"n{number}", str(number + 1)) for number in range(6)]
    fits = filled(cluster, workload("Deployment", "web", "700m", replicas=1))["fits"]
    for replicas, pending in ((fits, 0), (fits + 1, 1)):
        document = simulated(*cluster, workload("Deployment", "web", "700m", replicas=replicas))
        assert document["summary"]["pending"] == pending
