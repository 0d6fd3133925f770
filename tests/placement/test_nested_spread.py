"""Spread as people ask for it; `tests/properties/test_placement_spreading.py` has the random fleets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from bayplan.objects.meta import ApiObject
from bayplan.objects.third_party import placement as api
from bayplan.placement import explaining
from bayplan.placement.events import Applied, Deleted
from tests.placement.fleet_building import NAMESPACE, chosen, cluster, constraint, decided, placement, state_of

KEY = f"{NAMESPACE}/p"


def regions(**sizes: int) -> list[api.ManagedCluster]:
    return [cluster(f"{name}-{number}", {"region": name}) for name, size in sizes.items() for number in range(size)]


def count(names: tuple[str, ...]) -> dict[str, int]:
    return dict(Counter(name.partition("-")[0] for name in names))


def test_spread_goes_before_score() -> None:
    fleet = [cluster("eu-1", {"region": "eu"}, cpu=90), cluster("eu-2", {"region": "eu"}, cpu=80)]
    fleet.append(cluster("us-1", {"region": "us"}, cpu=1))
    wanted = placement("p", 2, constraint("region", hard=False), weights={"ResourceAllocatableCPU": 10})
    assert chosen(*fleet, wanted) == ("eu-1", "us-1")


@pytest.mark.parametrize(
    ("sizes", "wanted", "expected"),
    [
        ({"a": 5, "b": 5, "c": 2}, 12, {"a": 3, "b": 3, "c": 2}),
        ({"a": 5, "b": 5, "c": 1}, 12, {"a": 2, "b": 2, "c": 1}),
        ({"a": 5, "b": 5}, 12, {"a": 5, "b": 5}),
    ],
)
def test_a_full_domain_keeps_its_siblings_low(sizes: dict[str, int], wanted: int, expected: dict[str, int]) -> None:
    assert count(chosen(*regions(**sizes), placement("p", wanted, constraint("region")))) == expected


def test_losing_a_cluster_does_not_drop_others() -> None:
    fleet = regions(a=5, b=5, c=2)
    state = state_of(*fleet, placement("p", 8, constraint("region")))
    state.handle(Deleted(fleet[-1]))
    assert count(state.clusters(KEY)) == {"a": 3, "b": 3, "c": 1}
    report = explaining.explain(state.evaluation(KEY), 0.0)["spread"][0]
    assert (report["skew"], report["satisfiable"], report["blocking"]) == (2, 7, "c")


def test_too_few_domains_hold_everything_down() -> None:
    level = constraint("region", skew=2, min_domains=3)
    assert count(chosen(*regions(a=5, b=5), placement("p", 8, level))) == {"a": 2, "b": 2}


def test_weights_make_shares() -> None:
    level = constraint("region", hard=False, weights={"a": 3})
    assert count(chosen(*regions(a=9, b=9), placement("p", 8, level))) == {"a": 6, "b": 2}


def test_clusters_without_a_soft_key_come_last_and_without_a_hard_key_never() -> None:
    fleet = [*regions(a=2), cluster("lost")]
    assert "lost" not in chosen(*fleet, placement("p", 2, constraint("region", hard=False)))
    assert "lost" in chosen(*fleet, placement("p", 3, constraint("region", hard=False)))
    assert "lost" not in chosen(*fleet, placement("p", 3, constraint("region")))


def test_a_claim_can_be_the_key() -> None:
    fleet = [cluster(f"a-{number}", claims={"cloud": "a"}) for number in range(3)]
    fleet += [cluster(f"b-{number}", claims={"cloud": "b"}) for number in range(3)]
    level = constraint("cloud", topology_key_type=api.CLAIM)
    assert count(chosen(*fleet, placement("p", 4, level))) == {"a": 2, "b": 2}


def test_nested_zones_are_even_within_their_region_and_flat_ones_over_all() -> None:
    fleet = [
        cluster(f"{zone}-{number}", {"region": zone[0], "zone": zone})
        for zone in ("a1", "a2", "b1")
        for number in range(8)
    ]
    levels = (constraint("region"), constraint("zone"))
    assert count(chosen(*fleet, placement("p", 8, *levels))) == {"a1": 2, "a2": 2, "b1": 4}
    flat = count(chosen(*fleet, placement("p", 8, *levels, scope=api.FLAT)))
    assert max(flat.values()) - min(flat.values()) <= 1


def test_equal_zone_names_in_two_regions_are_two_zones() -> None:
    fleet = [
        cluster(f"{region}{zone}-{number}", {"region": region, "zone": zone})
        for region in "xy"
        for zone in "ab"
        for number in range(2)
    ]
    assert count(chosen(*fleet, placement("p", 4, constraint("region"), constraint("zone")))) == {
        "xa": 1,
        "xb": 1,
        "ya": 1,
        "yb": 1,
    }


def test_a_new_region_moves_nothing_without_a_budget_and_that_many_with_one() -> None:
    fleet = [*regions(a=4), *regions(b=4)]
    has = decided("p", "a-0", "a-1", "a-2", "a-3")
    soft = constraint("region", hard=False)
    assert count(chosen(*fleet, has, placement("p", 4, soft))) == {"a": 4}
    state = state_of(*fleet, has, placement("p", 4, soft, max_moves=1))
    assert count(state.clusters(KEY)) == {"a": 3, "b": 1}
    assert state.evaluation(KEY).outcome.is_unsettled
    state.settle()
    assert count(state.clusters(KEY)) == {"a": 2, "b": 2}
    assert not state.evaluation(KEY).outcome.is_unsettled


def test_placements_of_a_group_are_spread_together() -> None:
    labels, soft, weights = {"app": "web"}, constraint("region", hard=False), {"Steady": 1}
    one, two = (placement(name, 1, soft, labels=labels, group=labels, weights=weights) for name in ("one", "two"))
    state = state_of(*regions(a=2, b=2), one)
    state.handle(Applied(two))
    assert count(state.clusters(f"{NAMESPACE}/one")) == {"a": 1}
    assert count(state.clusters(f"{NAMESPACE}/two")) == {"b": 1}


def test_a_lost_cluster_is_replaced_in_its_own_zone() -> None:
    fleet = [
        cluster(f"{zone}-{number}", {"region": zone[0], "zone": zone})
        for zone in ("a1", "a2", "b1", "b2")
        for number in range(3)
    ]
    state = state_of(*fleet, placement("p", 8, constraint("region"), constraint("zone")))
    lost = state.clusters(KEY)[0]
    (change,) = state.handle(Deleted(next(each for each in fleet if each.name == lost)))
    assert change.removed == (lost,)
    assert [name[:2] for name in change.added] == [lost[:2]]


def test_the_annotation_adds_what_a_schema_may_drop() -> None:
    wanted = placement(
        "p",
        8,
        constraint("region", skew=1),
        annotations={api.SPREAD_ANNOTATION: "spreadConstraints: [{topologyKey: region, minDomains: 3}]"},
    )
    assert count(chosen(*regions(a=5, b=5), wanted)) == {"a": 1, "b": 1}


def report_of(*things: ApiObject, name: str = "p") -> tuple[dict[str, Any], str]:
    """The first constraint of a report, and the message of PlacementSatisfied."""
    state = state_of(*things)
    evaluation = state.evaluation(f"{NAMESPACE}/{name}")
    document = explaining.explain(evaluation, 0.0, state.others(evaluation.plan))
    return document["spread"][0], document["conditions"][0]["message"]


def test_full_domains_of_a_soft_constraint_count_for_the_skew() -> None:
    spread, message = report_of(*regions(a=4, b=6, c=1), placement("p", 11, constraint("region", hard=False)))
    assert (spread["skew"], spread["exceeded"], spread["blocking"]) == (5, True, None)
    assert message == "there are as many clusters as wanted"


def test_the_skew_goes_by_weights() -> None:
    level = constraint("region", hard=False, weights={"a": 2})
    assert report_of(*regions(a=9, b=9), placement("p", 9, level))[0]["skew"] == 0
    assert report_of(*regions(a=9, b=9), placement("p", 7, level))[0]["skew"] == 0.5


def test_the_skew_goes_by_the_group() -> None:
    labels = {"app": "web"}
    other = [placement("one", 1, labels=labels), decided("one", "b-0")]
    mine = placement("p", 4, constraint("region"), labels=labels, group=labels)
    spread, _ = report_of(*regions(a=4, b=4), *other, decided("p", "a-0", "a-1", "a-2", "b-1"), mine)
    assert (spread["counts"], spread["others"], spread["skew"]) == ({"a": 3, "b": 1}, {"b": 1}, 1)


def test_too_few_domains_are_what_blocks() -> None:
    spread, message = report_of(*regions(a=3, b=3, c=3), placement("p", 9, constraint("region", min_domains=4)))
    assert (spread["skew"], spread["blocking"]) == (1, "minDomains (3 of 4)")
    assert message == (
        "6 more clusters are wanted; the spread policy allows at most 3 of 9 clusters, "
        "as region has 3 of the 4 domains that minDomains asks for"
    )


def test_a_domain_that_deeper_constraints_hold_down_blocks_as_one_that_is_full() -> None:
    sizes = {"a1": 9, "b1": 5, "b2": 1}
    fleet = [
        cluster(f"{zone}-{number}", {"region": zone[0], "zone": zone})
        for zone in sizes
        for number in range(sizes[zone])
    ]
    state = state_of(*fleet, placement("p", 15, constraint("region"), constraint("zone")))
    report = explaining.explain(state.evaluation(KEY), 0.0)["spread"]
    assert count(state.clusters(KEY)) == {"a1": 4, "b1": 2, "b2": 1}
    assert [each["blocking"] for each in report] == ["b", "b2"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, "region has skew 4, more than its maxSkew 1: clusters that are chosen stay while maxMoves is 0"),
        ({"max_moves": 1}, "region has skew 2, more than its maxSkew 1; more moves are needed to be within maxSkew"),
    ],
)
def test_a_selection_that_exceeds_a_hard_constraint_is_said(changes: dict[str, Any], told: str) -> None:
    has = decided("p", "a-0", "a-1", "a-2", "a-3")
    spread, message = report_of(*regions(a=4, b=4), has, placement("p", 4, constraint("region"), **changes))
    assert spread["exceeded"]
    assert message == f"there are as many clusters as wanted; {told}"


def test_a_new_domain_that_makes_a_selection_uneven_is_news() -> None:
    state = state_of(*regions(a=2, b=2), placement("p", 4, constraint("region")))
    assert state.evaluation(KEY).outcome.uneven == ()
    (change,) = state.handle(Applied(regions(c=1)[0]))
    assert (change.key, change.added, change.removed) == (KEY, (), ())
    assert state.evaluation(KEY).outcome.uneven == ((0, 2),)


def test_fewer_than_there_are_is_said_also_where_no_number_is_given() -> None:
    spread, message = report_of(*regions(a=3, b=1), placement("p", None, constraint("region")))
    assert (spread["blocking"], spread["satisfiable"]) == ("b", 3)
    assert message == "the spread policy allows at most 3 of 4 clusters, as region b is full"
