"""
PodTopologySpread.score and normalize: domains with fewer matching pods score higher.

Raw scores are written out next to the expected ones: a domain is worth pods * ln(domains + 2) + maxSkew - 1.
"""

from __future__ import annotations

import numpy as np
import pytest

from bayplan.framework import CycleState
from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.plugins.pod_topology_spread import PodTopologySpread, scoring
from bayplan.testing import cluster, make, node, pod, run_score
from bayplan.testing.builders import NodeBuilder, PodBuilder

WEB = pod("new").label(app="web")
NODES = [node("a1").zone("a"), node("a2").zone("a"), node("b1").zone("b")]
RUNNING = [pod(f"p{number}").label(app="web").on(name) for number, name in enumerate(("a1", "a1", "b1"))]


def scores(
    new: PodBuilder,
    nodes: list[NodeBuilder] = NODES,
    running: list[PodBuilder] = RUNNING,
    *,
    normalize: bool = True,
    feasible: list[str] | None = None,
) -> dict[str, int]:
    cache = cluster(nodes, running)
    return run_score(make(PodTopologySpread, cache), new, cache, normalize=normalize, feasible=feasible)


RAW = [
    # 2 * ln 4 = 2.77, ln 4 = 1.39
    ("zones are weighed by ln(2 + 2)", WEB.spread(ZONE, 1, hard=False), {"a1": 3, "a2": 3, "b1": 1}),
    # 4 more everywhere: 6.77, 5.39
    ("maxSkew 5 adds 4", WEB.spread(ZONE, 5, hard=False), {"a1": 7, "a2": 7, "b1": 5}),
    # ln 5 = 1.61 for three hosts: 3.22, 0, 1.61
    ("hosts count their own pods", WEB.spread(HOST, 1, hard=False), {"a1": 3, "a2": 0, "b1": 2}),
    # 2.77 + 3.22, 2.77, 1.39 + 1.61
    (
        "constraints are added before rounding",
        WEB.spread(ZONE, 1, hard=False).spread(HOST, 1, hard=False),
        {"a1": 6, "a2": 3, "b1": 3},
    ),
    ("an empty selector counts nothing", WEB.spread(ZONE, 1, hard=False, selector={}), {"a1": 0, "a2": 0, "b1": 0}),
    ("other namespaces do not count", WEB.namespace("x").spread(HOST, 1, hard=False), {"a1": 0, "a2": 0, "b1": 0}),
]


@pytest.mark.parametrize(("new", "expected"), [case[1:] for case in RAW], ids=[case[0] for case in RAW])
def test_raw_scores_grow_with_pods(new: PodBuilder, expected: dict[str, int]) -> None:
    assert scores(new, normalize=False) == expected


def test_terminating_pods_do_not_count() -> None:
    running = [each.terminating() for each in RUNNING]
    assert scores(WEB.spread(ZONE, 1, hard=False), running=running, normalize=False) == {"a1": 0, "a2": 0, "b1": 0}
    assert scores(WEB.spread(HOST, 1, hard=False), running=running, normalize=False) == {"a1": 0, "a2": 0, "b1": 0}


def test_the_emptiest_domain_scores_100() -> None:
    assert scores(WEB.spread(ZONE, 1, hard=False)) == {"a1": 33, "a2": 33, "b1": 100}


def test_weights_follow_the_feasible_nodes_and_counts_follow_all() -> None:
    """Only zone a is feasible: its weight is ln 3 = 1.1, and both its pods count though a1 is not feasible."""
    assert scores(WEB.spread(ZONE, 1, hard=False), feasible=["a2"], normalize=False) == {"a2": 2}
    assert scores(WEB.spread(HOST, 1, hard=False), feasible=["a1", "b1"], normalize=False) == {"a1": 3, "b1": 1}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ([4, 2, 0], [0, 50, 100]),
        ([6, 4, 2], [33, 66, 100]),
        ([5, 5, 5], [100, 100, 100]),
        ([0, 0, 0], [100, 100, 100]),
    ],
)
def test_normalised_scores_are_turned_round(raw: list[int], expected: list[int]) -> None:
    spread = scoring.SoftSpread((), (), True, None)
    rows = np.arange(3)
    assert scoring.normalize(spread, np.array(raw, np.int64), rows).tolist() == expected


def test_nodes_that_lack_a_key_are_left_out_and_get_0() -> None:
    """bare takes part neither in the weight (ln 5 for three hosts) nor in the maximum."""
    nodes = [*NODES, node("bare")]
    running = [*RUNNING, *(pod(f"q{number}").label(app="web").on("bare") for number in range(9))]
    new = WEB.spread(ZONE, 1, hard=False).spread(HOST, 1, hard=False)
    assert scores(new, nodes, running, normalize=False) == {"a1": 6, "a2": 3, "b1": 3, "bare": 0}
    assert scores(new, nodes, running) == {"a1": 50, "a2": 100, "b1": 100, "bare": 0}


def test_when_all_feasible_nodes_lack_a_key_all_get_0() -> None:
    assert scores(WEB.spread("rack", 1, hard=False)) == {"a1": 0, "a2": 0, "b1": 0}


def test_nodes_outside_the_policies_are_not_counted_in_zones_but_are_on_hosts() -> None:
    nodes = [node("a1").zone("a"), node("a2").zone("a").label(pool="x"), node("b1").zone("b").label(pool="x")]
    new = WEB.node_selector(pool="x")
    assert scores(new.spread(ZONE, 1, hard=False), nodes, normalize=False) == {"a1": 0, "a2": 0, "b1": 1}
    assert scores(new.spread(HOST, 1, hard=False), nodes, normalize=False) == {"a1": 3, "a2": 0, "b1": 2}


def test_tainted_nodes_are_not_counted_where_taints_are_honoured() -> None:
    nodes = [node("a1").zone("a").taint("x"), *NODES[1:]]
    honoured = WEB.spread(ZONE, 1, hard=False, node_taints_policy="Honor")
    assert scores(honoured, nodes, normalize=False) == {"a1": 0, "a2": 0, "b1": 1}


def test_both_forms_score_alike() -> None:
    cache = cluster([*NODES, node("bare")], RUNNING)
    plugin, state = make(PodTopologySpread, cache), CycleState()
    new = WEB.spread(ZONE, 2, hard=False).spread(HOST, 3, hard=False).build()
    assert plugin.pre_score(state, new, cache.nodes, np.arange(4)) is None
    one_by_one = [plugin.score_node(state, new, cache.nodes.node(row)) for row in range(4)]
    assert plugin.score(state, new, cache.nodes).tolist() == one_by_one


@pytest.mark.parametrize("new", [WEB, WEB.spread(ZONE)], ids=["no constraint", "DoNotSchedule alone"])
def test_a_pod_without_soft_constraints_is_skipped(new: PodBuilder) -> None:
    assert scores(new) == {}
