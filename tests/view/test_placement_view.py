"""Fleets by region and zone, and what was chosen there."""

from __future__ import annotations

from bayplan.objects.meta import ObjectMeta
from bayplan.objects.third_party.placement import ManagedCluster
from bayplan.view.documents import Document
from bayplan.view.placement_view import MOST_NAMES, by_region, placement_view
from tests.view.support import ORIGIN


def cluster(name: str, **labels: str) -> ManagedCluster:
    return ManagedCluster(metadata=ObjectMeta(name=name, labels=labels))


FLEET = [
    cluster("a1", region="eu", zone="eu-a"),
    cluster("a2", region="eu", zone="eu-a"),
    cluster("b1", region="eu", zone="eu-b"),
    cluster("c1", **{"topology.kubernetes.io/region": "us"}),
    cluster("d1"),
]


def placed(*chosen: str, **more: object) -> Document:
    return {
        "placement": {"namespace": "shop", "name": "web"},
        "decisions": [{"clusterName": name, "reason": "", "score": 1} for name in chosen],
        "conditions": [{"type": "PlacementSatisfied", "status": "True"}],
        "filters": [],
        **more,
    }


def test_every_cluster_is_counted_where_it_is() -> None:
    assert by_region(FLEET, {"a2", "c1"}) == [
        {"region": "", "zones": [{"zone": "", "clusters": 1, "chosen": []}]},
        {
            "region": "eu",
            "zones": [
                {"zone": "eu-a", "clusters": 2, "chosen": ["a2"]},
                {"zone": "eu-b", "clusters": 1, "chosen": []},
            ],
        },
        {"region": "us", "zones": [{"zone": "", "clusters": 1, "chosen": ["c1"]}]},
    ]


def test_clusters_that_are_lost_are_not_counted() -> None:
    (shown,) = placement_view([placed("b1", without={"clusters": ["a1", "a2"]})], FLEET, ORIGIN)["placements"]
    assert [each["region"] for each in shown["byRegion"]] == ["", "eu", "us"]
    assert shown["byRegion"][1]["zones"] == [{"zone": "eu-b", "clusters": 1, "chosen": ["b1"]}]


def test_names_are_cut_and_long_lists_are_short() -> None:
    filters = [{"name": "taints", "kept": 0, "dropped": 1000, "droppedClusters": [f"\u202e{n}" for n in range(1000)]}]
    (shown,) = placement_view([placed(filters=filters)], FLEET, ORIGIN)["placements"]
    assert shown["filters"][0]["dropped"] == 1000
    assert shown["filters"][0]["droppedClusters"] == [f"<U+202E>{n}" for n in range(MOST_NAMES)]


def test_facts() -> None:
    unsatisfied = placed(conditions=[{"type": "PlacementSatisfied", "status": "False"}])
    facts = placement_view([placed("a1"), unsatisfied], FLEET, ORIGIN)["facts"]
    assert [(each["label"], each["value"], each["good"]) for each in facts] == [
        ("Placements satisfied", "1 of 2", False),
        ("Clusters", "5", None),
    ]
