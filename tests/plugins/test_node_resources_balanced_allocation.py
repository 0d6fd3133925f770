"""NodeResourcesBalancedAllocation: the change in balance, what takes part, and which pods are not scored."""

from __future__ import annotations

import math
from typing import Any

import pytest

from bayplan.errors import InvalidArgsError
from bayplan.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from bayplan.testing import NodeBuilder, PodBuilder, assert_forms_agree, cluster, make, node, pod, run_score

GPU = "example.com/gpu"
SMALL = node("n").memory("8Gi")

CASES: list[tuple[str, NodeBuilder, PodBuilder | None, PodBuilder, int]] = [
    ("a small pod on an empty node", node("n"), None, pod("a").cpu("100m").memory("500Mi"), 74),
    ("a pod that evens a lopsided node out", SMALL, pod("b").cpu("2"), pod("a").memory("4Gi"), 87),
    ("a pod that makes an even node lopsided", SMALL, None, pod("a").cpu("4"), 50),
    ("a pod of the node's own shape", SMALL, pod("b").cpu("1").memory("2Gi"), pod("a").cpu("1").memory("2Gi"), 75),
    ("the greatest gain", SMALL, pod("b").cpu("4"), pod("a").memory("8Gi"), 100),
    ("use above what is there counts as full", SMALL, pod("b").cpu("9"), pod("a").memory("9Gi"), 100),
    ("real requests, not scoring defaults", SMALL, pod("b"), pod("a").cpu("1").memory("2Gi"), 75),
    ("pod-level requests are read", SMALL, None, pod("a").pod_level(cpu="1", memory="2Gi"), 75),
    ("one resource alone is always balanced", SMALL.memory(0), pod("b").cpu("1"), pod("a").cpu("1"), 75),
]


@pytest.mark.parametrize(("case", "there", "running", "asked", "score"), CASES, ids=[each[0] for each in CASES])
def test_scores(case: str, there: NodeBuilder, running: PodBuilder | None, asked: PodBuilder, score: int) -> None:
    cache = cluster([there], [running.on("n")] if running else [])
    plugin = make(NodeResourcesBalancedAllocation, cache)
    assert run_score(plugin, asked, cache) == {"n": score}
    assert_forms_agree(plugin, [asked], cache)


@pytest.mark.parametrize("asked", [pod("a"), pod("a").cpu(0), pod("a").scalar(GPU, 1)])
def test_pods_without_requests_of_these_resources_are_not_scored(asked: PodBuilder) -> None:
    assert run_score(make(NodeResourcesBalancedAllocation), asked, cluster([node("n")])) == {}


def test_three_resources_differ_by_their_standard_deviation() -> None:
    plugin = make(NodeResourcesBalancedAllocation, resources=[{"name": "cpu"}, {"name": "memory"}, {"name": GPU}])
    cache = cluster([node("three").memory("8Gi").scalar(GPU, 4), node("two").memory("8Gi")])
    asked = pod("a").cpu("4").memory("4Gi").scalar(GPU, 1)
    fractions = [1, 0.5, 0.25]
    mean = sum(fractions) / 3
    deviation = math.sqrt(sum((each - mean) ** 2 for each in fractions) / 3)
    assert run_score(plugin, asked, cache) == {
        "three": 50 + (50 + int((1 - deviation) * 100) - 100) // 2,
        "two": 50 + (50 + 75 - 100) // 2,
    }
    assert_forms_agree(plugin, [asked, pod("b").cpu("4")], cache)


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ([{"name": "cpu", "weight": 2}], r"resources\[0\]\.weight: must be 1, not 2"),
        ([{"name": "cpu"}, {"name": "cpu"}], "cpu is named more than once"),
    ],
)
def test_wrong_resources_are_refused(resources: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InvalidArgsError, match=message):
        make(NodeResourcesBalancedAllocation, resources=resources)


def test_no_resources_mean_the_default() -> None:
    assert make(NodeResourcesBalancedAllocation, resources=[]).resources == ("cpu", "memory")
    weighed = make(NodeResourcesBalancedAllocation, resources=[{"name": "cpu", "weight": 0}])
    assert weighed.resources == ("cpu",)
