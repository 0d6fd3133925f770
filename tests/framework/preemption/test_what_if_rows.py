"""Many imagined nodes at once: what is imagined, what is read through, and what nobody can know."""

from __future__ import annotations

import numpy as np
import pytest

from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.framework.preemption.what_if_rows import TAKEN, WhatIfRows, amounts_of
from bayplan.framework.snapshot import COLUMNS, NodeTable, NodeView
from bayplan.testing import cluster, node, pod

GPU = "example.com/gpu"
RESIDENT = pod("resident").on("b").cpu(1).memory("1Gi").scalar(GPU, 1)
GUEST = pod("guest").cpu("250m").memory("64Mi").scalar(GPU, 2).request({"ephemeral-storage": "1Gi"}).build()


def table() -> NodeTable:
    nodes = [node(name).cpu(4).scalar(GPU, 4).zone(f"zone-{name}") for name in ("a", "b", "c")]
    return cluster(nodes, [RESIDENT]).nodes


def rows(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.array(numbers, np.intp)


def imagine(imagined: WhatIfRows, at: int, sign: int) -> None:
    imagined.move(rows(at), np.array([amounts_of(GUEST)]), sign)
    imagined.move_scalar(GPU, rows(at), np.array([2]), sign)


def numbers(view: NodeView) -> list[int]:
    return [*(getattr(view, column) for column in TAKEN), view.scalar_req(GPU), view.scalar_alloc(GPU)]


def test_a_pod_imagined_here_counts_as_on_an_imagined_node() -> None:
    nodes = table()
    imagined, one = WhatIfRows(nodes, rows(2, 1)), WhatIfNode(nodes.node(1))
    imagine(imagined, 1, 1)
    one.add_pod(GUEST)
    assert numbers(imagined.node(1)) == numbers(one)
    assert numbers(imagined.node(0)) == numbers(nodes.node(2))
    imagine(imagined, 1, -1)
    assert numbers(imagined.node(1)) == numbers(nodes.node(1))


def test_a_part_goes_its_own_way() -> None:
    nodes = table()
    imagined = WhatIfRows(nodes, rows(0, 1))
    imagine(imagined, 1, 1)
    part = imagined.part(rows(1))
    imagine(part, 0, 1)
    assert part.req_cpu_milli.tolist() == [1500]
    assert part.scalar_req(GPU).tolist() == [5]
    assert imagined.req_cpu_milli.tolist() == [0, 1250]
    assert imagined.scalar_req(GPU).tolist() == [0, 3]
    assert nodes.req_cpu_milli.tolist() == [0, 1000, 0]


def test_what_is_not_imagined_is_that_of_the_rows() -> None:
    nodes = table()
    imagined = WhatIfRows(nodes, rows(2, 0))
    assert imagined.names == ["c", "a"]
    assert len(imagined) == 2
    assert imagined.row_of("a") == 1
    assert imagined.row_of("b") is None
    assert imagined.row_of("gone") is None
    assert imagined.alloc_cpu_milli.tolist() == [4000, 4000]
    assert imagined.revision.tolist() == [-1, -1]
    zones = imagined.label("topology.kubernetes.io/zone")
    assert [zones.values[number] for number in zones.ids.tolist()] == ["zone-c", "zone-a"]
    assert imagined.derive("length", lambda each: len(each.name), np.int64).tolist() == [1, 1]
    assert imagined.object_at(0).name == "c"
    with pytest.raises(AttributeError, match="has no req_hope"):
        _ = imagined.req_hope


@pytest.mark.parametrize(
    "ask",
    [
        lambda nodes: nodes.pods_at(0),
        lambda nodes: nodes.image("a"),
        lambda nodes: nodes.port_users("TCP", 80),
        lambda nodes: nodes.storage_users(("claim",)),
        lambda nodes: nodes.pods_of("Job", "default", "a"),
        lambda nodes: nodes.matching_pods(),
        lambda nodes: nodes.terms(None, GUEST),
    ],
)
def test_who_the_pods_are_nobody_has_imagined(ask: object) -> None:
    assert callable(ask)
    with pytest.raises(TypeError, match=r"must not promise Depends\.AMOUNTS"):
        ask(WhatIfRows(table(), rows(0)))


@pytest.mark.parametrize("is_moved", [False, True])
def test_plugins_can_write_to_no_imagined_column(is_moved: bool) -> None:
    imagined = WhatIfRows(table(), rows(2, 0))
    if is_moved:
        imagined.move(slice(None), np.ones((2, len(TAKEN)), np.int64), 1)
        imagined.move_scalar(GPU, slice(None), np.ones(2, np.int64), 1)
    columns = [getattr(each, name) for each in (imagined, imagined.part(rows(1))) for name in (*COLUMNS, "revision")]
    columns += [imagined.label("topology.kubernetes.io/zone").ids, imagined.scalar_alloc(GPU), imagined.scalar_req(GPU)]
    columns.append(imagined.derive("length", lambda each: len(each.name), np.int64))
    for column in columns:
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
