"""Workloads that get another template: how many pods of each revision there are in the end, and how they got there."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.simulator.support import Manifest, by_name, node, simulated, workload
from tests.simulator.test_timed_changes import at

NODES = [node("n1"), node("n2")]
HUGE = "9"
"""More than a node has."""


def rolled(kind: str, cpu: str, *, nodes: list[Manifest] = NODES, **spec: Any) -> Manifest:
    return simulated(*nodes, workload(kind, "web", "1", **spec), at("1m", workload(kind, "web", cpu, **spec)))


def counts(document: Manifest) -> tuple[int, int, int]:
    """New ones on a node, new ones that wait, old ones."""
    (told,) = document["rollouts"]
    return told["newBound"], told["new"] - told["newBound"], told["old"]


def rolling(surge: int | str, unavailable: int | str) -> Manifest:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


@pytest.mark.parametrize(
    ("strategy", "stuck"),
    [
        (rolling("25%", "25%"), (0, 2, 3)),
        (rolling(1, 0), (0, 1, 4)),
        (rolling(0, 1), (0, 1, 3)),
        (rolling("30%", "30%"), (0, 3, 3)),  # 2 more, 1 fewer
        (rolling(0, "1%"), (0, 1, 3)),  # 0 and 0 would never end
        (rolling("100%", "100%"), (0, 4, 0)),
        ({"type": "Recreate"}, (0, 4, 0)),
    ],
)
def test_a_deployment_goes_as_far_as_its_strategy_lets_it(strategy: Manifest, stuck: tuple[int, int, int]) -> None:
    assert counts(rolled("Deployment", HUGE, replicas=4, strategy=strategy)) == stuck
    done = rolled("Deployment", "500m", replicas=4, strategy=strategy)
    assert (counts(done), done["rollouts"][0]["complete"]) == ((4, 0, 0), True)


def test_a_new_replica_set_has_a_hash_of_its_own() -> None:
    document = rolled("Deployment", "500m", replicas=2)
    names = Counter(each["name"].rpartition("-")[0] for each in document["pods"])
    assert sorted(names.values()) == [2, 2]
    assert Counter(each["state"] for each in document["pods"]) == {"Bound": 2, "ScaledIn": 2}


def test_going_back_takes_the_replica_set_that_is_there() -> None:
    first, second = workload("Deployment", "web", "1", replicas=4), workload("Deployment", "web", HUGE, replicas=4)
    document = simulated(*NODES, first, at("1m", second), at("2m", first))
    there = [each for each in document["pods"] if each["state"] in ("Bound", "Pending")]
    assert [each["state"] for each in there] == ["Bound"] * 4
    assert len({each["name"].rpartition("-")[0] for each in there}) == 1
    assert document["rollouts"][0]["complete"]


def test_a_paused_deployment_grows_and_does_not_roll_out() -> None:
    before = workload("Deployment", "web", replicas=2)
    document = simulated(*NODES, before, at("1m", workload("Deployment", "web", HUGE, replicas=3, paused=True)))
    assert [each["state"] for each in document["pods"]] == ["Bound"] * 3
    assert "rollouts" not in document


def test_a_stuck_rollout_shares_a_new_size() -> None:
    before, after = workload("Deployment", "web", replicas=4), workload("Deployment", "web", HUGE, replicas=4)
    document = simulated(*NODES, before, at("1m", after), at("2m", workload("Deployment", "web", HUGE, replicas=8)))
    (told,) = document["rollouts"]
    assert told["new"] + told["old"] == 10


def test_pods_have_to_be_ready_for_a_while() -> None:
    document = rolled("Deployment", "500m", replicas=2, strategy=rolling(1, 0), minReadySeconds=30)
    moments = sorted(each["boundAt"] for each in document["pods"])
    assert moments == [0.0, 0.0, 60.0, 90.0]
    assert document["elapsed"] == 120.0


def test_a_replica_set_leaves_the_pods_that_are_there() -> None:
    document = simulated(
        *NODES, workload("ReplicaSet", "web", replicas=2), at("1m", workload("ReplicaSet", "web", HUGE, replicas=3))
    )
    assert sorted(each["state"] for each in document["pods"]) == ["Bound", "Bound", "Pending"]


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_a_stateful_set_is_replaced_from_the_end(policy: str) -> None:
    stuck = rolled("StatefulSet", HUGE, replicas=3, podManagementPolicy=policy)
    assert counts(stuck) == (0, 1, 2)
    assert [each["name"] for each in stuck["pods"] if each["state"] == "Pending"] == ["web-2"]
    assert by_name(stuck)["web-0"]["state"] == "Bound"
    assert counts(rolled("StatefulSet", "500m", replicas=3, podManagementPolicy=policy)) == (3, 0, 0)


def test_a_partition_and_on_delete_keep_pods_of_a_stateful_set() -> None:
    part = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    document = rolled("StatefulSet", "500m", replicas=3, updateStrategy=part)
    assert (counts(document), document["rollouts"][0]["complete"]) == ((1, 0, 2), True)
    assert counts(rolled("StatefulSet", "500m", replicas=3, updateStrategy={"type": "OnDelete"})) == (0, 0, 3)


@pytest.mark.parametrize(
    ("strategy", "stuck"),
    [
        ({}, (0, 1, 3)),
        (rolling(0, 2), (0, 2, 2)),
        (rolling(0, "30%"), (0, 2, 2)),
        (rolling(2, 0), (0, 2, 4)),
        ({"type": "OnDelete"}, (0, 0, 4)),
    ],
)
def test_a_daemon_set_goes_node_by_node(strategy: Manifest, stuck: tuple[int, int, int]) -> None:
    nodes = [node(f"n{number}") for number in range(4)]
    assert counts(rolled("DaemonSet", HUGE, nodes=nodes, updateStrategy=strategy)) == stuck
    expected = stuck if strategy.get("type") == "OnDelete" else (4, 0, 0)
    assert counts(rolled("DaemonSet", "500m", nodes=nodes, updateStrategy=strategy)) == expected
