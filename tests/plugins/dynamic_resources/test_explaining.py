"""Why a device is not given, in the words of ``explain``."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.plugins.dynamic_resources import DynamicResources
from bayplan.plugins.dynamic_resources.explaining import FREE
from bayplan.testing import cluster, make, node, pod
from tests.plugins.dynamic_resources.device_building import claim, device, device_class, request, slice_of
from tests.plugins.dynamic_resources.test_plugin import allocated

ASKED = pod("a").resource_claim("c")
CLASS = device_class("gpu", 'device.driver == "gpu.example.com"')
SMALL = 'device.attributes["gpu.example.com"].model == "large"'
MEMORY = {"memory": {"value": "10Gi"}}


def told(*objects: Any) -> dict[str, dict[str, str]]:
    cache = cluster([node("n1")], [], [CLASS, *objects])
    plugin = make(DynamicResources, cache)
    found = plugin.missing(ASKED.build(), cache.nodes.node(0))
    assert all(each["claim"] == "default/c" for each in found)
    return {each["request"]: {one["device"]: one["why"] for one in each["devices"]} for each in found}


@pytest.mark.parametrize(
    ("published", "wanted", "why"),
    [
        (device("d"), request("r0", 'device.driver == "x"'), 'selector of the request is false: device.driver == "x"'),
        (
            device("d", {"model": "small"}),
            request("r0", SMALL),
            f"selector of the request is false: {SMALL} (model is 'small')",
        ),
        (
            device("d", taints=[{"key": "sick", "value": "very", "effect": "NoSchedule"}]),
            request(),
            "taint sick=very:NoSchedule is not tolerated",
        ),
        (
            device("d", capacity=MEMORY),
            request(capacity={"requests": {"memory": "12Gi"}}),
            '12Gi of "memory" is asked for, and it has 10Gi',
        ),
        (device("d"), request(capacity={"requests": {"memory": "1"}}), 'it has no capacity "memory"'),
    ],
)
def test_one_device_and_the_first_thing_that_keeps_it(published: Any, wanted: Any, why: str) -> None:
    assert told(slice_of("n1", [published]), claim("c", wanted)) == {"r0": {"d": why}}


def test_who_uses_a_device_is_named() -> None:
    used = allocated(claim("other", request()))
    assert told(slice_of("n1", [device("d0")]), used, claim("c", request())) == {
        "r0": {"d0": "in use by default/other"}
    }


def test_what_is_left_of_a_counter_and_of_a_capacity() -> None:
    counters = slice_of(
        None, pool="p", name="a", count=2, allNodes=True,
        sharedCounters=[{"name": "gpu", "counters": {"slots": {"value": "2"}}}],
    )  # fmt: skip
    taken = [{"counterSet": "gpu", "counters": {"slots": {"value": "3"}}}]
    devices = slice_of("n1", [device("d0", consumesCounters=taken)], pool="p", name="b", count=2)
    assert told(counters, devices, claim("c", request()))["r0"]["d0"] == "counter slots of gpu is short by 1"


def test_a_constraint_tells_the_value() -> None:
    devices = [device("d0", {"numa": 0}), device("d1", {"numa": 1}), device("d2")]
    match = [{"matchAttribute": "gpu.example.com/numa"}]
    assert told(slice_of("n1", devices), claim("c", request(count=2), constraints=match)) == {
        "r0": {
            "d0": FREE,
            "d1": "constraint: its gpu.example.com/numa is 1, another than that of d0 of request r0",
            "d2": "constraint: it has no gpu.example.com/numa",
        }
    }


def test_a_pool_that_is_not_complete_is_named() -> None:
    assert told(slice_of("n1", [device("d0")], count=2), claim("c", request())) == {
        "r0": {"": "the pool is being updated: 1 of 2 slices of generation 1 are there"}
    }


def test_a_class_whose_selector_is_false() -> None:
    other = slice_of("n1", [device("d0")], driver="nic.example.com")
    why = 'selector of class gpu is false: device.driver == "gpu.example.com"'
    assert told(other, claim("c", request())) == {"r0": {"d0": why}}
