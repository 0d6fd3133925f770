"""DeviceScore: which devices are alike to its rules, and when all are judged again."""

from __future__ import annotations

from bayplan.plugins.dynamic_resources.device_score.device_score import DeviceScore
from tests.plugins.dynamic_resources.device_building import device, slice_of
from tests.plugins.dynamic_resources.device_score.scored import NUMA, PACK, TIGHTEST, bench, rules


def test_devices_that_differ_in_what_no_rule_reads_are_alike() -> None:
    devices = [device("a", {"uuid": "1", "numa": 0}), device("b", {"uuid": "2", "numa": 0}), device("c", {"numa": 1})]
    inventory = bench(slice_of("n1", devices), score=None).inventory
    inventory.catch_up()
    score = DeviceScore(rules(NUMA), inventory)
    numbers = [score.traits(number).number for number in range(3)]
    assert numbers[0] == numbers[1] != numbers[2]


def test_sizes_are_looked_up_only_where_a_rule_goes_by_them() -> None:
    inventory = bench(slice_of("n1", [device("a", capacity={"memory": {"value": "1"}})]), score=None).inventory
    inventory.catch_up()
    packed, tight = DeviceScore(rules(PACK), inventory), DeviceScore(rules(TIGHTEST), inventory)
    for score in (packed, tight):
        score.catch_up()
        score.catch_up()
    assert (packed.epoch, tight.epoch) == (0, 1)
    assert (packed.wants_fills, tight.wants_fills) == (True, False)
