"""Imagined nodes: what pods change on one node, seen through both forms, without touching the cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.framework.preemption.what_if import OneNodeTable, WhatIfNode
from bayplan.framework.snapshot import COLUMNS, NodeView, PodMatcher, TermKind
from bayplan.objects.meta import LabelSelector
from bayplan.objects.selector import compile_label_selector
from bayplan.testing import cluster, node, pod

GPU = "example.com/gpu"
WEB = PodMatcher(frozenset(("default",)), compile_label_selector(LabelSelector(match_labels={"app": "web"})))

BIG = (
    pod("big").on("n1").cpu("1").memory("1Gi").request(ephemeral_storage="5Gi").scalar(GPU, 2).port(80).label(app="web")
)
BARE = pod("bare").on("n1")
SHY = pod("shy").on("n1").anti_affinity({"app": "web"}, "kubernetes.io/hostname")


def small_cluster(*pods: Any) -> ClusterCache:
    n1 = node("n1").scalar(GPU, 4).zone("z1").taint("a").image("app:1", "100Mi")
    return cluster([node("n0").zone("z0"), n1, node("n2").cordoned()], pods)


def numbers(view: NodeView) -> dict[str, Any]:
    """Everything about a node that pods or its object change."""
    return {
        **{column: getattr(view, column) for column in COLUMNS},
        "gpu": (view.scalar_alloc(GPU), view.scalar_req(GPU)),
        "pods": sorted(each.name for each in view.pods),
        "ports": sorted(each.port for each in view.host_ports),
        "web": int(view.as_table().matching_pods(WEB)[0]),
    }


def real(*pods: Any) -> dict[str, Any]:
    return numbers(small_cluster(*pods).nodes.node(1))


def test_an_imagined_pod_counts_as_a_real_one() -> None:
    imagined = WhatIfNode(small_cluster(BARE).nodes.node(1))
    imagined.add_pod(BIG.build())
    assert numbers(imagined) == real(BARE, BIG)


def test_a_pod_imagined_away_is_gone() -> None:
    imagined = WhatIfNode(small_cluster(BARE, BIG).nodes.node(1))
    imagined.remove_pod(BIG.build())
    assert numbers(imagined) == real(BARE)


def test_taking_and_putting_back_changes_nothing() -> None:
    imagined = WhatIfNode(small_cluster(BARE, BIG).nodes.node(1))
    for each in (BIG, BARE):
        imagined.remove_pod(each.build())
    for each in (BARE, BIG):
        imagined.add_pod(each.build())
    assert numbers(imagined) == real(BARE, BIG)


def test_an_imagined_node_can_be_imagined_further_and_stays_as_it_was() -> None:
    first = WhatIfNode(small_cluster(BARE, BIG).nodes.node(1))
    first.remove_pod(BIG.build())
    second = WhatIfNode(first)
    second.remove_pod(BARE.build())
    assert numbers(second) == real()
    assert numbers(first) == real(BARE)


def test_the_cluster_does_not_notice() -> None:
    cache = small_cluster(BARE)
    before = numbers(cache.nodes.node(1))
    imagined = WhatIfNode(cache.nodes.node(1))
    imagined.add_pod(BIG.build())
    imagined.remove_pod(BARE.build())
    assert numbers(cache.nodes.node(1)) == before


def test_an_imagined_node_shows_what_its_object_says() -> None:
    view = WhatIfNode(small_cluster().nodes.node(1))
    assert (view.name, view.zone, [taint.key for taint in view.taints]) == ("n1", "z1", ["a"])
    assert view.labels["topology.kubernetes.io/zone"] == "z1"
    assert view.annotations == {}
    assert repr(view) == "NodeView('n1')"


def test_an_unknown_column_is_refused_by_name() -> None:
    view: Any = WhatIfNode(small_cluster().nodes.node(1))
    with pytest.raises(AttributeError, match="cpu_free"):
        _ = view.cpu_free


# -- a table of one node --


def test_a_table_of_one_node_shows_every_column_of_that_node() -> None:
    imagined = WhatIfNode(small_cluster(BARE).nodes.node(1))
    imagined.add_pod(BIG.build())
    table = imagined.as_table()
    assert isinstance(table, OneNodeTable)
    assert (len(table), table.names, table.total_nodes) == (1, ["n1"], 3)
    for column, dtype in COLUMNS.items():
        values = getattr(table, column)
        assert values.tolist() == [getattr(imagined, column)]
        assert values.dtype == dtype
    assert table.scalar_alloc(GPU).tolist() == [4]
    assert table.scalar_req(GPU).tolist() == [2]


def test_a_table_of_one_node_knows_its_row_and_nothing_else() -> None:
    view = small_cluster(BARE).nodes.node(1)
    table = view.as_table()
    assert table.row_of("n1") == 0
    assert table.row_of("n0") is None
    assert table.node(0) is view
    assert table.object_at(0).name == "n1"
    assert [each.name for each in table.pods_at(0)] == ["bare"]


def test_labels_images_and_derived_columns_are_cut_out_of_the_whole_table() -> None:
    cache = small_cluster()
    one, other = cache.nodes.node(1).as_table(), cache.nodes.node(2).as_table()
    zone = one.label("topology.kubernetes.io/zone")
    assert [zone.values[number] for number in zone.ids] == ["z1"]
    assert other.label("topology.kubernetes.io/zone").ids.tolist() == [-1]
    assert one.derive("length", lambda each: len(each.name), np.int64).tolist() == [2]
    mine, theirs = one.image("app:1"), other.image("app:1")
    assert mine is not None
    assert theirs is not None
    assert (mine.num_nodes, mine.rows.tolist(), theirs.num_nodes, theirs.rows.tolist()) == (1, [0], 1, [])
    assert one.image("app:2") is None


def test_storage_follows_the_imagined_pods() -> None:
    user = pod("user").on("n1").claim("data")
    imagined = WhatIfNode(small_cluster(user).nodes.node(1))
    imagined.add_pod(pod("other").claim("data").claim("logs").build())
    table = imagined.as_table()
    assert imagined.attachable_count == 3
    key = ("claim", "default", "data")
    assert [(row, each.name) for row, each in table.storage_users(key)] == [(0, "user"), (0, "other")]
    imagined.remove_pod(user.build())
    assert imagined.attachable_count == 2
    assert [each.name for _, each in table.storage_users(key)] == ["other"]


def test_ports_and_matching_pods_follow_the_imagined_pods() -> None:
    imagined = WhatIfNode(small_cluster(BARE).nodes.node(1))
    imagined.add_pod(BIG.build())
    imagined.add_pod(pod("leaving").label(app="web").terminating().build())
    table = imagined.as_table()
    assert list(table.port_users("TCP", 80)) == [(0, "0.0.0.0")]
    assert list(table.port_users("UDP", 80)) == []
    assert table.matching_pods(WEB).tolist() == [2]
    assert table.matching_pods(WEB, skip_terminating=True).tolist() == [1]


def test_terms_are_those_of_the_real_pods() -> None:
    shy = pod("shy").on("n1").anti_affinity({"app": "web"}, "kubernetes.io/hostname")
    cache = small_cluster(shy)
    web = pod("w").label(app="web").build()
    for row, count in ((0, 0), (1, 1)):
        (term,) = cache.nodes.node(row).as_table().terms(TermKind.REQUIRED_ANTI_AFFINITY, web)
        assert (term.topology_key, term.weight, term.counts.tolist()) == ("kubernetes.io/hostname", 0, [count])


@pytest.mark.parametrize("is_imagined", [False, True])
def test_plugins_can_write_to_no_column_of_a_single_node(is_imagined: bool) -> None:
    view: NodeView = small_cluster(BIG, SHY).nodes.node(1)
    if is_imagined:
        view = WhatIfNode(view)
        view.add_pod(BARE.build())
    alone = OneNodeTable(view)
    columns = [getattr(alone, name) for name in (*COLUMNS, "revision")]
    columns += [alone.label("topology.kubernetes.io/zone").ids, alone.scalar_alloc(GPU), alone.scalar_req(GPU)]
    columns += [alone.derive("length", lambda each: len(each.name), np.int64), alone.matching_pods(WEB)]
    columns += [term.counts for term in alone.terms(TermKind.REQUIRED_ANTI_AFFINITY, BIG.build())]
    assert len(columns) == len(COLUMNS) + 7
    for column in columns:
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
