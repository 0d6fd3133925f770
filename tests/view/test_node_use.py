"""What nodes use, by their annotations."""

from __future__ import annotations

from bayplan.simulator.world import World
from bayplan.view.node_use import used_by_annotations
from tests.simulator.support import Manifest, node
from tests.view.support import ran


def world(*annotations: dict[str, str]) -> World:
    made: list[Manifest] = [node(f"n{number}", "4") for number in range(len(annotations))]
    for each, said in zip(made, annotations, strict=True):
        each["metadata"]["annotations"] = said
    return ran(*made)


def test_the_newest_metric_of_a_resource_counts() -> None:
    said = {
        "cpu_usage_avg_5m": "0.5,2026-01-31T10:00:00Z",
        "cpu_usage_avg_1h": "0.9,2026-01-31T09:00:00Z",
        "cpu_usage_max_avg_1d": "1.0,2026-01-31T11:00:00Z",
        "mem_usage_avg_5m": "nonsense",
        "other": "x",
    }
    used = used_by_annotations(world(said, {}).scheduler.cache.nodes)
    assert used == {"cpu": [2000, None], "memory": [None, None]}


def test_nodes_that_say_nothing() -> None:
    assert (
        used_by_annotations(world({}, {"cpu_usage_avg_5m": "inf,2026-01-31T10:00:00Z"}).scheduler.cache.nodes) is None
    )
