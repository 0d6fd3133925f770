"""NodeName: a named node, and no other."""

from __future__ import annotations

import pytest

from bayplan.framework import Change, ClusterEvent, Code
from bayplan.plugins.node_name import NodeName
from bayplan.testing import PodBuilder, cluster, make, node, pod, reasons, run_filter

TEXT = "node(s) didn't match the requested node name"


@pytest.mark.parametrize(
    ("asked", "rejected"),
    [
        (pod("names-nobody"), set()),
        (pod("names-n2").on("n2"), {"n1", "n3"}),
        (pod("names-a-node-that-is-not-there").on("n9"), {"n1", "n2", "n3"}),
    ],
    ids=lambda case: case.build().name if isinstance(case, PodBuilder) else "",
)
def test_only_the_named_node_passes(asked: PodBuilder, rejected: set[str]) -> None:
    cache = cluster([node("n1"), node("n2"), node("n3")])
    assert reasons(run_filter(make(NodeName), asked, cache)) == {name: [TEXT] for name in rejected}


def test_the_no_cannot_be_resolved_by_evicting() -> None:
    cache = cluster([node("n1")])
    status = run_filter(make(NodeName), pod("a").on("n2"), cache)["n1"]
    assert status is not None
    assert status.code is Code.UNRESOLVABLE


def test_a_new_node_always_brings_the_pod_back() -> None:
    (rule,) = make(NodeName).requeue_on()
    assert rule.hint is None
    assert rule.matches(ClusterEvent("Node", Change.ADDED))
    assert not rule.matches(ClusterEvent("Node", Change.LABEL))
