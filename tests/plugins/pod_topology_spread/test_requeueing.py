"""Which changes bring back a pod that PodTopologySpread rejected."""

from __future__ import annotations

import pytest

from bayplan.framework import Change
from bayplan.framework.events import ASSIGNED_POD_ADD, ClusterEvent
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.plugins.pod_topology_spread import PodTopologySpread
from bayplan.testing import make, node, pod
from bayplan.testing.builders import NodeBuilder, PodBuilder

WAITING = pod("waiting").label(app="web").spread(ZONE).spread("rack", selector={"tier": "front"})
WEB = pod("p").label(app="web").on("n1")

PODS: list[tuple[str, PodBuilder | None, PodBuilder | None, bool]] = [
    ("a counted pod came", None, WEB, True),
    ("one that only the second constraint counts came", None, pod("p").label(tier="front").on("n1"), True),
    ("a pod nobody counts came", None, pod("p").label(app="db").on("n1"), False),
    ("a counted pod went", WEB, None, True),
    ("a pod nobody counts went", pod("p").on("n1"), None, False),
    ("a pod of another namespace went", WEB.namespace("other"), None, False),
    ("a pod that was on no node went", pod("p").label(app="web"), None, False),
    ("a nominated pod went", pod("p").label(app="web").nominated("n1"), None, True),
    ("a pod is counted now", pod("p").label(app="db").on("n1"), WEB, True),
    ("a pod is not counted any more", WEB, WEB.label(app="db"), True),
    ("labels changed that no constraint reads", WEB, WEB.label(color="red"), False),
    ("the waiting pod got a label the selector reads", WAITING, WAITING.label(tier="front"), True),
    ("the waiting pod tolerates more, but taints are ignored", WAITING, WAITING.tolerates("x"), False),
]


@pytest.mark.parametrize(("old", "new", "expected"), [case[1:] for case in PODS], ids=[case[0] for case in PODS])
def test_a_pod_event_helps_if_it_changes_a_count(
    old: PodBuilder | None, new: PodBuilder | None, expected: bool
) -> None:
    assert _pod_hint(WAITING, old, new) is expected


def test_new_tolerations_help_where_taints_are_honoured() -> None:
    waiting = pod("waiting").label(app="web").spread(ZONE, node_taints_policy="Honor")
    assert _pod_hint(waiting, waiting, waiting.tolerates("x"))
    assert not _pod_hint(waiting, WEB, WEB.tolerates("x"))


COMPLETE = node("n1").zone("a").label(rack="1")

NODES: list[tuple[str, NodeBuilder | None, NodeBuilder | None, bool]] = [
    ("a node with every key came", None, COMPLETE, True),
    ("a node that lacks a key came", None, node("n1").zone("a"), False),
    ("a node with every key went", COMPLETE, None, True),
    ("a node that lacked a key went", node("n1"), None, False),
    ("a node got its last key", node("n1").zone("a"), COMPLETE, True),
    ("a node lost a key", COMPLETE, node("n1").zone("a"), True),
    ("a node moved to another zone", COMPLETE, COMPLETE.zone("b"), True),
    ("another label changed", COMPLETE, COMPLETE.label(color="red"), False),
    ("a node got a taint", COMPLETE, COMPLETE.taint("x"), True),
    ("a node that lacks a key got a taint", node("n1"), node("n1").taint("x"), False),
]


@pytest.mark.parametrize(("old", "new", "expected"), [case[1:] for case in NODES], ids=[case[0] for case in NODES])
def test_a_node_event_helps_if_it_changes_the_domains(
    old: NodeBuilder | None, new: NodeBuilder | None, expected: bool
) -> None:
    assert _node_hint(WAITING, old, new) is expected


def test_a_pod_whose_selector_cannot_be_read_is_always_tried_again() -> None:
    waiting = pod("waiting").spread(ZONE, expressions=[("app", "Near", "web")])
    assert _pod_hint(waiting, None, WEB)
    assert _node_hint(waiting, None, node("n1"))


def test_it_asks_for_the_events_that_can_change_a_count() -> None:
    pods, nodes = make(PodTopologySpread).requeue_on()
    assert pods.matches(ASSIGNED_POD_ADD)
    assert pods.matches(ClusterEvent("AssignedPod", Change.POD_LABEL))
    assert pods.matches(ClusterEvent("UnschedulablePod", Change.POD_TOLERATION))
    assert not pods.matches(ClusterEvent("AssignedPod", Change.POD_SCALE_DOWN))
    assert nodes.matches(ClusterEvent("Node", Change.DELETED))
    assert nodes.matches(ClusterEvent("Node", Change.TAINT))
    assert not nodes.matches(ClusterEvent("Node", Change.ALLOCATABLE))


def _pod_hint(waiting: PodBuilder, old: PodBuilder | None, new: PodBuilder | None) -> bool:
    hint = make(PodTopologySpread).requeue_on()[0].hint
    assert hint is not None
    return hint(waiting.build(), old.build() if old else None, new.build() if new else None)


def _node_hint(waiting: PodBuilder, old: NodeBuilder | None, new: NodeBuilder | None) -> bool:
    hint = make(PodTopologySpread).requeue_on()[1].hint
    assert hint is not None
    return hint(waiting.build(), old.build() if old else None, new.build() if new else None)
