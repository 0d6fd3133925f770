"""Explanations: the verdict, every node with its reasons or scores, what is missing, and what preemption would do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bayplan.errors import InputError
from bayplan.simulator.explain.explanation import explain_pod
from bayplan.simulator.world import assemble
from tests.simulator.support import START, Manifest, config, given, node, pod, simulated, workload, world
from tests.support.explaining import explain_documents

TAINT = {"key": "gpu", "effect": "NoSchedule"}


def explained(name: str, *manifests: Manifest, namespace: str = "default", **options: Any) -> dict[str, Any]:
    return explain_documents(manifests, namespace, name, **{"now": START, "discover": False, **options})


def nodes(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in document["nodes"]}


def test_a_schedulable_pod_has_a_node_and_scores() -> None:
    found = explained("a", node("n1"), node("n2", "8"), pod("a", "2"))
    assert found["apiVersion"] == "bayplan.io/v1alpha1"
    assert found["kind"] == "Explanation"
    assert found["pod"] == {"namespace": "default", "name": "a"}
    assert (found["verdict"], found["node"], found["message"], found["preemption"]) == ("Schedulable", "n2", "", None)
    best, second = found["nodes"]
    assert (best["name"], second["name"]) == ("n2", "n1")
    assert best["total"] == sum(score["weighted"] for score in best["scores"].values())
    taints = best["scores"]["TaintToleration"]
    assert taints == {"raw": 0, "normalized": 100, "weight": 3, "weighted": 300}
    assert found["choice"] == {
        "best": "n2",
        "runnerUp": "n1",
        "margin": best["total"] - second["total"],
        "ties": 1,
    }


def test_a_single_feasible_node_is_not_scored() -> None:
    found = explained("a", node("n1"), node("n2", taints=[TAINT]), pod("a"))
    assert found["node"] == "n1"
    assert found["nodes"][0] == {"name": "n1", "feasible": True, "total": None}
    assert found["choice"]["runnerUp"] is None


def test_an_unschedulable_pod_has_a_reason_for_every_node() -> None:
    found = explained("a", node("big", "9", taints=[TAINT]), node("small", "1"), node("free", "4"), pod("a", "4500m"))
    assert found["verdict"] == "Unschedulable"
    assert found["node"] is None
    assert found["message"].startswith(
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu."
    )
    assert [each["name"] for each in found["nodes"]] == ["free", "small", "big"]
    assert found["nodes"][0] == {
        "name": "free",
        "feasible": False,
        "plugin": "NodeResourcesFit",
        "code": "UnschedulableAndUnresolvable",
        "reasons": ["Insufficient cpu"],
        "shortfall": {"cpu": "500m"},
    }
    assert "shortfall" not in nodes(found)["big"]
    assert found["requests"] == {"cpu": "4500m"}


def test_everything_that_is_short_is_told_with_its_amount() -> None:
    full = node("n1")
    full["status"]["allocatable"] = {"cpu": "1", "memory": "1Gi", "pods": "0"}
    greedy = pod("a", "1500m")
    greedy["spec"]["containers"][0]["resources"]["requests"]["memory"] = "3Gi"
    (found,) = explained("a", full, greedy)["nodes"]
    assert found["reasons"] == ["Too many pods", "Insufficient cpu", "Insufficient memory"]
    assert found["shortfall"] == {"pods": "1", "cpu": "500m", "memory": "2Gi"}


def test_preemption_that_would_help_is_told_and_leaves_the_message_without_a_suffix() -> None:
    found = explained("a", node("n1"), pod("low", "3", priority=1, nodeName="n1"), pod("a", "3", priority=5))
    assert found["verdict"] == "Unschedulable"
    assert found["message"] == "0/1 nodes are available: 1 Insufficient cpu."
    assert found["preemption"] == {"node": "n1", "victims": ["default/low"]}


def test_a_bound_pod_is_judged_as_if_it_were_not_there() -> None:
    found = explained("a", node("n1"), node("n2"), pod("a", "3", nodeName="n2"))
    assert (found["verdict"], found["node"], found["message"]) == ("Bound", "n2", "")
    assert {each["name"]: each["feasible"] for each in found["nodes"]} == {"n1": True, "n2": True}
    assert len({each["total"] for each in found["nodes"]}) == 1


def test_a_bound_pod_may_be_where_it_would_not_be_put_today() -> None:
    found = explained("a", node("n1"), node("n2", taints=[TAINT]), pod("a", nodeName="n2"))
    assert (found["verdict"], found["node"]) == ("Bound", "n2")
    assert nodes(found)["n2"]["plugin"] == "TaintToleration"
    assert found["choice"]["best"] == "n1"


def test_explaining_changes_nothing() -> None:
    here = world(node("n1"), node("n2"), pod("a", "3", nodeName="n2"), pod("b"))
    first = [explain_pod(here, "default", name) for name in ("a", "b")]
    second = [explain_pod(here, "default", name) for name in ("a", "b")]
    assert first == second
    assert here.scheduler.cache.pod_count == 1


def test_other_pending_pods_stay_pending() -> None:
    found = explained("b", node("n1"), pod("a", "3"), pod("b", "3"))
    assert found["verdict"] == "Schedulable"


def test_room_kept_for_a_nominated_pod_is_not_free() -> None:
    nominated = pod("a", "3", priority=9, status={"nominatedNodeName": "n1"})
    found = explained("b", node("n1"), nominated, pod("b", "3"))
    assert found["verdict"] == "Unschedulable"
    assert "shortfall" not in found["nodes"][0]


def test_nominations_of_other_schedulers_do_not_count() -> None:
    nominated = pod("a", "3", priority=9, status={"nominatedNodeName": "n1"}, schedulerName="other")
    assert explained("b", node("n1"), nominated, pod("b", "3"))["verdict"] == "Schedulable"


def test_nodes_that_nobody_looked_at_are_neither_feasible_nor_not() -> None:
    found = explained("a", node("n1"), node("n2"), pod("a", status={"nominatedNodeName": "n2"}))
    assert found["node"] == "n2"
    assert nodes(found)["n1"] == {
        "name": "n1",
        "feasible": None,
        "reasons": ["not looked at: the nominated node fits"],
    }


def test_a_gated_pod_is_unschedulable_for_that_reason() -> None:
    found = explained("a", node("n1"), pod("a", schedulingGates=[{"name": "example.com/wait"}]))
    assert (found["verdict"], found["node"], found["gatedBy"]) == ("Unschedulable", None, "SchedulingGates")
    assert "example.com/wait" in found["message"]


def test_no_nodes_at_all_is_an_answer_too() -> None:
    found = explained("a", pod("a"))
    assert found["verdict"] == "Unschedulable"
    assert found["message"] == "no nodes available to schedule pods"
    assert found["nodes"] == []


def test_pods_that_a_workload_would_make_can_be_explained() -> None:
    manifests = (node("n1"), workload("StatefulSet", "db", "9", replicas=2))
    assert explained("db-0", *manifests)["verdict"] == "Unschedulable"


def test_a_configuration_decides() -> None:
    off = {"schedulerName": "default-scheduler", "plugins": {"multiPoint": {"disabled": [{"name": "TaintToleration"}]}}}
    found = explained("a", node("n1", taints=[TAINT]), pod("a"), config={**config(), "profiles": [off]})
    assert found["verdict"] == "Schedulable"


@pytest.mark.parametrize(
    ("name", "namespace", "line"),
    [
        ("webb", "default", 'there is no pod "webb" in namespace "default"; did you mean "web"?'),
        ("web", "shop", 'there is no pod "web" in namespace "shop"; there is one in default: add -n default'),
        ("zzz", "default", 'there is no pod "zzz" in namespace "default"'),
    ],
)
def test_a_pod_that_is_not_there(name: str, namespace: str, line: str) -> None:
    with pytest.raises(InputError) as caught:
        explained(name, node("n1"), pod("web"), namespace=namespace)
    assert str(caught.value) == line


def test_a_pod_of_a_scheduler_without_a_profile_is_an_error() -> None:
    with pytest.raises(InputError, match='no profile is for the scheduler "mine"'):
        explained("a", node("n1"), pod("a", schedulerName="mine"), config=config("other"))


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ({"conditions": [{"type": "Ready", "status": "False"}]}, "node(s) had untolerated taint(s)"),
        ({"conditions": [{"type": "Ready", "status": "Unknown"}]}, "node(s) had untolerated taint(s)"),
        ({"conditions": [{"type": "DiskPressure", "status": "True"}]}, "node(s) had untolerated taint(s)"),
    ],
)
def test_a_node_that_is_not_well_is_tainted_as_in_a_simulation(status: Manifest, reason: str) -> None:
    unwell = node("n1")
    manifests = [{**unwell, "status": {**unwell["status"], **status}}, pod("a")]
    found = explained("a", *manifests)
    assert (found["verdict"], nodes(found)["n1"]["reasons"]) == ("Unschedulable", [reason])
    (simulated_pod,) = simulated(*manifests)["pods"]
    assert simulated_pod["message"] == found["message"]


def test_the_nodes_of_a_live_cluster_are_taken_as_they_are() -> None:
    """Its own controllers taint them, and its scheduler goes by what they did."""
    unwell = node("n1")
    said = {"conditions": [{"type": "Ready", "status": "False"}]}
    live = replace(given({**unwell, "status": {**unwell["status"], **said}}, pod("a")), is_live=True)
    assert explain_pod(assemble(live, now=START), "default", "a")["verdict"] == "Schedulable"
