"""
Required anti-affinity in InterPodAffinity.filter: that of the pod, and that of the pods on nodes.

Covers: domains, each term by itself, missing labels, both directions, which reason is told.
"""

from __future__ import annotations

import pytest

from bayplan.framework import SKIP, CycleState
from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.plugins.inter_pod_affinity import InterPodAffinity
from bayplan.testing import cluster, make, node, pod, reasons, run_filter
from bayplan.testing.builders import PodBuilder

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"

NODES = [node("a1").zone("a"), node("a2").zone("a"), node("b1").zone("b"), node("bare")]
WEB = pod("new").label(app="web")
DB = pod("p1").label(app="db")

CASES: list[tuple[str, PodBuilder, list[PodBuilder], dict[str, str]]] = [
    ("its zone is out", WEB.anti_affinity({"app": "db"}, ZONE), [DB.on("a1")], {"a1": ANTI, "a2": ANTI}),
    ("its node is out", WEB.anti_affinity({"app": "db"}, HOST), [DB.on("a1")], {"a1": ANTI}),
    ("a node without the label always passes", WEB.anti_affinity({"app": "db"}, ZONE), [DB.on("bare")], {}),
    (
        "a terminating pod still counts",
        WEB.anti_affinity({"app": "db"}, HOST),
        [DB.on("a1").terminating()],
        {"a1": ANTI},
    ),
    ("another namespace is not meant", WEB.anti_affinity({"app": "db"}, HOST), [DB.namespace("x").on("a1")], {}),
    (
        "any one term is enough",
        WEB.anti_affinity({"app": "db"}, HOST).anti_affinity({"app": "cache"}, ZONE),
        [DB.on("a1"), pod("p2").label(app="cache").on("b1")],
        {"a1": ANTI, "b1": ANTI},
    ),
    (
        "a running pod keeps others off its zone",
        WEB,
        [DB.on("a1").anti_affinity({"app": "web"}, ZONE)],
        {"a1": EXISTING, "a2": EXISTING},
    ),
    (
        "a running pod on a node without the label keeps nobody off",
        WEB,
        [DB.on("bare").anti_affinity({"app": "web"}, ZONE)],
        {},
    ),
    ("a running pod that does not mean the pod", WEB, [DB.on("a1").anti_affinity({"app": "db"}, ZONE)], {}),
    (
        "a terminating pod keeps its node to itself",
        WEB,
        [DB.on("b1").anti_affinity({"app": "web"}, HOST).terminating()],
        {"b1": EXISTING},
    ),
    (
        "the pod's own anti-affinity is told first",
        WEB.anti_affinity({"app": "db"}, HOST),
        [DB.on("a1").anti_affinity({"app": "web"}, ZONE)],
        {"a1": ANTI, "a2": EXISTING},
    ),
    (
        "affinity is told before both",
        WEB.affinity({"app": "cache"}, ZONE).anti_affinity({"app": "db"}, ZONE),
        [DB.on("a1").anti_affinity({"app": "web"}, ZONE), pod("p2").label(app="cache").on("b1")],
        {"a1": AFFINITY, "a2": AFFINITY, "bare": AFFINITY},
    ),
    (
        "beside what it needs, but away from what it shuns",
        WEB.affinity({"app": "db"}, ZONE).anti_affinity({"app": "db"}, HOST),
        [DB.on("a1")],
        {"a1": ANTI, "b1": AFFINITY, "bare": AFFINITY},
    ),
]


@pytest.mark.parametrize(("new", "running", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_domains_with_shunned_pods_are_rejected(
    new: PodBuilder, running: list[PodBuilder], expected: dict[str, str]
) -> None:
    cache = cluster(NODES, running)
    found = run_filter(make(InterPodAffinity, cache), new, cache)
    assert reasons(found) == {name: [text] for name, text in expected.items()}


def test_eviction_may_help_against_anti_affinity() -> None:
    cache = cluster(NODES, [DB.on("a1").anti_affinity({"app": "web"}, HOST), pod("p2").label(app="cache").on("b1")])
    found = run_filter(make(InterPodAffinity, cache), WEB.anti_affinity({"app": "cache"}, HOST), cache)
    titles = {name: status.code.title for name, status in found.items() if status is not None}
    assert titles == {"a1": "Unschedulable", "b1": "Unschedulable"}


def test_a_pod_nobody_shuns_is_skipped_when_it_has_no_terms() -> None:
    running = [DB.on("a1").anti_affinity({"app": "db"}, ZONE), pod("p2").on("bare").anti_affinity({"app": "web"}, ZONE)]
    cache = cluster(NODES, running)
    assert make(InterPodAffinity, cache).pre_filter(CycleState(), WEB.build(), cache.nodes) is SKIP


def test_a_pod_that_left_keeps_nobody_off() -> None:
    leaving = DB.on("a1").anti_affinity({"app": "web"}, ZONE)
    cache = cluster(NODES, [leaving])
    plugin = make(InterPodAffinity, cache)
    assert reasons(run_filter(plugin, WEB, cache)).keys() == {"a1", "a2"}
    cache.remove_pod(leaving.build())
    assert reasons(run_filter(plugin, WEB, cache)) == {}
