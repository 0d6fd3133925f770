"""
Which nodes PodTopologySpread.filter counts: those with every topology key, and by the inclusion policies.

Domains exist only where such a node is.  Nodes that do not count are judged all the same.
"""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.plugins.pod_topology_spread import PodTopologySpread
from bayplan.testing import cluster, make, node, pod, run_filter
from bayplan.testing.builders import NodeBuilder, PodBuilder


def rejected(new: PodBuilder, nodes: list[NodeBuilder], running: list[PodBuilder]) -> set[str]:
    cache = cluster(nodes, running)
    found = run_filter(make(PodTopologySpread, cache), new, cache)
    return {name for name, status in found.items() if status is not None}


WEB = pod("new").label(app="web")
NODES = [
    node("a1").zone("a").label(pool="x"),
    node("b1").zone("b").label(pool="x"),
    node("c1").zone("c").taint("dedicated", "db"),
]
RUNNING = [pod("p1").label(app="web").on("a1"), pod("p2").label(app="web").on("b1")]

POLICIES: list[tuple[str, PodBuilder, dict[str, Any], set[str]]] = [
    ("node affinity is honoured: empty c does not count", WEB.node_selector(pool="x"), {}, set()),
    (
        "node affinity ignored: empty c makes a and b too full",
        WEB.node_selector(pool="x"),
        {"node_affinity_policy": "Ignore"},
        {"a1", "b1"},
    ),
    (
        "required node affinity narrows as the selector does",
        WEB.requires_node("pool", "In", "x"),
        {"node_affinity_policy": "Honor"},
        set(),
    ),
    ("taints are ignored: empty c counts", WEB, {}, {"a1", "b1"}),
    ("taints honoured: c is out", WEB, {"node_taints_policy": "Honor"}, set()),
    (
        "taints honoured and tolerated: c counts",
        WEB.tolerates("dedicated"),
        {"node_taints_policy": "Honor"},
        {"a1", "b1"},
    ),
]


@pytest.mark.parametrize(
    ("new", "policy", "expected"), [case[1:] for case in POLICIES], ids=[case[0] for case in POLICIES]
)
def test_policies_decide_which_nodes_count(new: PodBuilder, policy: dict[str, Any], expected: set[str]) -> None:
    assert rejected(new.spread(ZONE, 1, **policy), NODES, RUNNING) == expected


def test_a_taint_that_only_discourages_does_not_exclude() -> None:
    nodes = [*NODES[:2], node("c1").zone("c").taint("dedicated", "db", "PreferNoSchedule")]
    assert rejected(WEB.spread(ZONE, 1, node_taints_policy="Honor"), nodes, RUNNING) == {"a1", "b1"}


def test_pods_on_nodes_that_do_not_count_are_not_counted() -> None:
    """Zone c holds a pod on a node the new pod cannot use; it is judged with 0 pods, not with 1."""
    running = [*RUNNING, pod("p3").label(app="web").on("c1")]
    assert rejected(WEB.node_selector(pool="x").spread(ZONE, 1), NODES, running) == set()
    assert rejected(WEB.spread(ZONE, 1), NODES, [*running, pod("p4").label(app="web").on("c1")]) == {"c1"}


def test_nodes_that_lack_another_constraints_key_do_not_count() -> None:
    """b2 has no rack: neither its pods nor its zone count, for the zone constraint as well."""
    nodes = [node("a1").zone("a").label(rack="1"), node("b2").zone("b")]
    running = [pod("p1").label(app="web").on("a1")]
    assert rejected(WEB.spread(ZONE, 1), nodes, running) == {"a1"}
    assert rejected(WEB.spread(ZONE, 1).spread("rack", 9), nodes, running) == {"b2"}


def test_when_no_node_counts_every_domain_is_empty() -> None:
    new = WEB.node_selector(pool="none").spread(ZONE, 1)
    assert rejected(new, NODES, [*RUNNING, pod("p3").label(app="web").on("a1")]) == set()


def test_an_answer_kept_from_before_is_not_used_after_a_node_changed() -> None:
    cache = cluster(NODES, RUNNING)
    plugin = make(PodTopologySpread, cache)
    new = WEB.spread(ZONE, 1, node_taints_policy="Honor")
    assert run_filter(plugin, new, cache)["a1"] is None
    cache.update_node(node("c1").zone("c").build())
    assert run_filter(plugin, new, cache)["a1"] is not None
