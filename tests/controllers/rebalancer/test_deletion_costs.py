"""Deletion costs: scaling in one pod after the other keeps the policy, and costs that are right are left alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from bayplan.controllers.rebalancer.deletion_costs import costs
from bayplan.objects.admission.own_keys import OWN_DELETION_COST
from bayplan.objects.deletion_cost import DELETION_COST
from tests.controllers.rebalancer.support import REGIONS, Looked, looked, pod, pods, policy, replica_set


def cluster(numbers: dict[str, Any], counts: dict[str, int], **spec: Any) -> Looked:
    return looked(*REGIONS, policy(numbers, **spec), replica_set(sum(counts.values())), *pods(counts))


def scaled_in(found: Looked) -> list[tuple[int, int]]:
    """(pods in regionA, pods in regionB) after each pod that a ReplicaSet would delete."""
    left = {"a1": Counter(found.survey.groups[0].current)["regionA"], "b1": found.survey.groups[0].current["regionB"]}
    sizes = []
    for cost in sorted(costs(found.survey, found.surveyor), key=lambda cost: cost.value):
        left[cost.pod.node_name] -= 1
        sizes.append((left["a1"], left["b1"]))
    return sizes


@pytest.mark.parametrize(
    ("numbers", "spec", "expected"),
    [
        ({"regionA": 5, "regionB": 3}, {}, [(4, 3), (4, 2), (3, 2)]),
        ({"regionA": 5, "regionB": 3}, {"allocationMethod": "Fill"}, [(5, 2), (5, 1), (5, 0), (4, 0)]),
        ({"regionA": 3, "regionB": 3}, {}, [(4, 3), (3, 3)]),
        ({"regionA": 0, "regionB": 8}, {}, [(4, 3), (3, 3), (2, 3), (1, 3), (0, 3), (0, 2)]),
        ({"regionA": {"remainder": True}, "regionB": 3}, {}, [(4, 3), (3, 3), (2, 3), (1, 3), (0, 3), (0, 2)]),
    ],
    ids=["balance", "fill", "too many first", "unwanted first", "remainder first"],
)
def test_pods_go_in_the_order_that_keeps_the_policy(
    numbers: dict[str, Any], spec: dict[str, Any], expected: list[tuple[int, int]]
) -> None:
    assert scaled_in(cluster(numbers, {"a1": 5, "b1": 3}, **spec))[: len(expected)] == expected


def test_weights_shrink_as_they_grew() -> None:
    found = cluster({"regionA": {"weight": 5}, "regionB": {"weight": 3}}, {"a1": 5, "b1": 3})
    assert scaled_in(found)[:4] == [(4, 3), (4, 2), (3, 2), (2, 2)]


def test_pods_keep_the_cost_they_have_and_a_new_one_takes_the_free_place() -> None:
    first = {cost.pod.name: cost.annotations for cost in costs(*_parts(cluster({"regionA": 3}, {"a1": 3})))}
    assert len(set(map(str, first.values()))) == 3
    given = [pod(name, "a1", annotations=first[name]) for name in ("a1-0", "a1-2")]
    found = looked(*REGIONS, policy({"regionA": 3}), replica_set(3), *given, pod("new", "a1"))
    (only,) = costs(*_parts(found))
    assert (only.pod.name, only.annotations) == ("new", first["a1-1"])


def test_a_cost_that_somebody_else_wrote_stays() -> None:
    own = pod("own", "a1", annotations={DELETION_COST: "7"})
    changed = pod("changed", "a1", annotations={DELETION_COST: "7", OWN_DELETION_COST: "-500"})
    found = looked(*REGIONS, policy({"regionA": 3}), replica_set(3), own, changed, pod("p", "a1"))
    assert [cost.pod.name for cost in costs(*_parts(found))] == ["p"]


def test_pods_that_no_replica_set_deletes_have_no_cost() -> None:
    stateful = pod("s", "a1", kind="StatefulSet")
    unnamed = pod("u", "a1", labels={"workload-policy/kosmos.io": "other"})
    found = looked(*REGIONS, policy({"regionA": 3}), replica_set(3), stateful, unnamed, pod("bare", "a1", owner=None))
    assert costs(*_parts(found)) == []


def _parts(found: Looked) -> tuple[Any, Any]:
    return found.survey, found.surveyor
