"""NodeResourcesFit, Score: the strategies, what is left out, and how numbers are rounded."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.plugins.node_resources_fit import NodeResourcesFit
from bayplan.testing import PodBuilder, assert_forms_agree, cluster, make, node, pod, run_score

GPU = "example.com/gpu"
ASKED = pod("a").cpu("100m").memory("500Mi")


def strategy(kind: str, **more: Any) -> dict[str, Any]:
    return {"scoringStrategy": {"type": kind, **more}}


def shape(*points: tuple[int, int]) -> dict[str, Any]:
    return {"shape": [{"utilization": at, "score": score} for at, score in points]}


LEAST, MOST = strategy("LeastAllocated"), strategy("MostAllocated")
PACK = strategy("RequestedToCapacityRatio", requestedToCapacityRatio=shape((0, 0), (100, 10)))
SPREAD = strategy("RequestedToCapacityRatio", requestedToCapacityRatio=shape((0, 10), (100, 0)))
GPU_TOO = [{"name": "cpu", "weight": 1}, {"name": GPU, "weight": 3}]
HALF_CPU_FULL_MEMORY = pod("b").cpu("2").memory("32Gi")

CASES: list[tuple[str, dict[str, Any], PodBuilder, PodBuilder | None, int]] = [
    ("least: an empty node", LEAST, ASKED, None, 97),
    ("least: no requests count as 100m and 200Mi", LEAST, pod("a"), None, 98),
    ("least: each container without requests counts", LEAST, pod("a").container().container(), None, 95),
    ("least: an explicit 0 stays 0", LEAST, pod("a").cpu(0).memory(0), None, 100),
    ("least: pods there without requests count as well", LEAST, pod("a").cpu(0).memory(0), pod("b"), 98),
    ("least: more than there is rates 0", LEAST, pod("a").cpu("1").memory("1Gi"), HALF_CPU_FULL_MEMORY, 12),
    ("least: pod-level requests are not read", LEAST, pod("a").cpu(0).memory(0).pod_level(cpu="4"), None, 100),
    ("most: an empty node", MOST, ASKED, None, 1),
    ("most: more than there is counts as full", MOST, pod("a").cpu("1").memory("1Gi"), HALF_CPU_FULL_MEMORY, 87),
    ("ratio: packing", PACK, pod("a").cpu("1").memory("8Gi"), None, 25),
    ("ratio: spreading", SPREAD, pod("a").cpu("1").memory("8Gi"), None, 75),
    ("ratio: more than there is counts as full", PACK, pod("a").cpu("9").memory("33Gi"), None, 100),
    ("ratio: resources rated 0 are left out", PACK, pod("a").cpu("1").memory(0), None, 25),
    ("ratio: a half is rounded up", PACK, pod("a").cpu("1").memory("10Gi"), None, 28),
    ("ratio: nothing rated gives 0", PACK, pod("a").cpu(0).memory(0), None, 0),
]


@pytest.mark.parametrize(("case", "args", "asked", "running", "score"), CASES, ids=[each[0] for each in CASES])
def test_scores(case: str, args: dict[str, Any], asked: PodBuilder, running: PodBuilder | None, score: int) -> None:
    cache = cluster([node("n")], [running.on("n")] if running else [])
    plugin = make(NodeResourcesFit, cache, **args)
    assert run_score(plugin, asked, cache) == {"n": score}
    assert_forms_agree(plugin, [asked], cache)


@pytest.mark.parametrize("kind", ["LeastAllocated", "MostAllocated"])
def test_extended_resources_count_by_weight_for_pods_that_ask_for_them(kind: str) -> None:
    cache = cluster([node("with").scalar(GPU, 4), node("without")])
    plugin = make(NodeResourcesFit, cache, **strategy(kind, resources=GPU_TOO))
    rates = {"LeastAllocated": (75, 75), "MostAllocated": (25, 25)}[kind]
    cpu, gpu = rates
    asked = pod("a").cpu("1").scalar(GPU, 1)
    assert run_score(plugin, asked, cache) == {"with": (cpu + 3 * gpu) // 4, "without": cpu}
    assert run_score(plugin, pod("a").cpu("1"), cache) == {"with": cpu, "without": cpu}
    assert_forms_agree(plugin, [asked, pod("b")], cache)


def test_a_node_that_has_none_of_the_resources_scores_0() -> None:
    cache = cluster([node("n").cpu(0).memory(0), node("ok")])
    plugin = make(NodeResourcesFit, cache)
    assert run_score(plugin, ASKED, cache) == {"n": 0, "ok": 97}
    assert_forms_agree(plugin, [ASKED], cache)


def test_names_the_scheduler_does_not_account_for_are_left_out() -> None:
    cache = cluster([node("n")])
    args = strategy("LeastAllocated", resources=[{"name": "cpu"}, {"name": "pods"}])
    assert run_score(make(NodeResourcesFit, **args), ASKED, cache) == {"n": 97}


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(0, 0), (100, 10)], {0: 0, 25: 25, 100: 100}),
        ([(40, 10), (60, 5)], {0: 100, 40: 100, 50: 75, 60: 50, 100: 50}),
        ([(0, 10), (30, 0), (70, 10)], {10: 67, 20: 34, 29: 4, 30: 0, 31: 2, 70: 100, 90: 100}),
    ],
)
def test_the_curve_is_straight_between_points_and_cut_towards_zero(
    points: list[tuple[int, int]], expected: dict[int, int]
) -> None:
    args = strategy("RequestedToCapacityRatio", resources=[{"name": "cpu"}], requestedToCapacityRatio=shape(*points))
    cache = cluster([node("n").cpu("100m")])
    plugin = make(NodeResourcesFit, **args)
    found = {percent: run_score(plugin, pod("a").cpu(f"{percent}m"), cache)["n"] for percent in expected}
    assert found == expected


def test_pods_that_name_0_and_pods_that_name_nothing_have_different_keys() -> None:
    plugin = make(NodeResourcesFit)
    assert plugin.promise(pod("a").build().template) == plugin.promise(pod("b").label(x="y").build().template)
    assert plugin.promise(pod("a").build().template) != plugin.promise(pod("a").cpu(0).build().template)
    assert plugin.promise(pod("a").cpu(1).build().template) != plugin.promise(pod("a").cpu(2).build().template)
