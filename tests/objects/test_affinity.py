"""Affinity and spreading, compiled from what a pod says."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.selector import EVERYTHING, NOTHING, label_selector_from_map
from tests.objects.making import make_pod

WEB = {"matchLabels": {"app": "web"}}
WEB_SELECTOR = label_selector_from_map({"app": "web"})


def affine(**term: Any) -> Any:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", **term}]}
    return make_pod({"affinity": {"podAffinity": required}}).required_affinity_terms[0]


@pytest.mark.parametrize(
    ("term", "namespaces", "chosen"),
    [
        ({}, {"shop"}, None),
        ({"namespaces": []}, {"shop"}, None),
        ({"namespaces": ["a", "b"]}, {"a", "b"}, None),
        ({"namespaceSelector": {}}, set(), EVERYTHING),
        ({"namespaces": ["a"], "namespaceSelector": WEB}, {"a"}, WEB_SELECTOR),
    ],
)
def test_a_term_without_namespaces_means_the_pods_own(term: dict[str, Any], namespaces: set[str], chosen: Any) -> None:
    made = affine(**term)
    assert made.namespaces == namespaces
    assert made.namespace_selector == chosen


def test_a_term_without_selector_matches_no_pod() -> None:
    assert affine().selector is NOTHING
    assert affine(labelSelector={}).selector == EVERYTHING
    assert affine(labelSelector=WEB).selector == WEB_SELECTOR


def test_label_keys_of_terms_are_left_to_the_api_server() -> None:
    assert affine(labelSelector=WEB, matchLabelKeys=["app"], mismatchLabelKeys=["x"]).selector == WEB_SELECTOR


def test_all_four_kinds_of_terms_are_told_apart() -> None:
    def term(key: str) -> dict[str, Any]:
        return {"topologyKey": key, "labelSelector": WEB}

    def both(key: str) -> dict[str, Any]:
        return {
            "requiredDuringSchedulingIgnoredDuringExecution": [term(f"{key}-hard")],
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "podAffinityTerm": term(f"{key}-soft")}],
        }

    pod = make_pod({"affinity": {"podAffinity": both("to"), "podAntiAffinity": both("from")}})
    assert [each.topology_key for each in pod.required_affinity_terms] == ["to-hard"]
    assert [each.topology_key for each in pod.required_anti_affinity_terms] == ["from-hard"]
    assert [(weight, each.topology_key) for weight, each in pod.preferred_affinity_terms] == [(7, "to-soft")]
    assert [(weight, each.topology_key) for weight, each in pod.preferred_anti_affinity_terms] == [(7, "from-soft")]


def test_node_selector_and_node_affinity_are_one_requirement() -> None:
    term = {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}
    spec: dict[str, Any] = {"nodeSelector": {"zone": "a"}}
    only_selector = make_pod(spec).required_node_affinity
    assert only_selector is not None
    assert only_selector.terms is None
    spec["affinity"] = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    }
    both = make_pod(spec).required_node_affinity
    assert both is not None
    assert both.matches("n", {"zone": "a", "gpu": ""})
    assert not both.matches("n", {"zone": "a"})
    assert not both.matches("n", {"gpu": ""})


def test_preferred_node_terms_that_weigh_or_ask_nothing_are_left_out() -> None:
    exists = {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}
    wrong = {"matchExpressions": [{"key": "gpu", "operator": "Like"}]}
    preferred = [
        {"weight": 0, "preference": exists},
        {"weight": 3, "preference": {}},
        {"weight": 5, "preference": exists},
        {"weight": 9, "preference": wrong},
    ]
    pod = make_pod({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}})
    assert [(weight, term.invalid) for weight, term in pod.preferred_node_terms] == [(5, False), (9, True)]


def spread(labels: dict[str, str] | None = None, **constraint: Any) -> Any:
    written = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **constraint}
    return make_pod({"topologySpreadConstraints": [written]}, labels=labels).spread_constraints[0]


def test_spread_defaults() -> None:
    made = spread(labelSelector=WEB)
    assert (made.max_skew, made.topology_key, made.hard, made.min_domains) == (1, "zone", True, 1)
    assert made.honor_affinity
    assert not made.honor_taints
    assert made.selector == WEB_SELECTOR


def test_spread_options() -> None:
    made = spread(
        maxSkew=3,
        whenUnsatisfiable="ScheduleAnyway",
        minDomains=4,
        nodeAffinityPolicy="Ignore",
        nodeTaintsPolicy="Honor",
    )
    assert (made.max_skew, made.hard, made.min_domains) == (3, False, 4)
    assert not made.honor_affinity
    assert made.honor_taints


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (WEB, {"app": "web", "rev": "7"}),
        ({}, {"rev": "7"}),
        (
            {**WEB, "matchExpressions": [{"key": "rev", "operator": "In", "values": ["7"]}]},
            {"app": "web", "rev": "7"},
        ),
    ],
)
def test_match_label_keys_narrow_the_selector_once(selector: dict[str, Any], expected: dict[str, str]) -> None:
    made = spread({"app": "web", "rev": "7"}, labelSelector=selector, matchLabelKeys=["rev", "absent"])
    assert made.selector == label_selector_from_map(expected)


def test_match_label_keys_do_not_make_something_of_no_selector() -> None:
    assert spread({"rev": "7"}, matchLabelKeys=["rev"]).selector is NOTHING
