"""The figures of ``bayplan top`` follow from the cluster that the page draws."""

from __future__ import annotations

from typing import Any

from bayplan.app.top.figures import MOST_NODES, top_document
from bayplan.engine.cache import ClusterCache
from bayplan.objects.pod import Pod
from bayplan.simulator.report.simulation_report import BOUND, GATED, PENDING
from bayplan.testing import node, pod
from bayplan.view.cluster_view import PodRow, cluster_view


def cluster(nodes: int = 2) -> dict[str, Any]:
    cache = ClusterCache()
    for number in range(1, nodes + 1):
        cache.add_node(node(f"n{number}").build())
    cache.add_node(node("closed").cordoned().build())
    running: Pod = pod("web").request(cpu="3", memory="4Gi").on("n2").build()
    cache.add_pod(running)
    rows = [
        PodRow(running, BOUND, owner="Deployment/web"),
        PodRow(pod("big-1").build(), PENDING, "0/3 nodes are available: 3 Insufficient cpu.", "Job/big"),
        PodRow(pod("big-2").build(), PENDING, "0/3 nodes are available: 3 Insufficient cpu.", "Job/big"),
        PodRow(pod("fresh").build(), PENDING),
        PodRow(pod("gated").build(), GATED, "waiting for a gate"),
    ]
    return cluster_view(cache.nodes, rows)


def test_the_busiest_nodes_come_first_with_what_their_pods_ask_for() -> None:
    top = top_document(cluster(), 3.14)

    first, *others = top["nodes"]
    assert first == {"name": "n2", "cpu": 0.75, "memory": 0.125, "pods": 1, "mostPods": 110, "state": "Ready"}
    assert [(each["name"], each["cpu"], each["state"]) for each in others] == [
        ("closed", 0.0, "Cordoned"),
        ("n1", 0.0, "Ready"),
    ]
    assert top["bindsPerSecond"] == 3.1


def test_the_queue_tells_those_not_tried_from_those_told_why_not() -> None:
    assert top_document(cluster(), 0)["queue"] == {"new": 1, "unschedulable": 2, "gated": 1}


def test_pending_pods_are_grouped_by_owner_and_reason() -> None:
    big, fresh = top_document(cluster(), 0)["pending"]

    assert big == {
        "pods": 2,
        "owner": "Job/big",
        "example": "default/big-1",
        "message": "0/3 nodes are available: 3 Insufficient cpu.",
    }
    assert (fresh["pods"], fresh["example"], fresh["message"]) == (1, "default/fresh", "")


def test_a_large_cluster_is_cut_to_its_busiest_nodes() -> None:
    top = top_document(cluster(MOST_NODES + 5), 0)

    assert len(top["nodes"]) == MOST_NODES
    assert top["summary"]["nodes"] == MOST_NODES + 6


def test_what_a_node_does_not_have_is_full_if_pods_ask_for_it() -> None:
    cache = ClusterCache()
    cache.add_node(node("bare").allocatable(cpu="0").build())
    cache.add_pod(pod("web").cpu("1").on("bare").build())

    (bare,) = top_document(cluster_view(cache.nodes, []), 0)["nodes"]
    assert bare["cpu"] == 1.0
