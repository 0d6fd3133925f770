"""A resource is found by its name, for one node as for all: what is there, what is taken, what counts for scores."""

from __future__ import annotations

import pytest

from bayplan.plugins.resource_columns import allocatable, counted, requested
from bayplan.testing import cluster, node, pod

CACHE = cluster(
    [
        node("a").allocatable({"cpu": "4", "memory": "8Gi", "ephemeral-storage": "10Gi", "example.com/gpu": "2"}),
        node("b"),
    ],
    [
        pod("p").on("a").request({"cpu": "1", "memory": "1Gi", "ephemeral-storage": "2Gi", "example.com/gpu": "1"}),
        pod("q").on("a"),
    ],
)


@pytest.mark.parametrize(
    ("resource", "there", "taken", "counts"),
    [
        ("cpu", 4000, 1000, 1100),
        ("memory", 8 << 30, 1 << 30, (1 << 30) + (200 << 20)),
        ("ephemeral-storage", 10 << 30, 2 << 30, 2 << 30),
        ("example.com/gpu", 2, 1, 1),
        ("example.com/unknown", 0, 0, 0),
    ],
)
def test_by_name(resource: str, there: int, taken: int, counts: int) -> None:
    one = CACHE.nodes.node(0)
    assert (allocatable(one, resource), requested(one, resource), counted(one, resource)) == (there, taken, counts)
    for ask in (allocatable, requested, counted):
        column = ask(CACHE.nodes, resource)
        assert [int(number) for number in column] == [int(ask(CACHE.nodes.node(row), resource)) for row in (0, 1)]
