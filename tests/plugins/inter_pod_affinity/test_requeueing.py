"""Which changes bring back a pod that InterPodAffinity rejected."""

from __future__ import annotations

import pytest

from bayplan.framework import Change
from bayplan.framework.events import ASSIGNED_POD_DELETE, ClusterEvent
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.plugins.inter_pod_affinity import InterPodAffinity
from bayplan.testing import make, node, pod
from bayplan.testing.builders import NodeBuilder, PodBuilder

WAITING = pod("waiting").label(app="web")
NEEDS = WAITING.affinity({"app": "db"}, ZONE)
SHUNS = WAITING.anti_affinity({"app": "db"}, ZONE)
DB = pod("p").label(app="db").on("n1")
OTHER = pod("p").label(app="cache").on("n1")

PODS: list[tuple[str, PodBuilder, PodBuilder | None, PodBuilder | None, bool]] = [
    ("its own labels changed", WAITING, WAITING, WAITING.label(app="db"), True),
    ("a pod it needs came", NEEDS, None, DB, True),
    ("a nominated pod it needs came", NEEDS, None, pod("p").label(app="db").nominated("n1"), True),
    ("a pod it needs came, on no node yet", NEEDS, None, pod("p").label(app="db"), False),
    ("a pod it does not need came", NEEDS, None, OTHER, False),
    ("a pod with half of what it needs came", NEEDS.affinity({"tier": "back"}, ZONE), None, DB, False),
    ("a pod of another namespace came", NEEDS, None, DB.namespace("x"), False),
    ("a pod it shuns came", SHUNS, None, DB, False),
    ("a pod turned into what it needs", NEEDS, OTHER, DB, True),
    ("a pod it needs stayed what it was", NEEDS, DB, DB.label(color="red"), False),
    ("a pod it shuns turned into another", SHUNS, DB, OTHER, True),
    ("a pod turned into what it shuns", SHUNS, OTHER, DB, False),
    ("a pod it shuns went", SHUNS, DB, None, True),
    ("a pod it does not shun went", SHUNS, OTHER, None, False),
    ("a pod it needs went", NEEDS, DB, None, False),
    ("a pod that shunned it went", WAITING, OTHER.anti_affinity({"app": "web"}, ZONE), None, True),
    ("a pod that shunned others went", WAITING, OTHER.anti_affinity({"app": "x"}, ZONE), None, False),
    (
        "namespace selectors are not looked up",
        NEEDS.affinity({"app": "db"}, ZONE, ns_selector={"a": "b"}),
        None,
        DB,
        False,
    ),
    ("a selector that cannot be read", WAITING.affinity({}, ZONE, expressions=[("a", "Near", "b")]), None, DB, True),
]


@pytest.mark.parametrize(
    ("waiting", "old", "new", "expected"), [case[1:] for case in PODS], ids=[case[0] for case in PODS]
)
def test_a_pod_event_helps_if_it_brings_the_needed_or_takes_the_shunned(
    waiting: PodBuilder, old: PodBuilder | None, new: PodBuilder | None, expected: bool
) -> None:
    hint = make(InterPodAffinity).requeue_on()[0].hint
    assert hint is not None
    assert hint(waiting.build(), old.build() if old else None, new.build() if new else None) is expected


BARE, A, B = node("n1"), node("n1").zone("a"), node("n1").zone("b")

NODES: list[tuple[str, PodBuilder, NodeBuilder | None, NodeBuilder, bool]] = [
    ("a node with the key it needs came", NEEDS, None, A, True),
    ("a node without the key it needs came", NEEDS, None, BARE, False),
    ("any node came for one that shuns", SHUNS, None, BARE, True),
    ("a node came for a pod without terms", WAITING, None, A, False),
    ("a node got the key it needs", NEEDS, BARE, A, True),
    ("a node moved to another zone", NEEDS, A, B, True),
    ("a node lost the key it needs", NEEDS, A, BARE, False),
    ("a node with shunned pods left the topology", SHUNS, A, BARE, True),
    ("a node moved away from shunned pods", SHUNS, A, B, True),
    ("a node joined the topology of shunned pods", SHUNS, BARE, A, False),
    ("another label changed", NEEDS.anti_affinity({"x": "y"}, ZONE), A, A.label(color="red"), False),
    ("a selector that cannot be read", WAITING.affinity({}, ZONE, expressions=[("a", "Near", "b")]), A, A, True),
]


@pytest.mark.parametrize(
    ("waiting", "old", "new", "expected"), [case[1:] for case in NODES], ids=[case[0] for case in NODES]
)
def test_a_node_event_helps_if_it_changes_a_topology(
    waiting: PodBuilder, old: NodeBuilder | None, new: NodeBuilder, expected: bool
) -> None:
    hint = make(InterPodAffinity).requeue_on()[1].hint
    assert hint is not None
    assert hint(waiting.build(), old.build() if old else None, new.build()) is expected


def test_it_asks_for_the_events_that_can_change_its_mind() -> None:
    pods, nodes = make(InterPodAffinity).requeue_on()
    assert pods.matches(ASSIGNED_POD_DELETE)
    assert pods.matches(ClusterEvent("UnschedulablePod", Change.POD_LABEL))
    assert not pods.matches(ClusterEvent("UnschedulablePod", Change.POD_TOLERATION))
    assert nodes.matches(ClusterEvent("Node", Change.ADDED))
    assert nodes.matches(ClusterEvent("Node", Change.LABEL))
    assert not nodes.matches(ClusterEvent("Node", Change.TAINT))
    assert not nodes.matches(ClusterEvent("Node", Change.DELETED))
