"""Every in-tree plugin with a filter or a score says the same in its all-nodes and its one-node form."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from bayplan.framework import (
    Code,
    Codes,
    CycleState,
    FilterPlugin,
    NodeTable,
    NodeView,
    Plugin,
    Reason,
    ScorePlugin,
    Verdict,
)
from bayplan.objects.pod import Pod
from bayplan.plugins import IN_TREE
from bayplan.testing import cluster, make, node, pod
from bayplan.testing.agreement import assert_forms_agree, random_cluster, random_pod

JUDGES = [each for each in IN_TREE if issubclass(each, (FilterPlugin, ScorePlugin))]

SEEDS = range(4)

ARGS: dict[str, dict[str, Any]] = {
    "NodeAffinity": {
        "addedAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 7, "preference": {"matchExpressions": [{"key": "rack", "operator": "Exists"}]}}
            ],
        }
    },
    "NodeResourcesFit": {
        "ignoredResourceGroups": ["ignored.example"],
        "scoringStrategy": {
            "type": "RequestedToCapacityRatio",
            "resources": [{"name": "cpu", "weight": 3}, {"name": "memory"}, {"name": "example.com/gpu"}],
            "requestedToCapacityRatio": {
                "shape": [
                    {"utilization": 0, "score": 10},
                    {"utilization": 70, "score": 3},
                    {"utilization": 90, "score": 0},
                ]
            },
        },
    },
    "NodeResourcesBalancedAllocation": {
        "resources": [{"name": "cpu"}, {"name": "memory"}, {"name": "ephemeral-storage"}, {"name": "example.com/gpu"}]
    },
}
"""Settings that reach the branches the defaults leave out."""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("plugin", JUDGES, ids=lambda plugin: plugin.name)
def test_both_forms_agree_on_random_clusters(plugin: type[Plugin], seed: int) -> None:
    rng = Random(seed)
    cache = random_cluster(rng)
    pods = [random_pod(rng, f"pod-{number}") for number in range(12)]
    assert_forms_agree(make(plugin, cache), pods, cache)


@pytest.mark.parametrize("name", ARGS)
def test_both_forms_agree_with_other_args(name: str) -> None:
    rng = Random(99)
    cache = random_cluster(rng)
    pods = [random_pod(rng, f"pod-{number}") for number in range(30)]
    (plugin,) = (each for each in JUDGES if each.name == name)
    assert_forms_agree(make(plugin, cache, **ARGS[name]), pods, cache)


class Disagrees(FilterPlugin):
    """Its all-nodes form turns down a node that its one-node form takes."""

    name = "Disagrees"
    reasons = (Reason(Code.UNSCHEDULABLE, "node(s) were called n2"),)

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        return np.array([name == "n2" for name in nodes.names], np.uint8)


def test_forms_that_differ_are_found_and_named() -> None:
    cache = cluster([node("n1"), node("n2")])
    with pytest.raises(AssertionError, match=r"Disagrees on n2 for pod default/a: .*called n2"):
        assert_forms_agree(make(Disagrees, cache), [pod("a")], cache)
