"""NodeResourcesFit: what may be set, and what is said about mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InvalidArgsError
from bayplan.framework.args import load_args
from bayplan.plugins.node_resources_fit import NodeResourcesFit, NodeResourcesFitArgs

RATIO = "RequestedToCapacityRatio"


def load(**args: Any) -> NodeResourcesFitArgs:
    loaded = load_args(NodeResourcesFit, args, "args")
    assert isinstance(loaded, NodeResourcesFitArgs)
    return loaded


def curve(*points: tuple[int, int]) -> dict[str, Any]:
    shape = [{"utilization": at, "score": score} for at, score in points]
    return {"scoringStrategy": {"type": RATIO, "requestedToCapacityRatio": {"shape": shape}}}


def test_the_defaults_are_least_allocated_over_cpu_and_memory() -> None:
    strategy = load().scoring_strategy
    assert strategy.type == "LeastAllocated"
    assert [(each.name, each.weight) for each in strategy.resources] == [("cpu", 1), ("memory", 1)]


def test_no_resources_and_a_weight_of_0_mean_the_default() -> None:
    assert load(scoringStrategy={"type": "MostAllocated", "resources": []}).scoring_strategy.resources[0].name == "cpu"
    weighed = load(scoringStrategy={"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 0}]})
    assert weighed.scoring_strategy.resources[0].weight == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"scoringStrategy": {"type": "Emptiest"}}, r"args\.scoringStrategy\.type: .*LeastAllocated"),
        ({"scoringStrategy": {"type": RATIO}}, r"needs requestedToCapacityRatio\.shape"),
        ({"scoringStrategy": {"requestedToCapacityRatio": {"shape": []}}}, r"shape: needs at least one point"),
        (
            {"scoringStrategy": {"requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 1}]}}},
            "LeastAllocated takes no requestedToCapacityRatio",
        ),
        (curve((50, 1), (50, 2)), r"utilization must rise from point to point"),
        (curve((101, 1)), r"shape\[0\]\.utilization: .*100"),
        (curve((0, 11)), r"shape\[0\]\.score: .*10"),
        ({"scoringStrategy": {"resources": [{"name": "cpu", "weight": 101}]}}, r"resources\[0\]\.weight: .*100"),
        ({"scoringStrategy": {"resources": [{"weight": 1}]}}, r"resources\[0\]\.name: is missing"),
        ({"ignoredResources": ["not a name"]}, r"ignoredResources: \"not a name\" is not"),
        ({"ignoredResourceGroups": ["example.com/gpu"]}, r"write the part before it, \"example\.com\""),
        ({"ignoredResource": []}, r"ignoredResource: unknown field; did you mean \"ignoredResources\""),
    ],
)
def test_mistakes_are_named_with_their_path(args: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgsError, match=message):
        load(**args)
