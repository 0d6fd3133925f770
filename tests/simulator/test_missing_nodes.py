"""Pods on nodes that are not in the files: told, lost, and made again by whoever looks after them."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.simulator.simulation import simulate
from tests.simulator.support import Manifest, given, node, owned_by, pod, states, workload
from tests.support.explaining import explain_documents


def run(*manifests: Manifest) -> tuple[dict[str, Any], list[str]]:
    told: list[str] = []
    return simulate(given(*manifests), warn=told.append), told


def owned(name: str, kind: str, owner: str, node_name: str) -> Manifest:
    meta = {"labels": {"app": owner}, "uid": name, "ownerReferences": owned_by(kind, owner)}
    return pod(name, meta=meta, nodeName=node_name)


def looked_after(kind: str, name: str, **spec: Any) -> Manifest:
    made = workload(kind, name, **spec)
    made["metadata"]["uid"] = "u"
    return made


def test_they_are_lost_and_a_warning_names_the_nodes() -> None:
    document, told = run(node("n1"), pod("a", nodeName="n9"), pod("b", nodeName="n8"), pod("c", nodeName="n1"))
    assert states(document) == {"a": "Lost", "b": "Lost", "c": "Bound"}
    assert document["summary"]["bound"] == 1
    assert document["summary"]["lost"] == 2
    messages = [each["message"] for each in document["pods"] if each["state"] == "Lost"]
    assert sorted(messages) == [f"its node {name} is gone, and nobody makes the pod again" for name in ("n8", "n9")]
    assert document["summary"]["lostForGood"] == 2
    assert told == [
        "2 pods are on nodes that are not among those given: n8, n9; they are lost, as pods on a deleted node are, and "
        "controllers make others"
    ]


def test_one_is_told_as_one_and_many_nodes_are_counted() -> None:
    _, told = run(node("n1"), pod("a", nodeName="n9"))
    assert told[0].startswith("1 pod is on a node that is not among those given: n9; it is lost")
    _, told = run(node("n1"), *(pod(f"p{number}", nodeName=f"gone-{number}") for number in range(9)))
    assert "gone-0, gone-1, gone-2, gone-3, gone-4, 4 more; they are lost" in told[0]


@pytest.mark.parametrize("cpu", ["4", "50m"])
def test_controllers_make_others_which_find_a_place_or_not(cpu: str) -> None:
    web = looked_after("ReplicaSet", "web", replicas=1)
    document, _ = run(node("n1", cpu), web, owned("web-1", "ReplicaSet", "web", "n9"))
    (new,) = [each for each in document["pods"] if each["state"] != "Lost"]
    assert (new["state"], new["node"]) == (("Bound", "n1") if cpu == "4" else ("Pending", None))
    assert states(document)["web-1"] == "Lost"
    assert "lostForGood" not in document["summary"]


def test_a_daemon_is_not_made_again_for_a_node_that_is_not_there() -> None:
    agent = looked_after("DaemonSet", "agent")
    document, _ = run(node("n1"), agent, owned("agent-1", "DaemonSet", "agent", "n9"))
    assert sorted((each["state"], each["node"]) for each in document["pods"]) == [("Bound", "n1"), ("Lost", "n9")]


def test_explain_leaves_them_there_and_says_so() -> None:
    document = explain_documents([node("n1"), pod("a", nodeName="n9")], "default", "a")
    assert (document["verdict"], document["node"]) == ("Bound", "n9")
    assert document["message"] == "that node is not among those given"


def test_pods_whose_nodes_are_there_are_no_news() -> None:
    assert run(node("n1"), pod("a", nodeName="n1"), pod("b"))[1] == []


def test_a_claim_that_is_not_there_is_no_fault_of_a_plugin() -> None:
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "nope"}}
    document = explain_documents([node("n1"), pod("a", volumes=[claim])], "default", "a")
    assert document["verdict"] == "Unschedulable"
    assert "error" not in document
