"""TaintToleration: hard taints keep pods off, soft ones count against a node, changed taints bring pods back."""

from __future__ import annotations

import pytest

from bayplan.framework import Change, Code
from bayplan.plugins.taint_toleration import TaintToleration
from bayplan.testing import NodeBuilder, PodBuilder, cluster, make, node, pod, reasons, run_filter, run_score

TEXT = "node(s) had untolerated taint(s)"
SOFT = "PreferNoSchedule"


@pytest.mark.parametrize(
    ("asked", "tainted", "passes"),
    [
        (pod("a"), node("n"), True),
        (pod("a"), node("n").taint("k", "v", "NoSchedule"), False),
        (pod("a"), node("n").taint("k", "v", "NoExecute"), False),
        (pod("a"), node("n").taint("k", "v", SOFT), True),
        (pod("a").tolerates("k", "v"), node("n").taint("k", "v"), True),
        (pod("a").tolerates("k", "w"), node("n").taint("k", "v"), False),
        (pod("a").tolerates("k"), node("n").taint("k", "v"), True),
        (pod("a").tolerates("k", "v", "NoExecute"), node("n").taint("k", "v"), False),
        (pod("a").tolerates("k"), node("n").taint("k").taint("other"), False),
        (pod("a").tolerates(), node("n").taint("k").taint("other", effect="NoExecute"), True),
        (pod("a").tolerates("k", "1", operator="Gt"), node("n").taint("k", "2"), False),
        (pod("a").tolerates("k", operator="Equal"), node("n").taint("k"), True),
    ],
)
def test_every_hard_taint_must_be_tolerated(asked: PodBuilder, tainted: NodeBuilder, passes: bool) -> None:
    statuses = run_filter(make(TaintToleration), asked, cluster([tainted]))
    assert reasons(statuses) == ({} if passes else {"n": [TEXT]})
    assert passes or statuses["n"].code is Code.UNRESOLVABLE  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("soft_taints", "asked", "raw", "scores"),
    [
        ([0, 0, 0], pod("a"), [0, 0, 0], [100, 100, 100]),
        ([0, 1, 2], pod("a"), [0, 1, 2], [100, 50, 0]),
        ([0, 1, 3], pod("a"), [0, 1, 3], [100, 67, 0]),
        ([1, 1, 1], pod("a"), [1, 1, 1], [0, 0, 0]),
        ([0, 1, 2], pod("a").tolerates("k0"), [0, 0, 1], [100, 100, 0]),
        ([0, 1, 2], pod("a").tolerates("k0", effect="NoSchedule"), [0, 1, 2], [100, 50, 0]),
        ([0, 1, 2], pod("a").tolerates(effect=SOFT), [0, 0, 0], [100, 100, 100]),
    ],
)
def test_soft_taints_count_against_a_node(
    soft_taints: list[int], asked: PodBuilder, raw: list[int], scores: list[int]
) -> None:
    nodes = []
    for number, count in enumerate(soft_taints):
        made = node(f"n{number}").taint("hard")
        for taint in range(count):
            made = made.taint(f"k{taint}", "v", SOFT)
        nodes.append(made)
    cache = cluster(nodes)
    assert list(run_score(make(TaintToleration), asked, cache, normalize=False).values()) == raw
    assert list(run_score(make(TaintToleration), asked, cache).values()) == scores


def test_only_feasible_nodes_count_for_the_scale() -> None:
    one = node("n1").taint("a", effect=SOFT)
    two = node("n2").taint("a", effect=SOFT).taint("b", effect=SOFT)
    cache = cluster([node("n0"), one, two])
    assert run_score(make(TaintToleration), pod("a"), cache, feasible=["n0", "n1"]) == {"n0": 100, "n1": 0}


@pytest.mark.parametrize(
    ("old", "new", "helps"),
    [
        (None, node("n"), True),
        (None, node("n").taint("k"), False),
        (None, node("n").taint("mine"), True),
        (node("n").taint("k"), node("n"), True),
        (node("n").taint("k"), node("n").taint("mine"), True),
        (node("n").taint("k"), node("n").taint("k2"), False),
        (node("n"), node("n").taint("k", effect=SOFT), False),
    ],
)
def test_nodes_whose_taints_suit_now_bring_pods_back(old: NodeBuilder | None, new: NodeBuilder, helps: bool) -> None:
    rule = make(TaintToleration).requeue_on()[0]
    assert (rule.kind, rule.change) == ("Node", Change.ADDED | Change.TAINT)
    assert rule.hint is not None
    assert rule.hint(pod("a").tolerates("mine").build(), old.build() if old else None, new.build()) is helps


def test_any_change_of_its_own_tolerations_brings_a_pod_back() -> None:
    rule = make(TaintToleration).requeue_on()[1]
    asked = pod("a").build()
    assert (rule.kind, rule.change) == ("Pod", Change.POD_TOLERATION)
    assert rule.hint is not None
    assert rule.hint(asked, asked, pod("a").tolerates("x").build())
    assert not rule.hint(asked, asked, pod("b").tolerates("x").build())
