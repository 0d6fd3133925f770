"""How a policy stands: numbers, pods and nodes of each domain."""

from __future__ import annotations

import msgspec

from bayplan.controllers.rebalancer.observed import is_ready_node
from bayplan.objects.node import Node
from tests.controllers.rebalancer.support import REGIONS, looked, pod, pods, policy, region, replica_set


def test_terminating_pods_and_pods_of_others_do_not_count() -> None:
    going = pod("going", "a1", meta={"deletionTimestamp": "2025-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30})
    other = pod("other", "a1", labels={"app": "other"})
    unnamed = pod("unnamed", "a1", labels={"workload-policy/kosmos.io": "another"})
    survey = looked(*REGIONS, policy({"regionA": 2}), going, other, unnamed, pod("p", "a1")).survey
    (domain,) = survey.domains
    assert (domain.current, survey.bound) == (2, 2), "whom the selector matches counts, whatever it names"
    assert len(survey.named) == 1


def test_shares_are_of_what_the_workloads_ask_for() -> None:
    found = looked(*REGIONS, policy({"regionA": "75%", "regionB": "25%"}), replica_set(8), *pods({"a1": 2})).survey
    assert [domain.desired for domain in found.domains] == [6, 2]
    assert found.expected == 8
    assert found.unavailable == 6


def test_waiting_pods_belong_where_some_are_missing() -> None:
    waiting = [pod(f"w{number}") for number in range(4)]
    found = looked(*REGIONS, policy({"regionA": 2, "regionB": 3}), replica_set(5), *pods({"a1": 1}), *waiting).survey
    assert [(domain.name, domain.pending) for domain in found.domains] == [("regionA", 1), ("regionB", 3)]


def test_nodes_are_counted_with_those_that_are_not_ready() -> None:
    tainted = region("a2", "regionA", taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}])
    found = looked(*REGIONS, tainted, policy({"regionA": 1, "regionB": 1})).survey
    assert [(domain.nodes, domain.unready_nodes, domain.is_ready) for domain in found.domains] == [
        (2, 1, True), (1, 0, True),
    ]  # fmt: skip


def test_a_node_that_says_nothing_of_itself_is_ready() -> None:
    def node(**status: object) -> Node:
        return msgspec.convert({**region("n", "r"), "status": status}, Node)

    assert is_ready_node(node())
    assert is_ready_node(node(conditions=[{"type": "Ready", "status": "True"}, {"type": "Odd", "status": "False"}]))
    assert not is_ready_node(node(conditions=[{"type": "Ready", "status": "Unknown"}]))
