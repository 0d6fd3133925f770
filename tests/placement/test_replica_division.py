"""Replicas over clusters: complete, in proportion, and changed by as little as possible."""

from __future__ import annotations

import random

import pytest

from bayplan.objects.meta import LabelSelector
from bayplan.objects.quantity import Quantity
from bayplan.objects.third_party.placement import ManagedClusterStatus
from bayplan.placement.options import AGGREGATED, CAPACITY, WEIGHTED, ReplicaOptions, WeightedClusters
from bayplan.placement.replica_division import Division, divide
from tests.placement.fleet_building import cluster, state_of

FLEET = [cluster("a", {"size": "large"}, cpu=16), cluster("b", cpu=8), cluster("c", cpu=4)]
NAMES = ("a", "b", "c")
TABLE = state_of(*FLEET).fleet.table
LARGE = WeightedClusters(selector=LabelSelector(match_labels={"size": "large"}), weight=2)
OTHERS = WeightedClusters(weight=1)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (ReplicaOptions(replicas=7), {"a": 3, "b": 2, "c": 2}),
        (ReplicaOptions(replicas=0), {"a": 0, "b": 0, "c": 0}),
        (ReplicaOptions(replicas=8, strategy=WEIGHTED, weights=(LARGE, OTHERS)), {"a": 4, "b": 2, "c": 2}),
        (ReplicaOptions(replicas=8, strategy=WEIGHTED, weights=(LARGE,)), {"a": 8, "b": 0, "c": 0}),
        (ReplicaOptions(replicas=7, strategy=CAPACITY, requests={"cpu": "2"}), {"a": 4, "b": 2, "c": 1}),
        (ReplicaOptions(replicas=9, strategy=AGGREGATED, requests={"cpu": "2"}), {"a": 8, "b": 1, "c": 0}),
    ],
)
def test_strategies(options: ReplicaOptions, expected: dict[str, int]) -> None:
    assert divide(options, TABLE, NAMES) == Division(expected)


@pytest.mark.parametrize("strategy", [CAPACITY, AGGREGATED])
def test_what_does_not_fit_is_told(strategy: str) -> None:
    options = ReplicaOptions(replicas=20, strategy=strategy, requests={"cpu": "2"})
    assert divide(options, TABLE, NAMES) == Division({"a": 8, "b": 4, "c": 2}, 6)


def test_more_replicas_take_none_away_and_fewer_add_none() -> None:
    pick = random.Random(1)
    for _ in range(300):
        options = ReplicaOptions(
            replicas=pick.randrange(15),
            strategy=pick.choice(("Even", CAPACITY, AGGREGATED)),
            requests={"cpu": pick.choice(("1", "2"))},
        )
        before = divide(options, TABLE, NAMES)
        number = pick.randrange(15)
        again = ReplicaOptions(replicas=number, strategy=options.strategy, requests=options.requests)
        after = divide(again, TABLE, NAMES, before.replicas)
        assert sum(after.replicas.values()) + after.unassigned == number
        for name in NAMES:
            change = after.replicas[name] - before.replicas[name]
            assert change >= 0 if number >= options.replicas else change <= 0


def test_the_annotation_of_a_page_has_its_own_clusters_only() -> None:
    assert Division({"a": 1, "b": 2}).annotation(("b",)) == '{"b": 2}'


def test_an_amount_that_is_none_is_no_room() -> None:
    amounts: dict[str, Quantity] = {"cpu": "much"}
    odd = cluster("odd").evolve(status=ManagedClusterStatus(allocatable=amounts, capacity=amounts))
    options = ReplicaOptions(replicas=3, strategy=CAPACITY, requests={"cpu": "2"})
    assert divide(options, state_of(odd, *FLEET).fleet.table, ("a", "odd")) == Division({"a": 3, "odd": 0})
