"""Numbers kept per node."""

from __future__ import annotations

from bayplan.framework import NodeView
from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.plugins.per_node import PerNode
from bayplan.testing import cluster, node, pod


def test_a_node_is_worked_out_again_only_when_it_or_its_pods_changed() -> None:
    asked: list[str] = []

    def count(view: NodeView) -> tuple[float]:
        asked.append(view.name)
        return (float(len(list(view.pods))),)

    cache = cluster([node(f"n{number}") for number in range(100)])
    kept = PerNode(1, count)
    assert kept.of_all(cache.nodes)[:, 0].sum() == 0
    assert len(asked) == 100
    asked.clear()
    cache.add_pod(pod("p").on("n7").build())
    assert kept.of_all(cache.nodes)[7, 0] == 1
    assert asked == ["n7"]
    asked.clear()
    cache.remove_node("n3")  # the last row moves into its place
    cache.add_node(node("new").build())
    values = kept.of_all(cache.nodes)[:, 0]
    assert values[cache.nodes.row_of("n7")] == 1
    assert values.sum() == 1
    assert set(asked) == {"n99", "new"}


def test_an_imagined_node_is_never_taken_for_the_real_one() -> None:
    cache = cluster([node("n")], [pod("p").on("n")])
    kept = PerNode(1, lambda view: (float(len(list(view.pods))),))
    assert kept.of_all(cache.nodes)[0, 0] == 1
    imagined = WhatIfNode(cache.nodes.node(0))
    for there in list(imagined.pods):
        imagined.remove_pod(there)
    assert kept.of_all(imagined.as_table())[0, 0] == 0
    assert kept.of_all(cache.nodes)[0, 0] == 1
