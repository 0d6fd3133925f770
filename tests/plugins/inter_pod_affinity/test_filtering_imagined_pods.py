"""InterPodAffinity when pods are imagined on nodes or gone from them: add_pod, remove_pod and clones."""

from __future__ import annotations

import msgspec
import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.framework import CycleState
from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.objects.workload import Namespace
from bayplan.plugins.inter_pod_affinity import InterPodAffinity
from bayplan.testing import cluster, make, node, pod
from bayplan.testing.builders import PodBuilder

NODES = [node("a1").zone("a"), node("a2").zone("a"), node("b1").zone("b"), node("bare")]
NAMES = ("a1", "a2", "b1", "bare")
WEB = pod("new").label(app="web")
DB = pod("p").label(app="db")
RED = msgspec.convert({"metadata": {"name": "default", "labels": {"team": "red"}}}, Namespace)


class Imagined:
    """One pod's cycle, with changes imagined on one node at a time."""

    def __init__(self, new: PodBuilder, running: list[PodBuilder]) -> None:
        self.cache: ClusterCache = cluster(NODES, running, [RED])
        self.plugin = make(InterPodAffinity, self.cache)
        self.pod = new.build()
        self.state = CycleState()
        assert self.plugin.pre_filter(self.state, self.pod, self.cache.nodes) is None

    def node(self, name: str) -> WhatIfNode:
        row = self.cache.nodes.row_of(name)
        assert row is not None
        return WhatIfNode(self.cache.nodes.node(row))

    def fitting(self, state: CycleState) -> set[str]:
        """Asked in both forms, which must agree."""
        one_by_one = {name for name in NAMES if self.plugin.filter_node(state, self.pod, self.node(name)) is None}
        codes = self.plugin.filter(state, self.pod, self.cache.nodes)
        assert one_by_one == {name for name, code in zip(self.cache.nodes.names, codes, strict=True) if not code}
        return one_by_one

    def after(self, other: PodBuilder, name: str, *, gone: bool = False) -> set[str]:
        state = self.state.clone()
        change = self.plugin.remove_pod if gone else self.plugin.add_pod
        change(state, self.pod, other.build(), self.node(name))
        return self.fitting(state)


ADDED: list[tuple[str, PodBuilder, PodBuilder, str, set[str]]] = [
    ("what it needs", WEB.affinity({"app": "db"}, ZONE), DB, "a1", {"a1", "a2"}),
    ("what it shuns", WEB.anti_affinity({"app": "db"}, ZONE), DB, "a1", {"b1", "bare"}),
    ("what it shuns, on a node without the label", WEB.anti_affinity({"app": "db"}, ZONE), DB, "bare", set(NAMES)),
    (
        "one that shuns it, under a key nobody had asked for",
        WEB.anti_affinity({"app": "cache"}, ZONE),
        DB.anti_affinity({"app": "web"}, HOST),
        "b1",
        {"a1", "a2", "bare"},
    ),
    (
        "one that shuns its namespace by label",
        WEB.anti_affinity({"app": "cache"}, ZONE),
        DB.namespace("x").anti_affinity({"app": "web"}, HOST, ns_selector={"team": "red"}),
        "b1",
        {"a1", "a2", "bare"},
    ),
    (
        "one that has half of what it needs",
        WEB.affinity({"app": "db"}, ZONE).affinity({"x": "y"}, ZONE),
        DB,
        "a1",
        set(),
    ),
    (
        "another of its kind ends the freedom of the first",
        WEB.affinity({"app": "web"}, ZONE),
        pod("p").label(app="web"),
        "b1",
        {"b1"},
    ),
]


@pytest.mark.parametrize(
    ("new", "other", "on", "expected"), [case[1:] for case in ADDED], ids=[case[0] for case in ADDED]
)
def test_a_pod_imagined_on_a_node_counts(new: PodBuilder, other: PodBuilder, on: str, expected: set[str]) -> None:
    assert Imagined(new, []).after(other, on) == expected


REMOVED: list[tuple[str, PodBuilder, PodBuilder, set[str], set[str]]] = [
    ("what it shuns", WEB.anti_affinity({"app": "db"}, ZONE), DB.on("a1"), {"b1", "bare"}, set(NAMES)),
    ("one that shuns it", WEB, DB.on("a1").anti_affinity({"app": "web"}, ZONE), {"b1", "bare"}, set(NAMES)),
    ("what it needs", WEB.affinity({"app": "db"}, ZONE), DB.on("a1"), {"a1", "a2"}, set()),
    (
        "the last of its kind makes it the first again",
        WEB.affinity({"app": "web"}, ZONE),
        pod("p").label(app="web").on("b1"),
        {"b1"},
        {"a1", "a2", "b1"},
    ),
]


@pytest.mark.parametrize(
    ("new", "other", "before", "after"), [case[1:] for case in REMOVED], ids=[case[0] for case in REMOVED]
)
def test_a_pod_imagined_gone_does_not(new: PodBuilder, other: PodBuilder, before: set[str], after: set[str]) -> None:
    cycle = Imagined(new, [other])
    assert cycle.fitting(cycle.state) == before
    assert cycle.after(other, other.build().node_name, gone=True) == after
    assert cycle.fitting(cycle.state) == before
