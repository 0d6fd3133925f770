"""
InterPodAffinity.score and normalize: preferences of the pod for pods on nodes, and of those for the pod.

Covers: weights of both directions and both signs, hardPodAffinityWeight, ignorePreferredTermsOfExistingPods,
when scoring is left out altogether, and the range 0 to 100.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayplan.framework import CycleState
from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.plugins.inter_pod_affinity import InterPodAffinity
from bayplan.testing import cluster, make, node, pod, run_score
from bayplan.testing.builders import PodBuilder

NODES = [node("a1").zone("a"), node("a2").zone("a"), node("b1").zone("b"), node("bare")]
WEB = pod("new").label(app="web")
DB = pod("p").label(app="db")


def scores(new: PodBuilder, running: list[PodBuilder], *, normalize: bool = False, **args: Any) -> dict[str, int]:
    cache = cluster(NODES, running)
    return run_score(make(InterPodAffinity, cache, **args), new, cache, normalize=normalize)


def raw(a1: int, a2: int, b1: int, bare: int = 0) -> dict[str, int]:
    return {"a1": a1, "a2": a2, "b1": b1, "bare": bare}


CASES: list[tuple[str, PodBuilder, list[PodBuilder], dict[str, Any], dict[str, int]]] = [
    ("it prefers a zone", WEB.prefers_pods(5, {"app": "db"}, ZONE), [DB.on("a1")], {}, raw(5, 5, 0)),
    (
        "each matching pod counts",
        WEB.prefers_pods(5, {"app": "db"}, ZONE),
        [DB.on("a1"), pod("p2").label(app="db").on("a2"), pod("p3").label(app="db").on("b1")],
        {},
        raw(10, 10, 5),
    ),
    ("it avoids a node", WEB.avoids_pods(7, {"app": "db"}, HOST), [DB.on("a1")], {}, raw(-7, 0, 0)),
    (
        "terms are added up over topologies",
        WEB.prefers_pods(5, {"app": "db"}, ZONE).avoids_pods(7, {"app": "db"}, HOST),
        [DB.on("a1")],
        {},
        raw(-2, 5, 0),
    ),
    (
        "a terminating pod still counts",
        WEB.prefers_pods(5, {"app": "db"}, HOST),
        [DB.on("b1").terminating()],
        {},
        raw(0, 0, 5),
    ),
    ("a running pod prefers its kind near", WEB, [DB.on("a1").prefers_pods(9, {"app": "web"}, ZONE)], {}, raw(9, 9, 0)),
    ("a running pod avoids it", WEB, [DB.on("b1").avoids_pods(9, {"app": "web"}, ZONE)], {}, raw(0, 0, -9)),
    ("a running pod that needs it counts 1", WEB, [DB.on("a1").affinity({"app": "web"}, ZONE)], {}, raw(1, 1, 0)),
    (
        "or as much as hardPodAffinityWeight says",
        WEB,
        [DB.on("a1").affinity({"app": "web"}, ZONE).affinity({"app": "web"}, HOST)],
        {"hardPodAffinityWeight": 40},
        raw(80, 40, 0),
    ),
    (
        "weight 0 leaves only preferences",
        WEB,
        [DB.on("a1").affinity({"app": "web"}, ZONE), pod("p2").on("b1").prefers_pods(3, {"app": "web"}, HOST)],
        {"hardPodAffinityWeight": 0},
        raw(0, 0, 3),
    ),
    (
        "a pod with preferences still hears those of running pods that it might ignore",
        WEB.prefers_pods(5, {"app": "db"}, HOST),
        [DB.on("a1").prefers_pods(9, {"app": "web"}, ZONE)],
        {"ignorePreferredTermsOfExistingPods": True},
        raw(14, 9, 0),
    ),
    (
        "preferences that cancel each other still count as preferences",
        WEB.prefers_pods(5, {"app": "db"}, ZONE).avoids_pods(5, {"app": "db"}, ZONE),
        [DB.on("a1")],
        {},
        raw(0, 0, 0),
    ),
]


@pytest.mark.parametrize(
    ("new", "running", "args", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_weights_are_added_up_over_domains(
    new: PodBuilder, running: list[PodBuilder], args: dict[str, Any], expected: dict[str, int]
) -> None:
    assert scores(new, running, **args) == expected


SKIPPED: list[tuple[str, PodBuilder, list[PodBuilder], dict[str, Any]]] = [
    ("nobody prefers anything", WEB, [DB.on("a1")], {}),
    ("no pod is what it prefers", WEB.prefers_pods(5, {"app": "cache"}, ZONE), [DB.on("a1")], {}),
    ("the preferred pod is in no zone", WEB.prefers_pods(5, {"app": "db"}, ZONE), [DB.on("bare")], {}),
    (
        "preferences of running pods are ignored",
        WEB,
        [DB.on("a1").prefers_pods(9, {"app": "web"}, ZONE).affinity({"app": "web"}, ZONE)],
        {"ignorePreferredTermsOfExistingPods": True},
    ),
    (
        "required affinity of running pods weighs 0",
        WEB,
        [DB.on("a1").affinity({"app": "web"}, ZONE)],
        {"hardPodAffinityWeight": 0},
    ),
    (
        "required terms of its own do not score",
        WEB.affinity({"app": "db"}, ZONE).anti_affinity({"x": "y"}, HOST),
        [DB.on("a1")],
        {},
    ),
]


@pytest.mark.parametrize(("new", "running", "args"), [case[1:] for case in SKIPPED], ids=[case[0] for case in SKIPPED])
def test_scoring_is_left_out_when(new: PodBuilder, running: list[PodBuilder], args: dict[str, Any]) -> None:
    assert scores(new, running, **args) == {}


@pytest.mark.parametrize(
    ("raw_scores", "expected"),
    [([-5, 0, 5], [0, 50, 100]), ([3, 3, 3], [0, 0, 0]), ([0, 1, 3], [0, 33, 100]), ([-7, -2, -4], [0, 100, 60])],
)
def test_normalised_scores_span_0_to_100(raw_scores: list[int], expected: list[int]) -> None:
    plugin = make(InterPodAffinity)
    rows = np.arange(3)
    assert plugin.normalize(CycleState(), WEB.build(), np.array(raw_scores, np.int64), rows).tolist() == expected


def test_namespaces_of_preferred_terms_are_looked_up() -> None:
    elsewhere = DB.namespace("other").on("b1")
    assert scores(WEB.prefers_pods(5, {"app": "db"}, HOST), [elsewhere]) == {}
    assert scores(WEB.prefers_pods(5, {"app": "db"}, HOST, ns_selector={}), [elsewhere]) == raw(0, 0, 5)
    assert scores(WEB.prefers_pods(5, {"app": "db"}, HOST, namespaces=["other"]), [elsewhere]) == raw(0, 0, 5)


def test_a_selector_that_cannot_be_read_is_an_error() -> None:
    new = WEB.prefers_pods(5, {}, ZONE, expressions=[("app", "Near", "db")])
    with pytest.raises(AssertionError, match="pre_score said Error: failed to parse pod"):
        scores(new, [])
