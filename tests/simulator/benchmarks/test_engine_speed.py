"""The benchmarks run and schedule what they say; how long that takes is not for tests to judge."""

from __future__ import annotations

import pytest

from bayplan.simulator.benchmarks.engine_speed import measure
from bayplan.simulator.benchmarks.workload_file import find, shipped


@pytest.mark.parametrize("name", shipped())
def test_every_workload_is_scheduled_to_the_last_pod(name: str) -> None:
    result = measure(find(name), nodes=12, pods=10)
    assert (result["workload"], result["nodes"], result["pods"], result["bound"]) == (name, 12, 10, 10)
    assert result["podsPerSecond"] > 0
    assert result["microsecondsPerPod"] > 0
    assert result["fullPassPodsPerSecond"] > 0


def test_one_pod_a_node_means_no_more_pods_than_nodes() -> None:
    assert measure(find("anti-affinity"), nodes=5, pods=50)["pods"] == 5


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    measure(find("plain"), nodes=3, pods=2, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]
