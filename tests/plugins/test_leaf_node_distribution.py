"""LeafNodeDistribution: which policy speaks for a pod, which nodes its term accepts, and what brings pods back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.framework import Change, ClusterEvent, Code
from bayplan.objects.third_party.kosmos import ClusterDistributionPolicy
from bayplan.plugins.leaf_node_distribution import LeafNodeDistribution
from bayplan.testing import PodBuilder, assert_forms_agree, cluster, make, node, pod, reasons, run_filter
from tests.plugins.kosmos import distribution

NODES = [
    node("real"),
    node("leaf").label({"kosmos.io/node": "true"}),
    node("gpu").label(disk="ssd").taint("gpu", "yes"),
    node("odd-leaf").label({"kosmos.io/node": ""}).taint("gpu", "no"),
]
ALL = {"real", "leaf", "gpu", "odd-leaf"}
BY_NAME, BY_PREFIX = {"name": "web-0"}, {"namePrefix": "web"}
BY_LABEL = {"labelSelector": {"matchLabels": {"app": "web", "tier": "front"}}}
WEB = pod("web-0").label(app="web", tier="front")


def nodes_for(asked: PodBuilder, *policies: Any) -> set[str]:
    """The nodes that the policies leave to a pod."""
    cache = cluster(NODES, (), policies)
    plugin = make(LeafNodeDistribution, cache)
    assert_forms_agree(plugin, [asked], cache)
    return {name for name, status in run_filter(plugin, asked, cache).items() if status is None}


def to(node_type: str, *selectors: dict[str, Any], **meta: Any) -> Any:
    term = {"name": "t", "nodeType": node_type}
    return distribution([{"policyName": "t", **each} for each in selectors], [term], **meta)


def everywhere(node_type: str, *selectors: dict[str, Any], name: str = "all") -> ClusterDistributionPolicy:
    spec = {
        "resourceSelectors": [{"policyName": "t", **each} for each in selectors],
        "policyTerms": [{"name": "t", "nodeType": node_type}],
    }
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, ClusterDistributionPolicy)


@pytest.mark.parametrize(
    ("node_type", "found"),
    [("host", {"real", "gpu"}), ("leaf", {"leaf", "odd-leaf"}), ("mix", ALL)],
)
def test_a_term_names_a_kind_of_node(node_type: str, found: set[str]) -> None:
    assert nodes_for(WEB, to(node_type, BY_NAME)) == found


@pytest.mark.parametrize(
    ("advanced", "found"),
    [
        ({"nodeName": "gpu"}, {"gpu"}),
        ({"nodeName": "gone"}, set()),
        ({"nodeSelector": {"disk": "ssd"}}, {"gpu"}),
        ({"tolerations": [{"key": "gpu", "value": "yes"}]}, {"real", "leaf", "gpu"}),
        ({"nodeName": "leaf", "nodeSelector": {"disk": "ssd"}}, {"leaf", "gpu"}),
    ],
)
def test_an_advanced_term_accepts_nodes_that_fulfil_any_part(advanced: dict[str, Any], found: set[str]) -> None:
    terms = [{"name": "t", "nodeType": "adv", "advancedTerm": advanced}]
    assert nodes_for(WEB, distribution([{"policyName": "t", **BY_NAME}], terms)) == found


@pytest.mark.parametrize(
    ("asked", "policies", "found"),
    [
        (pod("db-0"), [to("host", BY_PREFIX)], ALL),
        (pod("web-0").namespace("other"), [to("host", BY_PREFIX)], ALL),
        (pod("web-0").owned_by("DaemonSet", "agent"), [to("host", BY_PREFIX)], ALL),
        (pod("web-1").label(app="web"), [to("host", BY_LABEL)], ALL),
        (pod("web-1").label(app="web", tier="front"), [to("host", BY_LABEL)], {"real", "gpu"}),
        (pod("web-0"), [everywhere("host", BY_PREFIX)], {"real", "gpu"}),
    ],
    ids=["other name", "other namespace", "daemon set", "one label of two", "both labels", "cluster-wide"],
)
def test_policies_select_pods_by_name_prefix_or_all_labels(
    asked: PodBuilder, policies: list[Any], found: set[str]
) -> None:
    assert nodes_for(asked, *policies) == found


RANKED: list[tuple[dict[str, Any], str]] = [
    (BY_NAME, "DistributionPolicy"),
    (BY_PREFIX, "DistributionPolicy"),
    (BY_LABEL, "DistributionPolicy"),
    (BY_NAME, "ClusterDistributionPolicy"),
    (BY_PREFIX, "ClusterDistributionPolicy"),
    (BY_LABEL, "ClusterDistributionPolicy"),
]


@pytest.mark.parametrize("first", range(5))
def test_the_closest_selector_decides_and_the_namespace_goes_before_the_cluster(first: int) -> None:
    def made(position: int, node_type: str) -> Any:
        selector, kind = RANKED[position]
        name = f"z{9 - position}"  # names that sort the other way round, so that the order is no accident
        return to(node_type, selector, name=name) if kind == "DistributionPolicy" else everywhere(
            node_type, selector, name=name
        )  # fmt: skip

    for second in range(first + 1, 6):
        assert nodes_for(WEB, made(second, "leaf"), made(first, "host")) == {"real", "gpu"}


def test_the_longest_prefix_is_the_closest() -> None:
    assert nodes_for(WEB, to("host", {"namePrefix": "w"}), to("leaf", BY_PREFIX, name="z")) == {"leaf", "odd-leaf"}


def test_policies_that_do_not_match_overrule_none_that_does() -> None:
    other = [to("leaf", {"name": f"db-{number}"}, name=f"p{number}") for number in range(5)]
    assert nodes_for(WEB, *other[:3], to("host", BY_NAME, name="mine"), *other[3:]) == {"real", "gpu"}


def test_of_equals_the_last_selector_and_the_first_policy_decide() -> None:
    terms = [{"name": "h", "nodeType": "host"}, {"name": "l", "nodeType": "leaf"}]
    selectors = [{"policyName": "h", **BY_NAME}, {"policyName": "l", **BY_NAME}]
    assert nodes_for(WEB, distribution(selectors, terms)) == {"leaf", "odd-leaf"}
    assert nodes_for(WEB, to("leaf", BY_NAME, name="b"), to("host", BY_NAME, name="a")) == {"real", "gpu"}


def test_the_reason_names_policy_and_term() -> None:
    cache = cluster(NODES, (), [to("leaf", BY_NAME)])
    statuses = run_filter(make(LeafNodeDistribution, cache), WEB, cache)
    text = 'node(s) didn\'t match DistributionPolicy "dist" that asks for leaf nodes by term t'
    assert reasons(statuses) == {"real": [text], "gpu": [text]}
    assert {each.code for each in statuses.values() if each is not None} == {Code.UNRESOLVABLE}


def test_a_dangling_policy_name_is_told_and_stops_only_the_pods_it_selects() -> None:
    broken = distribution([{"policyName": "gone", **BY_NAME}], [{"name": "t"}])
    cache = cluster(NODES, (), [broken])
    said = reasons(run_filter(make(LeafNodeDistribution, cache), WEB, cache))
    text = 'DistributionPolicy "dist" is not valid: spec.resourceSelectors[0].policyName: "gone" is no policy term'
    assert said == {name: [text] for name in ALL}
    assert nodes_for(pod("db-0"), broken) == ALL


def test_without_policies_it_promises_the_same_for_all_pods() -> None:
    cache = cluster(NODES)
    assert make(LeafNodeDistribution, cache).promise(WEB.build().template) is not None
    cache = cluster(NODES, (), [to("host", BY_NAME)])
    assert make(LeafNodeDistribution, cache).promise(WEB.build().template) is None


@pytest.mark.parametrize(
    ("event", "old", "new", "helps"),
    [
        (ClusterEvent("DistributionPolicy", Change.ADDED), None, to("host", BY_NAME), True),
        (ClusterEvent("DistributionPolicy", Change.DELETED), to("host", BY_NAME), None, True),
        (ClusterEvent("DistributionPolicy", Change.ADDED), None, to("host", BY_NAME, namespace="other"), False),
        (ClusterEvent("ClusterDistributionPolicy", Change.UPDATED), None, everywhere("host", BY_NAME), True),
        (ClusterEvent("Node", Change.LABEL), None, None, True),
        (ClusterEvent("UnschedulablePod", Change.POD_LABEL), None, WEB.build(), True),
        (ClusterEvent("UnschedulablePod", Change.POD_LABEL), None, pod("x").build(), False),
    ],
)
def test_policies_and_nodes_that_change_bring_pods_back(event: ClusterEvent, old: Any, new: Any, helps: bool) -> None:
    rules = [each for each in make(LeafNodeDistribution).requeue_on() if each.matches(event)]
    assert any(each.hint is None or each.hint(WEB.build(), old, new) for each in rules) is helps
