"""
Default constraints of PodTopologySpread: who gets them, with which selector, and how nodes without a zone fare.

The system defaults are hostname (maxSkew 3) and zone (maxSkew 5), both ScheduleAnyway.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.objects.workload import ReplicaSet, ReplicationController, Service, StatefulSet
from bayplan.plugins.pod_topology_spread import PodTopologySpread
from bayplan.plugins.pod_topology_spread.default_constraints import DefaultConstraints, PodTopologySpreadArgs
from bayplan.testing import cluster, make, node, pod, run_filter, run_score
from bayplan.testing.builders import PodBuilder

NODES = [node("a1").zone("a"), node("a2").zone("a"), node("b1").zone("b"), node("bare")]
RUNNING = [pod("p1").label(app="web").on("a1")]
WEB = pod("new").label(app="web", tier="front")


def made(kind: type[ApiObject], name: str, selector: Any, namespace: str = "default") -> ApiObject:
    return msgspec.convert({"metadata": {"name": name, "namespace": namespace}, "spec": {"selector": selector}}, kind)


SERVICE = made(Service, "web", {"app": "web"})

SELECTORS: list[tuple[str, PodBuilder, list[ApiObject], str]] = [
    ("nobody selects it", WEB, [made(Service, "db", {"app": "db"})], "none"),
    ("a service selects it", WEB, [SERVICE], "app in (web)"),
    ("a service of another namespace does not", WEB, [made(Service, "web", {"app": "web"}, "other")], "none"),
    ("a service without a selector does not", WEB, [made(Service, "web", None)], "none"),
    (
        "two services are joined",
        WEB,
        [SERVICE, made(Service, "front", {"tier": "front"})],
        "app in (web),tier in (front)",
    ),
    (
        "its ReplicaSet",
        WEB.owned_by("ReplicaSet", "rs"),
        [made(ReplicaSet, "rs", {"matchExpressions": [{"key": "app", "operator": "Exists"}]})],
        "app",
    ),
    (
        "its StatefulSet and a service",
        WEB.owned_by("StatefulSet", "set"),
        [SERVICE, made(StatefulSet, "set", {"matchLabels": {"tier": "front"}})],
        "app in (web),tier in (front)",
    ),
    (
        "its ReplicationController has the last word on a label",
        WEB.owned_by("ReplicationController", "rc", "v1"),
        [SERVICE, made(ReplicationController, "rc", {"app": "other"})],
        "app in (other)",
    ),
    (
        "an owner of another API group does not count",
        WEB.owned_by("ReplicaSet", "rs", "example.com/v1"),
        [made(ReplicaSet, "rs", {"matchLabels": {"app": "web"}})],
        "none",
    ),
    ("an owner that is not there does not count", WEB.owned_by("ReplicaSet", "gone"), [], "none"),
    (
        "an owner that selects nothing leaves the service",
        WEB.owned_by("ReplicaSet", "rs"),
        [SERVICE, made(ReplicaSet, "rs", None)],
        "app in (web)",
    ),
    (
        "an owner whose selector cannot be read leaves the service",
        WEB.owned_by("ReplicaSet", "rs"),
        [SERVICE, made(ReplicaSet, "rs", {"matchExpressions": [{"key": "app", "operator": "Near"}]})],
        "app in (web)",
    ),
]


@pytest.mark.parametrize(
    ("new", "objects", "expected"), [case[1:] for case in SELECTORS], ids=[case[0] for case in SELECTORS]
)
def test_the_selector_comes_from_services_and_owner(new: PodBuilder, objects: list[ApiObject], expected: str) -> None:
    defaults = DefaultConstraints(PodTopologySpreadArgs().compiled(), cluster(objects=objects).objects)
    found = {str(each.selector) for each in defaults.of(new.build())}
    assert found == (set() if expected == "none" else {expected})


def test_system_defaults_score_nodes_without_a_zone_by_hostname() -> None:
    """Hosts weigh ln 6 = 1.79, zones (a, b and none) ln 5 = 1.61.

    a1: 1.79 + 2 + 1.61 + 4, a2: 2 + 1.61 + 4, b1: 2 + 4, bare: 2.
    """
    cache = cluster(NODES, RUNNING, [SERVICE])
    plugin = make(PodTopologySpread, cache)
    assert run_score(plugin, WEB, cache, normalize=False) == {"a1": 9, "a2": 8, "b1": 6, "bare": 2}
    assert run_score(plugin, WEB, cache) == {"a1": 22, "a2": 33, "b1": 55, "bare": 100}


def test_an_empty_zone_label_is_one_domain_with_no_label_at_all() -> None:
    """Zones are a and "": ln 4 = 1.39 each, and bare's pod counts for the node with the empty label."""
    nodes = [node("a1").zone("a"), node("e1").zone(""), node("bare")]
    cache = cluster(nodes, [pod("p1").label(app="web").on("bare")], [SERVICE])
    raw = run_score(make(PodTopologySpread, cache), WEB, cache, normalize=False)
    assert raw == {"a1": 6, "e1": 7, "bare": 4}


LISTED = [
    {"maxSkew": 3, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"},
    {"maxSkew": 5, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"},
]


def test_listed_defaults_leave_out_nodes_without_a_zone() -> None:
    """The same constraints, listed: ln 5 for three hosts, ln 4 for two zones, and bare gets 0."""
    cache = cluster(NODES, RUNNING, [SERVICE])
    plugin = make(PodTopologySpread, cache, defaultingType="List", defaultConstraints=LISTED)
    assert run_score(plugin, WEB, cache) == {"a1": 66, "a2": 88, "b1": 100, "bare": 0}


def test_an_empty_list_means_no_defaults() -> None:
    cache = cluster(NODES, RUNNING, [SERVICE])
    assert run_score(make(PodTopologySpread, cache, defaultingType="List"), WEB, cache) == {}


def test_listed_hard_constraints_filter() -> None:
    cache = cluster(NODES, [*RUNNING, pod("p2").label(app="web").on("a2")], [SERVICE])
    hard = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    plugin = make(PodTopologySpread, cache, defaultingType="List", defaultConstraints=[hard])
    found = run_filter(plugin, WEB, cache)
    assert {name for name, status in found.items() if status is not None} == {"a1", "a2", "bare"}
    assert run_score(plugin, WEB, cache) == {}


def test_listed_constraints_keep_their_policies() -> None:
    nodes = [node("a1").zone("a"), node("b1").zone("b").taint("x")]
    cache = cluster(nodes, RUNNING, [SERVICE])
    hard = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "nodeTaintsPolicy": "Honor"}
    plugin = make(PodTopologySpread, cache, defaultingType="List", defaultConstraints=[hard])
    assert run_filter(plugin, WEB, cache)["a1"] is None
    lone = make(PodTopologySpread, cache, defaultingType="List", defaultConstraints=[hard | {"minDomains": 2}])
    assert run_filter(lone, WEB, cache)["a1"] is not None


def test_a_pod_with_any_constraint_of_its_own_gets_no_defaults() -> None:
    cache = cluster(NODES, RUNNING, [SERVICE])
    assert run_score(make(PodTopologySpread, cache), WEB.spread(ZONE, hard=True), cache) == {}


def test_a_changed_service_or_owner_is_noticed() -> None:
    cache = cluster(NODES, RUNNING)
    plugin = make(PodTopologySpread, cache)
    new = WEB.owned_by("ReplicaSet", "rs")
    assert run_score(plugin, new, cache) == {}
    cache.objects.put("ReplicaSet", "default", "rs", made(ReplicaSet, "rs", {"matchLabels": {"app": "web"}}))
    assert run_score(plugin, new, cache)["a1"] == 22
    cache.objects.put("ReplicaSet", "default", "rs", made(ReplicaSet, "rs", {"matchLabels": {"app": "db"}}))
    assert run_score(plugin, new, cache)["a1"] == 33
    cache.objects.drop("ReplicaSet", "default", "rs")
    assert run_score(plugin, new, cache) == {}
    cache.objects.put("Service", "default", "web", SERVICE)
    assert run_score(plugin, new, cache)["a1"] == 22
