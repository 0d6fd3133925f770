from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.admission.capacity_admission import check_capacity
from bayplan.objects.devices.resource_slice import DeviceCapacity
from bayplan.objects.kinds import convert


def problems(value: str = "10", *, is_shared: bool = True, **policy: Any) -> list[str]:
    capacity = convert({"value": value, "requestPolicy": policy}, DeviceCapacity)
    return [f"{each.field}: {each.problem}" for each in check_capacity("c", capacity, is_shared)]


@pytest.mark.parametrize(
    "policy",
    [
        {"default": "4"},
        {"default": "4", "validValues": ["2", "4", "8"]},
        {"default": "4", "validRange": {"min": "2"}},
        {"default": "4", "validRange": {"min": "2", "max": "8", "step": "2"}},
    ],
)
def test_right_policies(policy: dict[str, Any]) -> None:
    assert problems(**policy) == []


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"validValues": ["2"]}, "c.requestPolicy.default: there is none"),
        ({"default": "3", "validValues": ["2"]}, "c.requestPolicy.validValues: is without the default, 3"),
        ({"default": "2", "validValues": ["4", "2"]}, "c.requestPolicy.validValues: are not in order"),
        ({"default": "2", "validValues": ["2", "20"]}, "c.requestPolicy.validValues: has more than there is (10)"),
        ({"default": "2", "validRange": {}}, "c.requestPolicy.validRange.min: there is none"),
        ({"default": "1", "validRange": {"min": "2"}}, "c.requestPolicy.validRange: is without the default, 1"),
        (
            {"default": "5", "validRange": {"min": "2", "step": "2"}},
            "c.requestPolicy.validRange.step: 5 is not a whole",
        ),
        ({"default": "2", "validRange": {"min": "2", "step": "0"}}, "c.requestPolicy.validRange.step: is nothing"),
        (
            {"default": "2", "validValues": ["2"], "validRange": {"min": "1"}},
            "c.requestPolicy: says both validValues and validRange",
        ),
    ],
)
def test_wrong_policies(policy: dict[str, Any], expected: str) -> None:
    (found,) = problems(**policy)
    assert found.startswith(expected)


def test_only_shared_devices_have_a_policy() -> None:
    assert problems(is_shared=False, default="1") == ["c.requestPolicy: is for devices that are shared"]
