"""Filters, scores and order of one placement, as a state decides it."""

from __future__ import annotations

import pytest

from bayplan.objects.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from bayplan.objects.third_party import placement as api
from bayplan.objects.toleration import Taint, Toleration
from bayplan.placement import explaining
from bayplan.placement.events import Applied, Deleted, TimePassed
from tests.placement.fleet_building import (
    NAMESPACE,
    bound_set,
    chosen,
    cluster,
    constraint,
    decided,
    placement,
    state_of,
)

KEY = f"{NAMESPACE}/p"


def predicate(**selector: object) -> api.ClusterPredicate:
    return api.ClusterPredicate(required_cluster_selector=api.ClusterSelector(**selector))  # type: ignore[arg-type]


def scored(name: str, value: int, until: str | None = None) -> api.AddOnPlacementScore:
    return api.AddOnPlacementScore(
        metadata=ObjectMeta(name="speed", namespace=name),
        status=api.AddOnPlacementScoreStatus(scores=(api.ScoreItem(name="fast", value=value),), valid_until=until),
    )


def by_speed() -> api.PrioritizerPolicy:
    coordinate = api.ScoreCoordinate(
        type=api.ADD_ON, add_on=api.AddOnCoordinate(resource_name="speed", score_name="fast")
    )
    return api.PrioritizerPolicy(
        mode=api.EXACT, configurations=(api.PrioritizerConfig(score_coordinate=coordinate, weight=1),)
    )


def test_all_clusters_of_bound_sets_are_taken_when_no_number_is_given() -> None:
    assert chosen(cluster("a"), cluster("b"), cluster("c", cluster_set="other"), placement()) == ("a", "b")


def test_ties_go_by_name() -> None:
    assert chosen(cluster("c"), cluster("b"), cluster("a"), placement("p", 2)) == ("a", "b")


def test_predicates_are_alternatives_and_their_parts_must_all_hold() -> None:
    gold = LabelSelector(match_labels={"tier": "gold"})
    aws = api.ClaimSelector(match_expressions=(LabelSelectorRequirement(key="cloud", operator="In", values=("aws",)),))
    fleet = [
        cluster("a", {"tier": "gold"}, claims={"cloud": "aws"}),
        cluster("b", {"tier": "gold"}, claims={"cloud": "gcp"}),
        cluster("c", {"edge": "yes"}),
        cluster("d"),
    ]
    wanted = (
        predicate(label_selector=gold, claim_selector=aws),
        predicate(label_selector=LabelSelector(match_labels={"edge": "yes"})),
    )
    assert chosen(*fleet, placement(predicates=wanted)) == ("a", "c")


@pytest.mark.parametrize(
    ("operator", "values", "expected"),
    [
        ("In", ("x", "z"), ("a",)),
        ("NotIn", ("x",), ("b", "c")),
        ("Exists", None, ("a", "b")),
        ("DoesNotExist", None, ("c",)),
        ("In", ("unheard-of",), ()),
    ],
)
def test_label_operators(operator: str, values: tuple[str, ...] | None, expected: tuple[str, ...]) -> None:
    selector = LabelSelector(match_expressions=(LabelSelectorRequirement(key="k", operator=operator, values=values),))
    fleet = [cluster("a", {"k": "x"}), cluster("b", {"k": "y"}), cluster("c")]
    assert chosen(*fleet, placement(predicates=(predicate(label_selector=selector),))) == expected


def test_expressions_read_the_cluster_and_its_scores() -> None:
    fleet = [cluster("a", {"k": "1"}), cluster("b", {"k": "1"}), cluster("c"), scored("a", 5), scored("b", 50)]
    cel = api.CelSelector(
        cel_expressions=(
            'managedCluster.metadata.labels["k"] == "1"',
            'managedCluster.scores("speed").exists(s, s.name == "fast" && s.value > 10)',
        )
    )
    state = state_of(*fleet, placement(predicates=(predicate(cel_selector=cel),)))
    assert state.clusters(KEY) == ("b",)
    state.handle(Applied(scored("a", 60)))
    assert state.clusters(KEY) == ("a", "b")


@pytest.mark.parametrize(
    ("effect", "has", "expected"),
    [
        (api.NO_SELECT, (), ("b",)),
        (api.NO_SELECT, ("a",), ("b",)),
        (api.NO_SELECT_IF_NEW, (), ("b",)),
        (api.NO_SELECT_IF_NEW, ("a",), ("a",)),
        (api.PREFER_NO_SELECT, (), ("b",)),
        (api.PREFER_NO_SELECT, ("a",), ("b",)),
    ],
)
def test_taints_without_toleration(effect: str, has: tuple[str, ...], expected: tuple[str, ...]) -> None:
    fleet = [cluster("a", taints=(Taint(key="t", effect=effect),)), cluster("b")]
    assert chosen(*fleet, decided("p", *has), placement("p", 1)) == expected


def test_a_cluster_to_avoid_is_taken_when_there_is_no_other() -> None:
    fleet = [cluster("a", taints=(Taint(key="t", effect=api.PREFER_NO_SELECT),)), cluster("b")]
    assert chosen(*fleet, placement("p", 2)) == ("a", "b")


def test_an_unreachable_cluster_leaves_when_its_toleration_ends_and_returns_with_its_taint_gone() -> None:
    away = Taint(key="unreachable", effect=api.NO_SELECT, time_added="1970-01-01T00:01:40Z")
    tolerated = Toleration(key="unreachable", operator="Exists", toleration_seconds=60)
    state = state_of(cluster("a"), cluster("b"), placement("p", 1, tolerations=(tolerated,)), now=100.0)
    state.handle(Applied(cluster("a", taints=(away,))))
    assert state.clusters(KEY) == ("a",)
    assert state.next_at == 160.0
    assert state.handle(TimePassed(159.0)) == []
    (change,) = state.handle(TimePassed(160.0))
    assert (change.added, change.removed) == (("b",), ("a",))
    state.handle(Deleted(cluster("b")))
    assert state.clusters(KEY) == ()
    state.handle(Applied(cluster("a")))
    assert state.clusters(KEY) == ("a",)


def test_balance_prefers_clusters_that_others_do_not_have() -> None:
    state = state_of(cluster("a"), cluster("b"), cluster("c"), placement("one", 2), placement("two", 2))
    assert state.clusters(f"{NAMESPACE}/one") == ("a", "b")
    assert state.clusters(f"{NAMESPACE}/two") == ("a", "c")


def test_resources_go_from_the_least_to_the_most() -> None:
    fleet = [cluster("a", cpu=2), cluster("b", cpu=10), cluster("c", cpu=4), cluster("d")]
    state = state_of(*fleet, placement("p", 1, weights={"ResourceAllocatableCPU": 1}))
    document = explaining.explain(state.evaluation(KEY), 0.0)
    assert document["scores"] == [
        {"name": "ResourceAllocatableCPU", "weight": 1, "scores": {"a": -100, "b": 100, "c": -50, "d": 0}}
    ]
    assert state.clusters(KEY) == ("b",)


def test_a_negative_weight_prefers_the_least() -> None:
    fleet = [cluster("a", cpu=10), cluster("b", cpu=2)]
    assert chosen(*fleet, placement("p", 1, weights={"ResourceAllocatableCPU": -1})) == ("b",)


def test_a_score_that_is_too_old_counts_as_nothing() -> None:
    fleet = [cluster("a"), cluster("b"), scored("b", 50, "1970-01-01T00:01:40Z")]
    state = state_of(*fleet, placement("p", 1, prioritizer_policy=by_speed()))
    assert state.clusters(KEY) == ("b",)
    state.handle(TimePassed(state.next_at))
    assert state.clusters(KEY) == ("a",)
    assert "expired for 1 clusters" in state.evaluation(KEY).outcome.warnings[0]


def test_a_cluster_that_is_chosen_stays_on_a_tie() -> None:
    assert chosen(cluster("a"), cluster("b"), decided("p", "b"), placement("p", 1)) == ("b",)


def test_a_change_nobody_reads_is_not_looked_at() -> None:
    state = state_of(cluster("a"), cluster("b"), placement("p", 1))
    assert state.handle(Applied(cluster("a", {"colour": "red"}))) == []
    assert state.looked_at == []


def test_a_placement_that_becomes_misconfigured_keeps_its_clusters() -> None:
    state = state_of(cluster("a"), cluster("b"), placement("p", 1))
    state.handle(Applied(placement("p", -1)))
    assert state.clusters(KEY) == ("a",)
    document = explaining.explain(state.evaluation(KEY), 0.0)
    assert document["conditions"][1]["status"] == "True"
    assert "spec.numberOfClusters: -1 is less than nothing" in document["conditions"][1]["message"]


def test_a_disabled_placement_is_left_alone() -> None:
    wanted = placement("p", 2, annotations={api.DISABLE_ANNOTATION: "true"})
    assert chosen(cluster("a"), cluster("b"), decided("p", "b"), wanted) == ("b",)


def test_unbinding_a_set_takes_its_clusters_away() -> None:
    state = state_of(cluster("a"), placement())
    (change,) = state.handle(Deleted(bound_set()[1]))
    assert change.removed == ("a",)


@pytest.mark.parametrize(
    ("things", "reason"),
    [
        ([], "AllManagedClusterSetsEmpty"),
        ([cluster("a", taints=(Taint(key="t", effect=api.NO_SELECT),))], "NoManagedClusterMatched"),
        ([cluster("a")], "NotAllDecisionsScheduled"),
        ([cluster("a"), cluster("b")], "AllDecisionsScheduled"),
    ],
)
def test_reasons_of_the_condition(things: list[api.ManagedCluster], reason: str) -> None:
    document = explaining.explain(state_of(*things, placement("p", 2)).evaluation(KEY), 0.0)
    assert document["conditions"][0]["reason"] == reason


def test_reasons_about_sets() -> None:
    def reason(wanted: api.Placement) -> str:
        document = explaining.explain(state_of(cluster("a"), wanted).evaluation(wanted.key), 0.0)
        return str(document["conditions"][0]["reason"])

    assert reason(placement(cluster_sets=("other",))) == "NoIntersection"
    elsewhere = placement()
    moved = api.Placement(metadata=ObjectMeta(name="p", namespace="elsewhere"), spec=elsewhere.spec)
    assert reason(moved) == "NoManagedClusterSetBindings"


def test_the_condition_says_how_many_could_be_placed_and_which_domain_is_in_the_way() -> None:
    fleet = [cluster(name, {"region": name[0]}) for name in ("a1", "a2", "a3", "b1")]
    state = state_of(*fleet, placement("p", 4, constraint("region")))
    (told, _) = explaining.explain(state.evaluation(KEY), 0.0)["conditions"]
    assert told["message"] == (
        "1 more cluster is wanted; the spread policy allows at most 3 of 4 clusters, as region b is full"
    )


def test_a_cluster_lost_while_the_placement_was_wrong_is_not_told_again_after_it_is_gone() -> None:
    state = state_of(cluster("a"), cluster("b"), placement("p", 2))
    state.handle(Applied(placement("p", -1)))
    state.handle(Deleted(cluster("a")))
    state.handle(Deleted(placement("p", -1)))
    assert state.handle(Deleted(cluster("b"))) == []


def test_decisions_that_are_gone_before_their_placement_comes_do_not_count() -> None:
    state = state_of(cluster("a"), cluster("b"))
    state.handle(Applied(decided("p", "b")))
    state.handle(Deleted(decided("p", "b")))
    state.handle(Applied(placement("p", 1)))
    assert state.clusters(KEY) == ("a",)
