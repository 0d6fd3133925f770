from __future__ import annotations

from typing import Any, cast

import pytest

from bayplan.objects import kinds
from bayplan.objects.devices.device_class import DeviceClass, DeviceTaintRule


def test_a_class_has_expressions_and_an_extended_resource_of_its_own() -> None:
    spec = {"selectors": [{"cel": {"expression": "true"}}, {}], "extendedResourceName": "example.com/gpu"}
    raw = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": spec}
    read = cast(DeviceClass, kinds.decode(raw))
    assert read.expressions == ("true",)
    assert read.implicit_resource_name == "deviceclass.resource.kubernetes.io/gpu"


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (None, True),
        ({}, True),
        ({"driver": "d"}, True),
        ({"driver": "d", "pool": "p", "device": "x"}, True),
        ({"driver": "other"}, False),
        ({"pool": "other"}, False),
        ({"driver": "d", "device": "other"}, False),
    ],
)
def test_a_rule_taints_the_devices_that_meet_all_it_says(selector: dict[str, Any] | None, expected: bool) -> None:
    spec: dict[str, Any] = {"taint": {"key": "k", "effect": "NoExecute"}}
    if selector is not None:
        spec["deviceSelector"] = selector
    raw = {"kind": "DeviceTaintRule", "metadata": {"name": "r"}, "spec": spec}
    for version in ("v1beta2", "v1alpha3"):
        rule = cast(DeviceTaintRule, kinds.decode(raw | {"apiVersion": f"resource.k8s.io/{version}"}))
        assert rule.matches("d", "p", "x") is expected
