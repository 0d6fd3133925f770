"""Sizes of devices, beside the largest of the driver."""

from __future__ import annotations

import pytest

from bayplan.plugins.dynamic_resources.device_score.sizes import largest, size_of
from tests.plugins.dynamic_resources.device_building import device, slice_of
from tests.plugins.dynamic_resources.device_score.scored import bench, cut_up


def sizes(*objects: object) -> dict[str, int]:
    inventory = bench(*objects, score=None).inventory
    inventory.catch_up()
    most = largest(inventory.pools(), inventory.columns)
    return {sort.device.name: size_of(sort, most) for sort in inventory.columns.sorts}


def test_partitions_go_by_what_they_take_of_the_largest_gpu() -> None:
    found = sizes(*cut_up("a"))
    assert (found["a-whole"], found["a-half0"], found["a-quarter0"]) == (1000, 500, 250)


@pytest.mark.parametrize(
    ("capacity", "size"),
    [({"memory": {"value": "20"}}, 250), ({"memory": {"value": "20"}, "cores": {"value": "3"}}, 625), ({}, 1000)],
)
def test_other_devices_go_by_the_mean_of_their_capacity(capacity: dict[str, dict[str, str]], size: int) -> None:
    large = device("large", capacity={"memory": {"value": "80"}})
    found = sizes(
        slice_of("n1", [device("d", **({"capacity": capacity} if capacity else {}))]), slice_of("n2", [large])
    )
    assert found["d"] == size


def test_another_driver_is_another_measure() -> None:
    small, large = (
        device("small", capacity={"memory": {"value": "1"}}),
        device("large", capacity={"memory": {"value": "80"}}),
    )
    assert sizes(slice_of("n1", [small]), slice_of("n1", [large], driver="nic"))["small"] == 1000


def test_a_device_that_is_gone_is_no_measure() -> None:
    large = slice_of("n2", [device("large", capacity={"memory": {"value": "80"}})])
    scored = bench(slice_of("n1", [device("d", capacity={"memory": {"value": "20"}})]), large, score=None)
    scored.inventory.catch_up()
    scored.drop(large)
    scored.inventory.catch_up()
    most = largest(scored.inventory.pools(), scored.inventory.columns)
    assert most == {("gpu.example.com", "capacity", "memory"): 20 * 10**9}
