"""What comes, changes and goes in the middle of a simulation, and what controllers make of it."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InputError
from tests.simulator.support import (
    START,
    Manifest,
    budget,
    by_name,
    job,
    node,
    pod,
    pod_spec,
    simulated,
    states,
    workload,
)
from tests.simulator.support import world as assembled

AT, UNTIL = "simulation.bayplan.io/at", "simulation.bayplan.io/until"


def annotated(made: Manifest, name: str, value: str) -> Manifest:
    meta = made["metadata"]
    return {**made, "metadata": {**meta, "annotations": {**meta.get("annotations", {}), name: value}}}


def at(when: str, made: Manifest) -> Manifest:
    return annotated(made, AT, when)


def until(when: str, made: Manifest) -> Manifest:
    return annotated(made, UNTIL, when)


def on(document: Manifest, owner: str) -> dict[str, int]:
    """How many living pods of an owner there are by node."""
    found: dict[str, int] = {}
    for each in document["pods"]:
        if each["owner"] == owner and each["state"] in ("Bound", "Pending"):
            found[each["node"] or "-"] = found.get(each["node"] or "-", 0) + 1
    return found


# -- objects of every kind come --


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet"])
def test_a_workload_that_comes_later_makes_its_pods_then(kind: str) -> None:
    document = simulated(node("n1"), at("5m", workload(kind, "web", replicas=2)))
    assert [each["boundAt"] for each in document["pods"]] == [300.0, 300.0]
    assert {each["owner"] for each in document["pods"]} == {f"{kind}/web"}


def test_a_workload_that_comes_later_may_become_larger_still_later() -> None:
    document = simulated(
        node("n1"),
        at("5m", workload("Deployment", "web", replicas=1)),
        at("6m", workload("Deployment", "web", replicas=3)),
    )
    assert sorted(each["boundAt"] for each in document["pods"]) == [300.0, 360.0, 360.0]


def test_daemon_sets_and_jobs_come_later() -> None:
    document = simulated(
        node("n1"), node("n2"), at("1m", workload("DaemonSet", "agent")), at("2m", job("sum", parallelism=2))
    )
    assert on(document, "DaemonSet/agent") == {"n1": 1, "n2": 1}
    assert sum(on(document, "Job/sum").values()) == 2


def test_pods_of_a_workload_that_comes_later_come_one_after_the_other_if_they_say_so() -> None:
    web = workload("Deployment", "web", replicas=3)
    web["spec"]["template"]["metadata"]["annotations"] = {"simulation.bayplan.io/interval": "10s"}
    document = simulated(node("n1"), at("1m", web))
    assert [each["boundAt"] for each in document["pods"]] == [60.0, 70.0, 80.0]


def test_a_budget_that_comes_later_guards_the_pods_that_are_there() -> None:
    guarded = {"labels": {"app": "guarded"}}
    document = simulated(
        node("n1"),
        node("n2"),
        pod("guarded", "3", meta=guarded, priority=1, nodeName="n1"),
        pod("free", "3", priority=1, nodeName="n2"),
        at("1m", budget("b", {"app": "guarded"}, minAvailable=1)),
        at("2m", pod("big", "3", priority=9)),
    )
    assert states(document) == {"guarded": "Bound", "free": "Preempted", "big": "Bound"}


def test_a_claim_that_comes_later_is_what_a_pod_waits_for() -> None:
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "csi.example.org",
        "volumeBindingMode": "Immediate",
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {
            "storageClassName": "fast",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    document = simulated(node("n1"), pod("a", volumes=volumes), at("1m", storage), at("2m", claim))
    assert by_name(document)["a"]["boundAt"] >= 120


def test_a_stateful_set_that_grows_gets_the_claims_of_its_new_pods() -> None:
    def database(replicas: int) -> Manifest:
        template = {
            "metadata": {"name": "data"},
            "spec": {
                "storageClassName": "fast",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
        return workload("StatefulSet", "db", replicas=replicas, volumeClaimTemplates=[template])

    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "csi.example.org",
    }
    document = simulated(node("n1"), storage, database(1), at("1m", database(3)))
    assert states(document) == {"db-0": "Bound", "db-1": "Bound", "db-2": "Bound"}


def test_pods_of_any_scheduler_are_placed_when_they_come_later() -> None:
    web = workload("Deployment", "web", replicas=1, pods={"schedulerName": "own"})
    document = simulated(node("n1"), at("1m", web))
    assert [each["state"] for each in document["pods"]] == ["Bound"]


def test_a_pod_may_lose_its_gate_later() -> None:
    document = simulated(node("n1"), pod("a", schedulingGates=[{"name": "g"}]), at("3m", pod("a")))
    assert by_name(document)["a"]["boundAt"] == 180.0


def test_what_nobody_would_play_is_refused_in_one_line() -> None:
    web = workload("Deployment", "web", replicas=1)
    cases: list[tuple[list[Manifest], str]] = [
        (
            [web, at("1m", workload("Deployment", "web", replicas=1, selector={"matchExpressions": []}))],
            "spec.selector: of a Deployment replicas, template, strategy, minReadySeconds, paused can change",
        ),
        (
            [job("sum"), at("1m", job("sum", template={"spec": pod_spec("2", restartPolicy="Never")}))],
            "spec.template: of a Job: field is immutable",
        ),
        ([job("sum"), at("1m", job("sum", parallelism=3))], "spec.parallelism: of a Job nothing can change"),
        ([pod("a"), at("1m", pod("a", "2"))], "of a pod only labels"),
        (
            [pod("a"), at("1m", pod("a", status={"phase": "Succeeded"}))],
            "status.phase: a pod does not end in a simulation",
        ),
        ([until("1m", at("2m", pod("a")))], "it would go before it comes; write more than 120s"),
        ([at("-1m", pod("a"))], "before the simulation begins"),
        ([until("-1m", pod("a"))], "before the simulation begins"),
    ]
    template = workload("Deployment", "web", replicas=1)
    template["spec"]["template"]["metadata"]["annotations"] = {AT: "5m"}
    cases.append(([template], "is not for pods of a workload"))
    for manifests, problem in cases:
        with pytest.raises(InputError) as caught:
            simulated(node("n1"), *manifests)
        assert problem in str(caught.value)
        assert str(caught.value).startswith("test.yaml: ")
        assert "\n" not in str(caught.value)


# -- objects go --


def test_a_node_that_goes_takes_its_pods_and_their_controllers_make_others() -> None:
    document = simulated(
        until("5m", node("n1")),
        node("n2"),
        workload("DaemonSet", "agent"),
        workload("Deployment", "web", replicas=4),
        workload("StatefulSet", "db", replicas=2),
        pod("bare", nodeName="n1"),
    )
    assert on(document, "Deployment/web") == {"n2": 4}
    assert on(document, "StatefulSet/db") == {"n2": 2}
    assert on(document, "DaemonSet/agent") == {"n2": 1}
    bare = by_name(document)["bare"]
    assert (bare["state"], bare["message"]) == ("Lost", "its node n1 is gone, and nobody makes the pod again")
    assert document["summary"]["nodes"] == 1
    assert [each["name"] for each in document["nodes"]] == ["n2"]


def test_a_node_may_come_back() -> None:
    document = simulated(until("5m", node("n1")), at("10m", node("n1")), workload("Deployment", "web", replicas=2))
    assert sorted(each["state"] for each in document["pods"]) == ["Bound", "Bound", "Lost", "Lost"]
    assert [each["boundAt"] for each in document["pods"] if each["state"] == "Bound"] == [600.0, 600.0]


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"])
def test_a_workload_that_goes_takes_its_pods(kind: str) -> None:
    size: dict[str, Any] = {} if kind == "DaemonSet" else {"replicas": 2}
    document = simulated(node("n1"), node("n2"), until("5m", workload(kind, "web", **size)))
    assert set(states(document).values()) == {"Deleted"}
    assert document["summary"]["deleted"] == 2


def test_a_pod_that_is_deleted_is_made_again_by_its_controller() -> None:
    owned = {
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
        ]
    }
    web = workload("ReplicaSet", "web", replicas=1)
    document = simulated(node("n1"), web, until("5m", pod("web-1", meta=owned, nodeName="n1")))
    assert sorted(each["state"] for each in document["pods"]) == ["Bound", "Deleted"]


def test_a_budget_that_goes_guards_nobody() -> None:
    document = simulated(
        node("n1"),
        pod("low", "3", meta={"labels": {"app": "low"}}, priority=1, nodeName="n1"),
        until("5m", budget("b", {"app": "low"}, minAvailable=1)),
        at("6m", pod("big", "3", priority=9)),
    )
    assert states(document) == {"low": "Preempted", "big": "Bound"}


# -- daemons follow the nodes --


def test_a_node_that_comes_later_gets_its_daemons() -> None:
    document = simulated(node("n1"), at("5m", node("n2")), workload("DaemonSet", "agent"))
    assert {each["node"]: each["boundAt"] for each in document["pods"]} == {"n1": 0.0, "n2": 300.0}


def test_daemons_follow_labels() -> None:
    agent = workload("DaemonSet", "agent", pods={"nodeSelector": {"disk": "ssd"}})
    ssd = {"disk": "ssd"}
    document = simulated(
        node("n1", labels=ssd), node("n2"), at("1m", node("n1")), at("2m", node("n2", labels=ssd)), agent
    )
    assert on(document, "DaemonSet/agent") == {"n2": 1}
    assert sorted(each["state"] for each in document["pods"]) == ["Bound", "ScaledIn"]


@pytest.mark.parametrize(("effect", "left"), [("NoSchedule", {"n1": 1}), ("NoExecute", {})])
def test_only_a_taint_that_evicts_sends_a_daemon_away(effect: str, left: dict[str, int]) -> None:
    changed = node("n1", taints=[{"key": "k", "effect": effect}])
    document = simulated(node("n1"), at("1m", changed), workload("DaemonSet", "agent"))
    assert on(document, "DaemonSet/agent") == left


# -- an engine that hears the same as it would live --


def test_the_engine_knows_what_is_there_in_the_end() -> None:
    from bayplan.simulator.simulation import run

    here = assembled(
        until("5m", node("n1")), node("n2"), workload("Deployment", "web", replicas=4), at("6m", node("n3")), now=START
    )
    run(here)
    nodes = here.scheduler.cache.nodes
    assert sorted(nodes.names) == ["n2", "n3"]
    assert sum(nodes.node(row).pods_count for row in range(len(nodes))) == 4
