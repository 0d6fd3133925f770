"""LeafNodeTaintToleration: the taint of leaf nodes is tolerated by everybody, all others as usual."""

from __future__ import annotations

import pytest

from bayplan.framework import Change, Code
from bayplan.plugins.leaf_node_taint_toleration import LeafNodeTaintToleration
from bayplan.testing import NodeBuilder, PodBuilder, cluster, make, node, pod, reasons, run_filter

TEXT = "node(s) had untolerated taint(s)"
LEAF = "kosmos.io/node"


@pytest.mark.parametrize(
    ("asked", "tainted", "passes"),
    [
        (pod("a"), node("n"), True),
        (pod("a"), node("n").taint(LEAF, "true", "NoSchedule"), True),
        (pod("a"), node("n").taint(LEAF, "other", "NoSchedule"), True),
        (pod("a"), node("n").taint(LEAF, "true", "NoExecute"), False),
        (pod("a").tolerates(LEAF, "true", "NoExecute"), node("n").taint(LEAF, "true", "NoExecute"), True),
        (pod("a"), node("n").taint(LEAF, "true").taint("gpu"), False),
        (pod("a").tolerates("gpu"), node("n").taint(LEAF, "true").taint("gpu"), True),
        (pod("a"), node("n").taint("k", effect="PreferNoSchedule"), True),
        (pod("a"), node("n").taint("k", "v", "NoSchedule"), False),
    ],
)
def test_leaf_nodes_are_open_to_every_pod(asked: PodBuilder, tainted: NodeBuilder, passes: bool) -> None:
    statuses = run_filter(make(LeafNodeTaintToleration), asked, cluster([tainted]))
    assert reasons(statuses) == ({} if passes else {"n": [TEXT]})
    assert passes or statuses["n"].code is Code.UNRESOLVABLE  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("old", "new", "helps"),
    [
        (None, node("n").taint(LEAF, "true"), True),
        (None, node("n").taint("k"), False),
        (node("n").taint("k"), node("n").taint(LEAF), True),
        (node("n"), node("n").taint(LEAF), False),
    ],
)
def test_nodes_whose_taints_suit_now_bring_pods_back(old: NodeBuilder | None, new: NodeBuilder, helps: bool) -> None:
    rule = make(LeafNodeTaintToleration).requeue_on()[0]
    assert (rule.kind, rule.change) == ("Node", Change.ADDED | Change.TAINT)
    assert rule.hint is not None
    assert rule.hint(pod("a").build(), old.build() if old else None, new.build()) is helps


def test_its_own_tolerations_bring_a_pod_back() -> None:
    rule = make(LeafNodeTaintToleration).requeue_on()[1]
    assert rule.hint is not None
    assert rule.hint(pod("a").build(), None, pod("a").tolerates("x").build())
    assert not rule.hint(pod("a").build(), None, pod("b").build())
