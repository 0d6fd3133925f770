"""Sums over a simulation: they add up, whatever they are by."""

from __future__ import annotations

from typing import Any

from bayplan.objects.quantity import milli_value
from bayplan.simulator.report import simulation_report
from tests.simulator.support import ZONE, Manifest, node, pod, simulated, workload

TYPE = "node.kubernetes.io/instance-type"


def shop(**options: Any) -> Manifest:
    nodes = [
        node("a1", labels={ZONE: "a", TYPE: "m5.large"}),
        node("a2", "8", labels={ZONE: "a", "cloud.google.com/gke-nodepool": "big"}),
        node("b1", labels={ZONE: "b", TYPE: "m5.large"}),
        node("c1", "2"),
    ]
    workloads = [workload("Deployment", "web", "1", replicas=3), workload("StatefulSet", "db", "9", replicas=1)]
    return simulated(*nodes, *workloads, pod("alone", "500m"), pod("other", "500m"), with_summary=True, **options)


def cpu(part: Manifest, what: str = "requested") -> int:
    return int(milli_value(part[what]["cpu"]))


def test_every_sum_adds_up_to_the_totals() -> None:
    document = shop()
    totals = document["totals"]
    assert (totals["requested"]["cpu"], totals["allocatable"]["cpu"]) == ("4", "18")
    for parts in (document["byZone"], document["byNodeKind"]):
        assert sum(map(cpu, parts)) == cpu(totals)
        assert sum(cpu(part, "allocatable") for part in parts) == cpu(totals, "allocatable")
        assert sum(part["nodes"] for part in parts) == document["summary"]["nodes"]
        assert sum(part["pods"] for part in parts) == document["summary"]["bound"]
    assert sum(map(cpu, document["byWorkload"])) == cpu(totals)
    assert sum(part["pods"] for part in document["byWorkload"]) == document["summary"]["pods"]


def test_workloads_have_their_states_and_pods_that_nobody_looks_after_stand_together() -> None:
    assert [(each["namespace"], each["workload"], each["states"]) for each in shop()["byWorkload"]] == [
        ("default", "Deployment/web", {"Bound": 3}),
        ("default", "StatefulSet/db", {"Pending": 1}),
        ("default", None, {"Bound": 2}),
    ]


def test_nodes_are_told_apart_by_machine_then_by_pool_then_by_what_they_have() -> None:
    document = shop()
    assert [(each["nodeKind"], each["by"], each["nodes"]) for each in document["byNodeKind"]] == [
        ("2 cpu, 8Gi memory", "shape", 1),
        ("big", "cloud.google.com/gke-nodepool", 1),
        ("m5.large", TYPE, 2),
    ]
    assert [(each["zone"], each["nodes"]) for each in document["byZone"]] == [("a", 2), ("b", 1), (None, 1)]


def test_the_sums_are_shown_instead_of_each_pod_and_node() -> None:
    text = simulation_report.as_table(shop())
    assert "NAMESPACE   WORKLOAD         PODS   BOUND   PENDING   CPU   MEMORY" in text
    assert "KIND OF NODE" in text
    (total,) = (line.split() for line in text.splitlines() if line.startswith("TOTAL"))
    assert total == ["TOTAL", "4", "5", "4/18", "0/32Gi"]
    assert "a1" not in text
    assert "Pending: default/db-0: 0/4 nodes" in text


def test_totals_are_there_without_being_asked_for_and_the_rest_is_not() -> None:
    document = simulated(node("n1"), pod("a"))
    assert document["totals"]["requested"] == {"cpu": "100m", "memory": "0"}
    assert not {"byWorkload", "byZone", "byNodeKind"} & set(document)
    assert simulated()["totals"] == {
        "requested": {"cpu": "0", "memory": "0"}, "allocatable": {"cpu": "0", "memory": "0"},
    }  # fmt: skip
