"""Rows with equal sums share a number, however they came to them."""

from __future__ import annotations

import random

import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.engine.kept import sum_numbers
from bayplan.objects.pod import Pod
from bayplan.testing import node, pod


def cluster(*cpus: str) -> ClusterCache:
    cache = ClusterCache()
    for number, cpu in enumerate(cpus):
        cache.add_node(node(f"n{number}").allocatable(cpu=cpu, memory="8Gi", pods=10).build())
    return cache


def on(row: int, name: str, **requests: str) -> Pod:
    return pod(name).uid(name).request(requests).on(f"n{row}").build()


def numbers(cache: ClusterCache) -> list[int]:
    return [cache.nodes.sums.of(row) for row in range(len(cache.nodes))]


def test_nodes_of_one_size_share_a_number_until_their_pods_differ() -> None:
    cache = cluster("4", "4", "8")
    same, again, other = numbers(cache)
    assert same == again != other
    cache.add_pod(on(0, "a", cpu="1"))
    taken, free, _ = numbers(cache)
    assert taken != free == again
    cache.add_pod(on(1, "b", cpu="1"))
    assert numbers(cache)[0] == numbers(cache)[1]


def test_the_order_in_which_pods_came_does_not_matter() -> None:
    cache = cluster("4", "4")
    for row, order in enumerate((("1", "2"), ("2", "1"))):
        for cpu in order:
            cache.add_pod(on(row, f"{row}-{cpu}", cpu=cpu))
            cache.nodes.sums.of(row)
    assert len(set(numbers(cache))) == 1


def test_a_pod_that_left_leaves_nothing_behind() -> None:
    cache = cluster("4", "4")
    numbers(cache)
    guest = on(0, "guest", cpu="1")
    cache.add_pod(guest)
    cache.remove_pod(guest)
    assert numbers(cache)[0] == numbers(cache)[1]


@pytest.mark.parametrize("resource", ["ephemeral-storage", "example.com/gpu"])
def test_every_resource_counts(resource: str) -> None:
    cache = cluster("4", "4")
    numbers(cache)
    cache.add_pod(on(0, "a", **{resource: "1"}))
    cache.add_pod(on(1, "b"))
    assert numbers(cache)[0] != numbers(cache)[1]


def test_a_node_that_grew_has_another_number() -> None:
    cache = cluster("4", "4")
    before = numbers(cache)
    cache.add_node(node("n0").allocatable(cpu="8", memory="8Gi", pods=10).build())
    assert numbers(cache)[0] != before[0]


def test_equal_numbers_always_mean_equal_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over random comings and goings, with so little room for numbers that they are forgotten again and again."""
    monkeypatch.setattr(sum_numbers, "MAX_SUMS", 12)
    rng = random.Random(7)
    cache, there = cluster(*["4"] * 6), []
    by_number: dict[int, object] = {}
    for step in range(600):
        if there and rng.random() < 0.4:
            cache.remove_pod(there.pop(rng.randrange(len(there))))
        else:
            there.append(on(rng.randrange(6), f"p{step}", cpu=rng.choice("123"), memory=rng.choice(["1Gi", "2Gi"])))
            cache.add_pod(there[-1])
        for row in range(6):
            number = cache.nodes.sums.of(row)
            assert by_number.setdefault(number, cache.nodes._sums(row)) == cache.nodes._sums(row)
    assert len(by_number) > len(set(by_number.values())) > 36, "some sums came again under another number"


def test_a_new_node_has_the_number_of_an_emptied_one() -> None:
    cache = cluster("4")
    guest = on(0, "guest", cpu="1", **{"ephemeral-storage": "1"})
    cache.add_pod(guest)
    cache.remove_pod(guest)  # its number is forgotten, and read from its sums when it is asked for
    cache.add_node(node("n1").allocatable(cpu="4", memory="8Gi", pods=10).build())
    assert numbers(cache)[0] == numbers(cache)[1]
