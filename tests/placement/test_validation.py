"""Every mistake has a field and says what to write; nothing is decided on a mistake."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects import kinds
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.third_party import placement as api
from bayplan.objects.toleration import Toleration
from bayplan.placement.conditions import LONGEST, misconfigured
from bayplan.placement.plan import compile_placement
from bayplan.placement.registry import SCORERS
from tests.placement.fleet_building import state_of


def plan(spec: dict[str, Any], annotations: dict[str, str] | None = None) -> Any:
    raw = {
        "apiVersion": "cluster.open-cluster-management.io/v1beta1",
        "kind": "Placement",
        "metadata": {"name": "p", "namespace": "web", "annotations": annotations or {}},
        "spec": spec,
    }
    thing = kinds.decode(raw)
    assert isinstance(thing, api.Placement)
    return compile_placement(thing, SCORERS)


def spread(*constraints: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"spreadPolicy": {"spreadConstraints": list(constraints), **more}}


def scored(**configuration: Any) -> dict[str, Any]:
    return {"prioritizerPolicy": {"configurations": [configuration]}}


def claimed(**expression: Any) -> dict[str, Any]:
    return {"predicates": [{"requiredClusterSelector": {"claimSelector": {"matchExpressions": [expression]}}}]}


CASES = [
    (
        {"numberOfClusters": 2**31},
        "spec.numberOfClusters: 2147483648 is more than the field holds; write at most 21474",
    ),
    (claimed(key="cloud", operator="Exists", values=["x"]), "claimSelector.matchExpressions[0].values: "),
    (claimed(key="cloud", operator="In"), "claimSelector.matchExpressions[0].values: operator In needs at least one"),
    ({"numberOfClusters": -1}, "spec.numberOfClusters: -1 is less than nothing; write 0 or more"),
    (scored(scoreCoordinate={"builtIn": "Best"}), 'configurations[0].scoreCoordinate.builtIn: "Best" is not possible'),
    (scored(scoreCoordinate={"builtIn": "Balance"}, weight=11), "configurations[0].weight: 11 is out of range"),
    (scored(weight=1), "configurations[0].scoreCoordinate: there is none"),
    (scored(scoreCoordinate={"type": "AddOn"}), "scoreCoordinate.addOn: is incomplete"),
    ({"prioritizerPolicy": {"mode": "Some"}}, 'prioritizerPolicy.mode: "Some" is not possible here'),
    (spread(*({"topologyKey": f"k{number}"} for number in range(9))), "there are 9 constraints; write at most 8"),
    (spread({"topologyKey": "a"}, {"topologyKey": "a"}), 'spreadConstraints[1].topologyKey: "a" is there already'),
    (spread({"topologyKey": "a"}), "topologyKeyType: there is none; write Label or Claim"),
    (spread({"topologyKey": "a b", "topologyKeyType": "Claim"}), '"a b" is not a label key'),
    (spread({"topologyKey": "a", "maxSkew": 2**31}), "maxSkew: 2147483648 is too large"),
    ({"sortBy": "Name"}, 'spec.sortBy: "Name" is not possible'),
    ({"scoreRateLimit": "soon"}, 'spec.scoreRateLimit: "soon" is no time'),
    (spread({"topologyKey": "a", "maxSkew": 0}), "maxSkew: 0 is too small"),
    (spread({"topologyKey": "a", "topologyKeyType": "Name"}), 'topologyKeyType: "Name" is not possible'),
    (spread({"topologyKey": "a", "whenUnsatisfiable": "Maybe"}), 'whenUnsatisfiable: "Maybe" is not possible'),
    (spread({"topologyKey": "a", "minDomains": 2}), "minDomains: is for hard constraints"),
    (spread({"topologyKey": "a", "weights": {"x": 0}}), "weights.x: 0 is out of range"),
    (
        spread({"topologyKey": "a", "weights": {f"r{number}": number for number in range(1, 30)}}),
        "weights: the numbers have no common measure",
    ),
    (spread({"topologyKey": "a"}, scope="Round"), 'scope: "Round" is not possible'),
    (spread({"topologyKey": "a"}, maxMoves=-1), "maxMoves: -1 is less than nothing"),
    ({"tolerations": [{"operator": "Equal"}]}, "tolerations[0].operator: an empty key stands for all taints"),
    ({"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]}, "operator Exists takes no value"),
    (
        {"decisionStrategy": {"groupStrategy": {"clustersPerDecisionGroup": "half"}}},
        'clustersPerDecisionGroup: "half" is not a size',
    ),
    (
        {"predicates": [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"a b": "c"}}}}]},
        '"a b" is not a label key',
    ),
]


@pytest.mark.parametrize(("spec", "told"), CASES, ids=[told[-40:] for _, told in CASES])
def test_a_mistake_is_named(spec: dict[str, Any], told: str) -> None:
    assert told in plan(spec).misconfiguration


def test_an_expression_that_does_not_compile_is_a_mistake() -> None:
    selector = {"celSelector": {"celExpressions": ["managedCluster.metadata.name =="]}}
    told = plan({"predicates": [{"requiredClusterSelector": selector}]}).misconfiguration
    assert "spec.predicates[0].requiredClusterSelector.celSelector.celExpressions" in told
    assert "Syntax error" in told


@pytest.mark.parametrize(
    ("annotation", "text", "told"),
    [
        (api.SPREAD_ANNOTATION, "{", "write JSON or YAML"),
        (api.SPREAD_ANNOTATION, "{maxMove: 1}", 'spread].maxMove: unknown field; did you mean "maxMoves"?'),
        (
            api.SPREAD_ANNOTATION,
            "spreadConstraints: [{topologyKey: a, maxSkw: 2}, {topologyKey: b, whenUnsatisfied: DoNotSchedule}]",
            'spread].spreadConstraints[0].maxSkw: unknown field; did you mean "maxSkew"?; metadata.annotations['
            'placement.bayplan.io/spread].spreadConstraints[1].whenUnsatisfied: unknown field; did you mean "whenUns',
        ),
        (api.SPREAD_ANNOTATION, "{spreadConstraints: [{topologyKey: a, maxSkew: '2'}]}", "maxSkew: must be a whole"),
        (api.SPREAD_ANNOTATION, "{spreadConstraints: [{topologyKey: a, labelSelector: {}}]}", "clusters are counted"),
        (
            api.SPREAD_ANNOTATION,
            "5",
            "must be a mapping; write fields, such as {spreadConstraints: [{topologyKey: region",
        ),
        (
            api.SPREAD_ANNOTATION,
            "{maxMoves: -3}",
            "metadata.annotations[placement.bayplan.io/spread].maxMoves: -3 is less",
        ),
        (api.SPREAD_ANNOTATION, "{scope: Round}", "placement.bayplan.io/spread].scope: "),
        (
            api.SPREAD_ANNOTATION,
            "{spreadConstraints: [{topologyKey: a, maxSkew: 0}]}",
            "placement.bayplan.io/spread].spreadConstraints[a].maxSkew: 0 is too small",
        ),
        (
            api.SPREAD_ANNOTATION,
            "{spreadConstraints: [{topologyKey: a, maxSkew: 1}, {topologyKey: a, maxSkew: 5}]}",
            'placement.bayplan.io/spread].spreadConstraints[1].topologyKey: "a" is there already',
        ),
        (api.SPREAD_ANNOTATION, "[{topologyKey: region}]", "must be a mapping; write fields, such as {spreadC"),
        (api.REPLICAS_ANNOTATION, "[5]", "must be a mapping; write fields, such as {replicas: 6}"),
        ("placement.bayplan.io/spred", "{}", 'did you mean "placement.bayplan.io/spread"?'),
        (api.REPLICAS_ANNOTATION, "{replica: 3}", 'replicas].replica: unknown field; did you mean "replicas"?'),
        (api.REPLICAS_ANNOTATION, "{replicas: 3, weights: [{wait: 1}]}", "weights[0].wait: unknown field; did you"),
        (api.REPLICAS_ANNOTATION, "-3", "-3 is less than nothing"),
        (api.REPLICAS_ANNOTATION, "{replicas: 3, strategy: Best}", '"Best" is not possible here'),
        (api.REPLICAS_ANNOTATION, "{replicas: 3, strategy: Capacity}", "Capacity needs to know what fits"),
    ],
)
def test_annotations_are_checked(annotation: str, text: str, told: str) -> None:
    assert told in plan({}, {annotation: text}).misconfiguration


def test_what_the_annotation_says_of_a_constraint_goes_before_the_spec() -> None:
    """It used to be dropped: a constraint that the annotation makes hard stayed soft."""
    extra = "spreadConstraints: [{topologyKey: region, maxSkew: 3, whenUnsatisfiable: DoNotSchedule, minDomains: 2}]"
    written = spread({"topologyKey": "region", "topologyKeyType": "Label", "maxSkew": 1})
    (level,) = plan(written, {api.SPREAD_ANNOTATION: extra}).levels
    assert (level.max_skew, level.is_hard, level.min_domains) == (3, True, 2)


def test_all_mistakes_are_told_at_once() -> None:
    assert len(plan({"numberOfClusters": -1, "tolerations": [{"operator": "Equal"}]}).mistakes) == 2


def test_a_good_placement_has_none() -> None:
    good = spread({"topologyKey": "region", "topologyKeyType": "Label", "whenUnsatisfiable": "DoNotSchedule"})
    assert not plan(good | {"numberOfClusters": 3}).is_misconfigured


def test_a_name_that_fits_no_label_is_a_mistake() -> None:
    long = compile_placement(api.Placement(metadata=ObjectMeta(name="p" * 64, namespace="web")), SCORERS)
    assert "metadata.name: 64 characters do not fit" in long.misconfiguration
    assert not compile_placement(api.Placement(metadata=ObjectMeta(name="p" * 63)), SCORERS).is_misconfigured


def test_a_message_is_never_so_long_that_an_api_server_refuses_it() -> None:
    expressions = api.CelSelector(cel_expressions=(" && ".join(["true"] * 50_000),))
    selector = api.ClusterSelector(cel_selector=expressions)
    tolerations = tuple(Toleration(operator="Equal", value=str(number)) for number in range(500))
    for spec in (
        api.PlacementSpec(predicates=(api.ClusterPredicate(required_cluster_selector=selector),)),
        api.PlacementSpec(tolerations=tolerations),
    ):
        state = state_of(api.Placement(metadata=ObjectMeta(name="p", namespace="web"), spec=spec))
        told = misconfigured(state.evaluation("web/p"))
        assert told.status == "True"
        assert len(told.message) <= LONGEST
        assert told.message.endswith("(the last decisions are kept)")


def test_an_expression_that_would_hold_up_the_hub_is_a_mistake() -> None:
    many = str(list(range(99)))
    slow = f"{many}.all(x, {many}.all(y, managedCluster.metadata.name.matches('(a*)*b') || true))"
    told = plan({"predicates": [{"requiredClusterSelector": {"celSelector": {"celExpressions": [slow]}}}]})
    assert "for one cluster, and a hub asks it of every one" in told.misconfiguration
