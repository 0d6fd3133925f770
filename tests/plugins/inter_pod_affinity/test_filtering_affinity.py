"""
Required pod affinity in InterPodAffinity.filter.

Covers: domains, one pod for all terms, missing labels, the first pod of its kind, terminating pods.
"""

from __future__ import annotations

import pytest

from bayplan.framework import SKIP, CycleState
from bayplan.framework.status import as_status
from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.plugins.inter_pod_affinity import InterPodAffinity
from bayplan.testing import cluster, make, node, pod, reasons, run_filter
from bayplan.testing.builders import PodBuilder

AFFINITY = "node(s) didn't match pod affinity rules"
NODES = [node("a1").zone("a"), node("a2").zone("a"), node("b1").zone("b"), node("bare")]
NEW = pod("new").label(app="web")
DB = pod("db").label(app="db", tier="back")

CASES: list[tuple[str, PodBuilder, list[PodBuilder], set[str]]] = [
    ("the whole zone of a matching pod will do", NEW.affinity({"app": "db"}, ZONE), [DB.on("a1")], {"b1", "bare"}),
    ("by hostname only its node will do", NEW.affinity({"app": "db"}, HOST), [DB.on("a1")], {"a2", "b1", "bare"}),
    ("no matching pod, no node", NEW.affinity({"app": "db"}, ZONE), [], {"a1", "a2", "b1", "bare"}),
    (
        "a pod of another namespace is not meant",
        NEW.affinity({"app": "db"}, ZONE),
        [DB.namespace("x").on("a1")],
        {"a1", "a2", "b1", "bare"},
    ),
    ("a terminating pod still counts", NEW.affinity({"app": "db"}, ZONE), [DB.on("a1").terminating()], {"b1", "bare"}),
    (
        "one pod must satisfy both terms",
        NEW.affinity({"app": "db"}, ZONE).affinity({"tier": "back"}, ZONE),
        [pod("p1").label(app="db").on("a1"), pod("p2").label(tier="back").on("a2"), DB.on("b1")],
        {"a1", "a2", "bare"},
    ),
    (
        "one pod for both terms counts in the domain of each",
        NEW.affinity({"app": "db"}, ZONE).affinity({"tier": "back"}, HOST),
        [DB.on("a1")],
        {"a2", "b1", "bare"},
    ),
    (
        "a selector that is not written matches nothing",
        NEW.affinity(None, ZONE),
        [DB.on("a1")],
        {"a1", "a2", "b1", "bare"},
    ),
    (
        "an empty selector matches all pods of the namespace",
        NEW.affinity({}, ZONE),
        [pod("p").on("b1")],
        {"a1", "a2", "bare"},
    ),
    ("the first of its kind may go anywhere with the label", NEW.affinity({"app": "web"}, ZONE), [], {"bare"}),
    (
        "the second goes beside the first",
        NEW.affinity({"app": "web"}, ZONE),
        [pod("p").label(app="web").on("b1")],
        {"a1", "a2", "bare"},
    ),
    (
        "it is not the first while a matching pod is on any node with the label",
        NEW.affinity({"app": "web"}, ZONE).affinity({"app": "web"}, HOST),
        [pod("p").label(app="web").on("bare")],
        {"a1", "a2", "b1", "bare"},
    ),
    (
        "a matching pod on a node without the label is nowhere",
        NEW.affinity({"app": "web"}, ZONE),
        [pod("p").label(app="web").on("bare")],
        {"bare"},
    ),
    (
        "the first of its kind must match all its own terms",
        NEW.affinity({"app": "web"}, ZONE).affinity({"tier": "front"}, ZONE),
        [],
        {"a1", "a2", "b1", "bare"},
    ),
]


@pytest.mark.parametrize(("new", "running", "rejected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_nodes_outside_the_needed_domains_are_rejected(
    new: PodBuilder, running: list[PodBuilder], rejected: set[str]
) -> None:
    cache = cluster(NODES, running)
    found = run_filter(make(InterPodAffinity, cache), new, cache)
    assert reasons(found) == {name: [AFFINITY] for name in rejected}
    codes = {status.code.title for status in found.values() if status is not None}
    assert codes <= {"UnschedulableAndUnresolvable"}


def test_a_pod_without_terms_among_pods_without_terms_is_skipped() -> None:
    cache = cluster(NODES, [DB.on("a1")])
    assert make(InterPodAffinity, cache).pre_filter(CycleState(), NEW.build(), cache.nodes) is SKIP


def test_a_selector_that_cannot_be_read_rejects_the_pod() -> None:
    cache = cluster(NODES)
    new = NEW.affinity({}, ZONE, expressions=[("app", "Near", "db")])
    status = as_status(make(InterPodAffinity, cache).pre_filter(CycleState(), new.build(), cache.nodes))
    assert status.code.title == "UnschedulableAndUnresolvable"
    assert status.message.startswith('parsing pod: "Near" is not an operator')
