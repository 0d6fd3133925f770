"""
Which namespaces affinity terms mean: listed ones, selected ones, and the pod's own.

The pod's selectors are asked about all namespaces, and about a namespace without labels; those of pods on nodes
are asked about the namespace of the pod to be placed.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.workload import Namespace
from bayplan.plugins.inter_pod_affinity import InterPodAffinity
from bayplan.testing import cluster, make, node, pod, reasons, run_filter
from bayplan.testing.builders import PodBuilder


def namespace(name: str, **labels: str) -> Namespace:
    return msgspec.convert({"metadata": {"name": name, "labels": labels}}, Namespace)


NAMESPACES = [namespace("default"), namespace("red", team="red"), namespace("blue", team="blue")]
NODES = [node(name) for name in ("default", "red", "blue", "unknown")]
ONE_IN_EACH = [pod("p").label(app="db").namespace(name).on(name) for name in ("default", "red", "blue", "unknown")]
EVERYWHERE = {"default", "red", "blue", "unknown"}

TERMS: list[tuple[str, dict[str, Any], set[str]]] = [
    ("none named is the pod's own", {}, {"default"}),
    ("listed", {"namespaces": ["red", "unknown"]}, {"red", "unknown"}),
    ("selected", {"ns_selector": {"team": "red"}}, {"red"}),
    ("listed and selected together", {"namespaces": ["default"], "ns_selector": {"team": "red"}}, {"default", "red"}),
    ("an empty selector is all, also those not known", {"ns_selector": {}}, EVERYWHERE),
    ("a selector that selects none", {"ns_selector": {"team": "green"}}, set()),
    ("NotIn is satisfied without labels, so it is all", {"ns_expressions": [("team", "NotIn", "red")]}, EVERYWHERE),
    ("DoesNotExist as well", {"ns_expressions": [("team", "DoesNotExist")]}, EVERYWHERE),
    ("Exists is not", {"ns_expressions": [("team", "Exists")]}, {"red", "blue"}),
]


@pytest.mark.parametrize(("more", "expected"), [case[1:] for case in TERMS], ids=[case[0] for case in TERMS])
def test_the_pods_own_terms_look_in_these_namespaces(more: dict[str, Any], expected: set[str]) -> None:
    cache = cluster(NODES, ONE_IN_EACH, NAMESPACES)
    shuns = pod("new").anti_affinity({"app": "db"}, HOST, **more)
    assert reasons(run_filter(make(InterPodAffinity, cache), shuns, cache)).keys() == expected
    needs = pod("new").affinity({"app": "db"}, HOST, **more)
    assert reasons(run_filter(make(InterPodAffinity, cache), needs, cache)).keys() == EVERYWHERE - expected


RUNNING_TERMS: list[tuple[str, dict[str, Any], dict[str, bool]]] = [
    ("none named", {}, {"default": False, "red": True, "blue": False}),
    ("listed", {"namespaces": ["default"]}, {"default": True, "red": False, "blue": False}),
    ("selected", {"ns_selector": {"team": "blue"}}, {"default": False, "red": False, "blue": True}),
    ("all", {"ns_selector": {}}, {"default": True, "red": True, "blue": True, "unknown": True}),
    (
        "NotIn",
        {"ns_expressions": [("team", "NotIn", "red")]},
        {"default": True, "red": False, "blue": True, "unknown": True},
    ),
]


@pytest.mark.parametrize(
    ("more", "expected"), [case[1:] for case in RUNNING_TERMS], ids=[case[0] for case in RUNNING_TERMS]
)
def test_terms_of_running_pods_look_at_the_new_pods_namespace(more: dict[str, Any], expected: dict[str, bool]) -> None:
    running = pod("p").namespace("red").on("red").anti_affinity({"app": "web"}, HOST, **more)
    cache = cluster(NODES, [running], NAMESPACES)
    plugin = make(InterPodAffinity, cache)
    for name, is_shunned in expected.items():
        new: PodBuilder = pod("new").namespace(name).label(app="web")
        assert bool(reasons(run_filter(plugin, new, cache))) is is_shunned, name


def test_a_namespace_that_gets_the_label_is_noticed() -> None:
    cache = cluster(NODES, ONE_IN_EACH, NAMESPACES)
    plugin = make(InterPodAffinity, cache)
    shuns = pod("new").anti_affinity({"app": "db"}, HOST, ns_selector={"team": "red"})
    assert reasons(run_filter(plugin, shuns, cache)).keys() == {"red"}
    cache.objects.put("Namespace", "", "blue", namespace("blue", team="red"))
    cache.namespaces_changed()
    assert reasons(run_filter(plugin, shuns, cache)).keys() == {"red", "blue"}
