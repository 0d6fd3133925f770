"""How much of a capacity a request takes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.objects.devices.resource_slice import DeviceCapacity
from bayplan.plugins.dynamic_resources.capacity import taken

STEPS = {"validRange": {"min": "2", "max": "8", "step": "2"}}


@pytest.mark.parametrize(
    ("requested", "value", "policy", "expected"),
    [
        ("3", "10", None, "3"),
        (None, "10Gi", None, "10Gi"),
        (None, "10", {"default": "4"}, "4"),
        ("3", "10", {"default": "4", "validValues": ["1", "4", "8"]}, "4"),
        ("1", "10", {"default": "2", **STEPS}, "2"),
        ("3", "10", {"default": "2", **STEPS}, "4"),
        ("1025", "1Mi", {"default": "1Ki", "validRange": {"min": "1Ki", "step": "1Ki"}}, "2Ki"),
        ("2500m", "10", {"default": "2", "validRange": {"min": "2"}}, "2500m"),
        ("9", "10", {"default": "2", **STEPS}, None),
        ("9", "10", {"default": "4", "validValues": ["1", "4", "8"]}, None),
        ("11", "10", None, None),
    ],
)
def test_what_is_taken(requested: str | None, value: str, policy: Any, expected: str | None) -> None:
    capacity = msgspec.convert({"m": {"value": value, "requestPolicy": policy}}, dict[str, DeviceCapacity])
    takes = taken({} if requested is None else {"m": requested}, capacity)
    if expected is None:
        assert isinstance(takes, str)
    else:
        assert not isinstance(takes, str)
        assert [take.amount.text for take in takes] == [expected]


def test_a_capacity_that_is_not_there_is_named() -> None:
    assert taken({"cores": "1"}, {}) == 'it has no capacity "cores"'
