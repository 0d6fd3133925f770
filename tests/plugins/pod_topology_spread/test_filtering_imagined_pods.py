"""
PodTopologySpread when pods are imagined on nodes or gone from them: add_pod, remove_pod and clones.

Preemption and nominated pods do this, always to a clone of the cycle state and an imagined node.
"""

from __future__ import annotations

import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.framework import CycleState
from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.objects.pod import Pod
from bayplan.plugins.pod_topology_spread import PodTopologySpread
from bayplan.testing import cluster, make, node, pod
from bayplan.testing.builders import PodBuilder

NODES = [node("a1").zone("a"), node("b1").zone("b"), node("bare"), node("t1").zone("b").taint("x")]
WEB = pod("new").label(app="web")


class Imagined:
    """One pod's cycle, with changes imagined on one node at a time."""

    def __init__(self, new: PodBuilder, running: list[PodBuilder]) -> None:
        self.cache: ClusterCache = cluster(NODES, running)
        self.plugin = make(PodTopologySpread, self.cache)
        self.pod = new.build()
        self.state = CycleState()
        assert self.plugin.pre_filter(self.state, self.pod, self.cache.nodes) is None

    def node(self, name: str) -> WhatIfNode:
        row = self.cache.nodes.row_of(name)
        assert row is not None
        return WhatIfNode(self.cache.nodes.node(row))

    def fits(self, state: CycleState, name: str) -> bool:
        """Asked in both forms, which must agree."""
        one = self.plugin.filter_node(state, self.pod, self.node(name)) is None
        assert one == (int(self.plugin.filter(state, self.pod, self.node(name).as_table())[0]) == 0)
        return one

    def with_pod(self, other: Pod, name: str) -> CycleState:
        state = self.state.clone()
        self.plugin.add_pod(state, self.pod, other, self.node(name))
        return state

    def without_pod(self, other: Pod, name: str) -> CycleState:
        state = self.state.clone()
        self.plugin.remove_pod(state, self.pod, other, self.node(name))
        return state


def test_a_victim_that_goes_makes_room() -> None:
    victim = pod("p1").label(app="web").on("a1")
    cycle = Imagined(WEB.spread(ZONE), [victim])
    assert not cycle.fits(cycle.state, "a1")
    assert cycle.fits(cycle.without_pod(victim.build(), "a1"), "a1")


def test_an_imagined_pod_fills_a_domain_and_lifts_the_minimum() -> None:
    cycle = Imagined(WEB.spread(ZONE), [pod("p1").label(app="web").on("a1")])
    state = cycle.with_pod(pod("p2").label(app="web").build(), "b1")
    assert cycle.fits(state, "a1")
    assert cycle.fits(state, "b1")
    cycle.plugin.add_pod(state, cycle.pod, pod("p3").label(app="web").build(), cycle.node("b1"))
    assert cycle.fits(state, "a1")
    assert not cycle.fits(state, "b1")


def test_a_clone_leaves_the_state_it_came_from_alone() -> None:
    cycle = Imagined(WEB.spread(ZONE), [pod("p1").label(app="web").on("a1")])
    cycle.with_pod(pod("p2").label(app="web").build(), "b1")
    assert not cycle.fits(cycle.state, "a1")


UNCOUNTED = [
    ("of another namespace", pod("p2").label(app="web").namespace("other"), "b1", WEB.spread(ZONE)),
    ("with other labels", pod("p2").label(app="db"), "b1", WEB.spread(ZONE)),
    ("on a node without the key", pod("p2").label(app="web"), "bare", WEB.spread(ZONE)),
    ("on a node whose taints count", pod("p2").label(app="web"), "t1", WEB.spread(ZONE, node_taints_policy="Honor")),
    ("on a node outside the affinity", pod("p2").label(app="web"), "b1", WEB.node_selector({ZONE: "a"}).spread(ZONE)),
]


@pytest.mark.parametrize(("other", "on", "new"), [each[1:] for each in UNCOUNTED], ids=[each[0] for each in UNCOUNTED])
def test_an_imagined_pod_is_not_counted(other: PodBuilder, on: str, new: PodBuilder) -> None:
    cycle = Imagined(new, [pod("p1").label(app="web").on("a1")])
    before = [cycle.fits(cycle.state, each) for each in ("a1", "b1")]
    state = cycle.with_pod(other.build(), on)
    assert [cycle.fits(state, each) for each in ("a1", "b1")] == before


def test_a_terminating_pod_counts_when_it_is_imagined_gone() -> None:
    """It was not counted to begin with, so zone a goes to -1 and becomes the new minimum, as upstream."""
    leaving = pod("p0").label(app="web").on("a1").terminating()
    cycle = Imagined(WEB.spread(ZONE, 1), [leaving])
    assert cycle.fits(cycle.state, "b1")
    assert not cycle.fits(cycle.without_pod(leaving.build(), "a1"), "b1")


def test_an_empty_selector_counts_imagined_pods() -> None:
    cycle = Imagined(WEB.spread(ZONE, 1, selector={}), [])
    assert not cycle.fits(cycle.with_pod(pod("p2").build(), "a1"), "a1")
