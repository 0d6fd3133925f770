"""How full devices are."""

from __future__ import annotations

import pytest

from bayplan.plugins.dynamic_resources.device_columns import FREE, Use
from bayplan.plugins.dynamic_resources.device_score import fills


def test_a_gpu_is_as_full_as_the_fullest_of_its_counters() -> None:
    total = {("a", "memory"): 80, ("a", "slices"): 8, ("b", "memory"): 80, ("a", "none"): 0}
    left = {("a", "memory"): 60, ("a", "slices"): 4, ("b", "memory"): 0, ("a", "none"): 0}
    assert fills.of_counter_set("a", total, left) == 500
    assert fills.of_counter_set("b", total, {**left, ("b", "memory"): -5}) == 1000


@pytest.mark.parametrize(
    ("capacity", "use", "shares", "fill"),
    [
        ({"memory": 10}, FREE, [], 0),
        ({"memory": 10}, Use(is_shared=True, capacity=(("memory", 2),)), [{"memory": 3}], 500),
        ({"memory": 10, "cores": 4}, FREE, [{"memory": 1, "cores": 3}], 750),
        ({}, FREE, [], 0),
        ({}, FREE, [{}], 1000),
        ({"memory": 10}, Use(is_held=True), [], 1000),
    ],
)
def test_a_shared_device_is_as_full_as_its_fullest_capacity(
    capacity: dict[str, int], use: Use, shares: list[dict[str, int]], fill: int
) -> None:
    assert fills.of_shared_device(capacity, use, shares) == fill
