"""NoExecute taints and what a node's conditions lead to, in virtual time."""

from __future__ import annotations

import pytest

from tests.simulator.support import Manifest, by_name, node, pod, simulated, states, workload
from tests.simulator.test_timed_changes import at, on

GO = [{"key": "maintenance", "effect": "NoExecute"}]
NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"


def stays(seconds: int | None = None, key: str = "maintenance") -> dict[str, list[Manifest]]:
    toleration: Manifest = {"key": key, "operator": "Exists", "effect": "NoExecute"}
    return {"tolerations": [toleration if seconds is None else {**toleration, "tolerationSeconds": seconds}]}


def unready(name: str, status: str = "False", **conditions: str) -> Manifest:
    made = node(name)
    said = [{"type": "Ready", "status": status}, *({"type": key, "status": value} for key, value in conditions.items())]
    return {**made, "status": {**made["status"], "conditions": said}}


def bound_at(document: Manifest, owner: str) -> list[float]:
    return [each["boundAt"] for each in document["pods"] if each["owner"] == owner and each["state"] == "Bound"]


def test_pods_that_do_not_tolerate_a_taint_go_at_once_and_are_made_again_elsewhere() -> None:
    document = simulated(
        node("n1"),
        node("n2"),
        at("5m", node("n1", taints=GO)),
        workload("Deployment", "web", replicas=4),
        pod("bare", nodeName="n1"),
    )
    assert on(document, "Deployment/web") == {"n2": 4}
    assert bound_at(document, "Deployment/web") == [0.0, 0.0, 300.0, 300.0]
    bare = by_name(document)["bare"]
    assert (bare["state"], bare["message"]) == ("Evicted", "evicted from n1: taint maintenance:NoExecute")


def test_a_taint_that_is_there_from_the_start_evicts_too() -> None:
    document = simulated(node("n1", taints=GO), node("n2"), pod("a", nodeName="n1"))
    assert states(document) == {"a": "Evicted"}


def test_pods_stay_as_long_as_they_tolerate_it() -> None:
    document = simulated(
        node("n1"),
        at("5m", node("n1", taints=GO)),
        pod("for-ever", nodeName="n1", **stays()),
        pod("a-minute", nodeName="n1", **stays(60)),
        pod("no-time", nodeName="n1", **stays(0)),
        run_for_s=400,
    )
    assert states(document) == {"for-ever": "Bound", "a-minute": "Evicted", "no-time": "Evicted"}
    early = simulated(node("n1"), at("5m", node("n1", taints=GO)), pod("a", nodeName="n1", **stays(60)), run_for_s=359)
    assert states(early) == {"a": "Bound"}


def test_a_taint_that_goes_before_the_time_is_up_evicts_nobody() -> None:
    web = workload("Deployment", "web", replicas=2, pods=stays(60))
    document = simulated(node("n1"), at("1m", node("n1", taints=GO)), at("110s", node("n1")), web)
    assert set(states(document).values()) == {"Bound"}


def test_a_second_taint_does_not_begin_the_time_anew() -> None:
    two = [*GO, {"key": "more", "effect": "NoExecute"}]
    both = {"tolerations": [*stays(60)["tolerations"], *stays(None, "more")["tolerations"]]}
    document = simulated(
        node("n1"), at("1m", node("n1", taints=GO)), at("90s", node("n1", taints=two)), pod("a", nodeName="n1", **both)
    )
    assert states(document) == {"a": "Evicted"}
    assert document["elapsed"] == 120.0


@pytest.mark.parametrize("key", [NOT_READY, UNREACHABLE])
def test_an_unready_node_is_given_five_minutes(key: str) -> None:
    taints = [{"key": key, "effect": "NoExecute"}]
    document = simulated(
        node("n1"),
        node("n2"),
        at("1m", node("n1", taints=taints)),
        pod("a", nodeName="n1"),
        workload("DaemonSet", "agent"),
    )
    assert by_name(document)["a"]["state"] == "Evicted"
    assert document["elapsed"] == 360.0
    assert on(document, "DaemonSet/agent") == {"n1": 1, "n2": 1}


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_a_node_that_says_it_is_not_ready_is_tainted(status: str) -> None:
    web = workload("Deployment", "web", replicas=4)
    document = simulated(node("n1"), node("n2"), at("1m", unready("n1", status)), web, at("2m", pod("new")))
    assert by_name(document)["new"]["node"] == "n2"
    assert on(document, "Deployment/web") == {"n2": 4}
    assert document["elapsed"] == 360.0


def test_a_node_that_recovers_in_time_keeps_its_pods() -> None:
    web = workload("Deployment", "web", replicas=2)
    document = simulated(node("n1"), node("n2"), at("1m", unready("n1")), at("3m", node("n1")), web)
    assert set(states(document).values()) == {"Bound"}
    assert len(document["pods"]) == 2


def test_pressure_keeps_pods_away_and_evicts_nobody() -> None:
    full = unready("n1", "True", DiskPressure="True")
    document = simulated(node("n1"), at("1m", full), pod("old", nodeName="n1"), at("2m", pod("new")))
    assert states(document) == {"old": "Bound", "new": "Pending"}


def test_nobody_is_evicted_while_no_node_is_ready() -> None:
    document = simulated(unready("n1"), unready("n2"), pod("a", nodeName="n1"), pod("b"), run_for_s=1000)
    assert states(document) == {"a": "Bound", "b": "Pending"}


@pytest.mark.parametrize("first", ["n1", "n2"])
def test_nobody_is_evicted_from_nodes_that_fail_in_the_same_moment(first: str) -> None:
    second = {"n1": "n2", "n2": "n1"}[first]
    failing = [at("1m", unready(first)), at("1m", unready(second))]
    document = simulated(node("n1"), node("n2"), *failing, pod("a", nodeName="n1"), run_for_s=1000)
    assert states(document) == {"a": "Bound"}


def test_a_run_does_not_wait_for_ever_for_pods_that_come_back_to_where_they_are_evicted_from() -> None:
    web = workload("Deployment", "web", replicas=1, pods=stays(10))
    document = simulated(node("n1", taints=GO), web)
    assert document["summary"]["evicted"] == 3
    assert document["elapsed"] == 30.0
    longer = simulated(node("n1", taints=GO), web, run_for_s=95)
    assert longer["summary"]["evicted"] == 9
