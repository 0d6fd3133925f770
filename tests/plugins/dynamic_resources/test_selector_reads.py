"""What an expression reads of a device."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.objects.devices.resource_slice import Device
from bayplan.plugins.dynamic_resources.device_columns import Sort
from bayplan.plugins.dynamic_resources.device_selectors import CelSelector, compile_selector
from bayplan.plugins.dynamic_resources.selector_reads import Read, reads_of
from tests.plugins.dynamic_resources.device_building import device

X = Read("attributes", "d", "x")


@pytest.mark.parametrize(
    ("expression", "reads"),
    [
        ('device.driver == "a" && device.allowMultipleAllocations', set()),
        ('device.attributes["d"].x == 1', {X}),
        ('device.attributes["d"]["x"] == 1', {X}),
        ('device.attributes["d"].?x.orValue(1) == 1', {X}),
        ('device.attributes["d"][?"x"].hasValue()', {X}),
        ('"x" in device.attributes["d"] && has(device.attributes["d"].x)', {X}),
        ('[1, 2].exists(n, device.attributes["d"].x == n)', {X}),
        ('device.capacity["d"].m.compareTo(quantity("1Gi")) > 0', {Read("capacity", "d", "m")}),
        ('device.attributes["d"].exists(name, name == "x")', None),
        ('device.attributes[device.driver].x == 1', None),
        ('cel.bind(a, device.attributes["d"], a.x == 1)', None),
        ('size(device.attributes) == 1', None),
    ],
)  # fmt: skip
def test_what_is_read(expression: str, reads: set[Read] | None) -> None:
    assert reads_of(expression) == (None if reads is None else frozenset(reads))


def sort(**attributes: Any) -> Sort:
    return Sort("d", msgspec.convert(device("x", attributes), Device), ())


def test_devices_that_differ_in_what_is_not_read_look_the_same() -> None:
    selector = compile_selector('device.attributes["d"].model == "a"')
    assert isinstance(selector, CelSelector)
    assert selector.looks_at(sort(model="a", uuid="1")) == selector.looks_at(sort(model="a", uuid="2"))
    assert selector.looks_at(sort(model="a")) != selector.looks_at(sort(model="b"))
    assert selector.looks_at(sort(model=1)) != selector.looks_at(sort(model=True))
    assert selector.looks_at(sort(model="a")) != selector.looks_at(sort())
