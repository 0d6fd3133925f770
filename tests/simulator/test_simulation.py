"""A whole simulation: who ends where, byte for byte the same each time, and explained on request."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bayplan.simulator.simulation import simulate
from tests.simulator.support import (
    ZONE,
    Manifest,
    by_name,
    config,
    given,
    job,
    node,
    pod,
    simulated,
    states,
    workload,
)

SPREAD = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def mixed() -> list[Manifest]:
    """A little of everything."""
    return [
        *(node(f"n{n}", labels={ZONE: f"z{n % 3}"}) for n in range(6)),
        workload("Deployment", "web", "500m", replicas=7, pods={"topologySpreadConstraints": [SPREAD]}),
        workload("StatefulSet", "db", "1", replicas=3),
        workload("DaemonSet", "agent"),
        job("sum", parallelism=4, completions=9),
        pod("big", "20"),
        pod("low", "3", priority=-5, nodeName="n1"),
        pod("urgent", "3500m", priority=100),
    ]


def test_the_same_input_and_seed_give_the_same_bytes() -> None:
    first, second = (json.dumps(simulated(*mixed(), seed=7)) for _ in range(2))
    assert first == second


def test_when_it_starts_makes_no_difference_to_what_happens() -> None:
    first, second = (simulated(*mixed(), now=moment) for moment in (0.0, 1_900_000_000.5))
    assert first == second


def test_another_seed_breaks_ties_otherwise() -> None:
    nodes = [node(f"n{n}") for n in range(20)]
    chosen = {by_name(simulated(*nodes, pod("a"), seed=seed))["a"]["node"] for seed in range(8)}
    assert len(chosen) > 1


def test_every_pod_is_accounted_for() -> None:
    document = simulated(*mixed())
    summary = document["summary"]
    assert summary["pods"] == len(document["pods"]) == 7 + 3 + 6 + 4 + 3
    assert sum(summary[state] for state in ("bound", "pending", "gated", "ignored", "preempted")) == summary["pods"]
    on_nodes = sum(each["state"] == "Bound" for each in document["pods"])
    assert sum(each["pods"] for each in document["nodes"]) == on_nodes


def test_hard_constraints_hold_in_the_end() -> None:
    zones = {f"n{n}": f"z{n % 3}" for n in range(6)}
    counts: dict[str, int] = {}
    for each in simulated(*mixed())["pods"]:
        if each["owner"] == "Deployment/web" and each["state"] == "Bound":
            counts[zones[each["node"]]] = counts.get(zones[each["node"]], 0) + 1
    assert max(counts.values()) - min(counts.values()) <= 1


def test_pods_on_nodes_are_taken_as_running() -> None:
    found = by_name(simulated(node("n1"), pod("a", "3", nodeName="n1"), pod("b", "2")))
    assert (found["a"]["state"], found["a"]["attempts"], found["a"]["boundAt"]) == ("Bound", 0, None)
    assert found["b"]["state"] == "Pending"


def test_ended_pods_take_no_room_and_are_not_reported() -> None:
    document = simulated(node("n1"), pod("done", "4", nodeName="n1", status={"phase": "Succeeded"}), pod("a", "4"))
    assert states(document) == {"a": "Bound"}


def test_gated_pods_are_left_alone() -> None:
    found = by_name(simulated(node("n1"), pod("a", schedulingGates=[{"name": "example.com/wait"}])))
    assert found["a"]["state"] == "Gated"
    assert "example.com/wait" in found["a"]["message"]


def test_without_a_configuration_every_scheduler_has_a_profile() -> None:
    found = by_name(simulated(node("n1"), pod("a"), pod("b", schedulerName="mine")))
    assert {each["scheduler"]: each["state"] for each in found.values()} == {
        "default-scheduler": "Bound",
        "mine": "Bound",
    }


def test_with_a_configuration_other_schedulers_are_ignored() -> None:
    found = by_name(simulated(node("n1"), pod("a"), pod("b", schedulerName="mine"), config("mine")))
    assert (found["a"]["state"], found["b"]["state"]) == ("Ignored", "Bound")
    assert found["a"]["message"] == 'no profile is for the scheduler "default-scheduler"'


def test_a_stateful_set_whose_first_pod_waits_has_no_second() -> None:
    assert states(simulated(node("n1"), workload("StatefulSet", "db", "9", replicas=3))) == {"db-0": "Pending"}


def test_a_daemon_that_finds_no_room_on_its_node_waits_for_that_node() -> None:
    document = simulated(node("full"), node("free"), pod("a", "4", nodeName="full"), workload("DaemonSet", "agent"))
    waiting = [each for each in document["pods"] if each["state"] == "Pending"]
    assert len(waiting) == 1
    assert "1 Insufficient cpu" in waiting[0]["message"]
    assert "1 node(s) didn't satisfy plugin(s) [NodeAffinity]" in waiting[0]["message"]


def test_warnings_are_told() -> None:
    told: list[str] = []
    strange = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}
    off = {"schedulerName": "default-scheduler", "plugins": {"score": {"disabled": [{"name": "NodeAfinity"}]}}}
    simulate(given(node("n1"), strange, {**config(), "profiles": [off]}), now=0.0, warn=told.append)
    assert len(told) == 2
    assert "Widget" in told[0]
    assert 'did you mean "NodeAffinity"?' in told[1]


def test_progress_is_told_for_every_try() -> None:
    told: list[tuple[int, int]] = []
    simulated(node("n1"), pod("a"), pod("b"), progress=lambda tried, total: told.append((tried, total)))
    assert told == [(1, 2), (2, 2)]


def test_pending_pods_are_explained_on_request() -> None:
    document: dict[str, Any] = simulated(node("n1"), pod("a"), pod("big", "9"), with_explanations=True)
    found = by_name(document)
    assert "explanation" not in found["a"]
    explanation = found["big"]["explanation"]
    assert explanation["verdict"] == "Unschedulable"
    assert explanation["message"] == found["big"]["message"]
    assert explanation["nodes"][0]["shortfall"] == {"cpu": "5100m"}


@pytest.mark.slow
def test_many_plain_pods_take_seconds() -> None:
    nodes = [node(f"n{n}", labels={ZONE: f"z{n % 3}"}) for n in range(1000)]
    document = simulated(*nodes, workload("Deployment", "web", replicas=5000))
    assert document["summary"]["bound"] == 5000


def in_the_way() -> list[Manifest]:
    """A pod that is short of CPU when it is tried, and of memory as well once the other one is there."""
    big, eater = pod("big", "9"), pod("eater")
    for each, memory in ((big, "8Gi"), (eater, "1Gi")):
        each["spec"]["containers"][0]["resources"]["requests"]["memory"] = memory
    return [node("n1"), big, eater]


def test_the_message_and_the_explanation_are_of_one_moment() -> None:
    before = by_name(simulated(*in_the_way()))["big"]
    told = by_name(simulated(*in_the_way(), with_explanations=True))["big"]
    reasons = [reason for each in told["explanation"]["nodes"] for reason in each["reasons"]]
    assert reasons == ["Insufficient cpu", "Insufficient memory"]
    assert told["message"] == told["explanation"]["message"]
    assert all(f"1 {reason}" in told["message"] for reason in reasons)
    assert told["triedMessage"] == before["message"]
    assert "memory" not in before["message"]


def test_what_was_said_when_it_was_tried_is_left_out_where_it_is_the_same() -> None:
    told = by_name(simulated(node("n1"), pod("big", "9"), with_explanations=True))["big"]
    assert "triedMessage" not in told
