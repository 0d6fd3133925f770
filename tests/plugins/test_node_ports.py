"""NodePorts: which ports collide, and which deletions free one."""

from __future__ import annotations

import pytest

from bayplan.framework import SKIP, Change, Code, CycleState
from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.plugins.node_ports import PORT_TAKEN, NodePorts
from bayplan.testing import PodBuilder, cluster, make, node, pod, reasons, run_filter

TEXT = "node(s) didn't have free ports for the requested pod ports"

PAIRS = [
    ("the same port", pod("a").port(80), pod("b").port(80), True),
    ("another port", pod("a").port(80), pod("b").port(81), False),
    ("another protocol", pod("a").port(80), pod("b").port(80, protocol="UDP"), False),
    ("TCP written out", pod("a").port(80), pod("b").port(80, protocol="TCP"), True),
    ("different addresses", pod("a").port(80, ip="10.0.0.1"), pod("b").port(80, ip="10.0.0.2"), False),
    ("the same address", pod("a").port(80, ip="10.0.0.1"), pod("b").port(80, ip="10.0.0.1"), True),
    ("all addresses wanted", pod("a").port(80, ip="0.0.0.0"), pod("b").port(80, ip="10.0.0.2"), True),
    ("all addresses used", pod("a").port(80, ip="10.0.0.1"), pod("b").port(80), True),
    (":: is an address like any other", pod("a").port(80, ip="::"), pod("b").port(80, ip="10.0.0.1"), False),
    ("any of several ports", pod("a").port(80).port(81), pod("b").port(81), True),
    ("a sidecar's port", pod("a").sidecar(host_port=80), pod("b").port(80), True),
]


@pytest.mark.parametrize(("case", "asked", "there", "collides"), PAIRS, ids=[each[0] for each in PAIRS])
def test_ports_collide(case: str, asked: PodBuilder, there: PodBuilder, collides: bool) -> None:
    statuses = run_filter(make(NodePorts), asked, cluster([node("free"), node("busy")], [there.on("busy")]))
    assert reasons(statuses) == ({"busy": [TEXT]} if collides else {})
    assert not collides or statuses["busy"].code is Code.UNSCHEDULABLE  # type: ignore[union-attr]


def test_a_pod_without_host_ports_is_left_alone() -> None:
    plugin, cache = make(NodePorts), cluster([node("n")])
    assert plugin.pre_filter(CycleState(), pod("a").build(), cache.nodes) is SKIP


def test_a_port_used_twice_is_free_when_both_users_are_gone() -> None:
    cache = cluster([node("n")], [pod(name).port(80, ip=ip).on("n") for name, ip in (("x", "1.1.1.1"), ("y", ""))])
    asked, plugin = pod("a").port(80, ip="1.1.1.1"), make(NodePorts)
    for name, left in (("x", True), ("y", False)):
        cache.remove_pod(pod(name).build())
        assert bool(reasons(run_filter(plugin, asked, cache))) is left


def test_a_port_is_free_on_a_node_whose_user_is_imagined_gone() -> None:
    user = pod("x").port(80).on("n").build()
    cache = cluster([node("n")], [user])
    imagined, plugin, asked = WhatIfNode(cache.nodes.node(0)), make(NodePorts), pod("a").port(80).build()
    assert plugin.filter_node(CycleState(), asked, imagined) is PORT_TAKEN
    imagined.remove_pod(user)
    assert plugin.filter_node(CycleState(), asked, imagined) is None


@pytest.mark.parametrize(
    ("deleted", "helps"),
    [
        (pod("b").port(80).on("n"), True),
        (pod("b").port(80).nominated("n"), True),
        (pod("b").port(80), False),
        (pod("b").port(81).on("n"), False),
        (pod("b").on("n"), False),
    ],
)
def test_deleting_a_pod_that_held_the_port_brings_pods_back(deleted: PodBuilder, helps: bool) -> None:
    rule, nodes = make(NodePorts).requeue_on()
    assert (rule.kind, rule.change) == ("Pod", Change.DELETED)
    assert rule.hint is not None
    assert rule.hint(pod("a").port(80).build(), deleted.build(), None) is helps
    assert (nodes.kind, nodes.change, nodes.hint) == ("Node", Change.ADDED, None)
