"""Refusals in slices; `test_against_apiserver` compares the rules with a real server."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects import kinds
from bayplan.objects.admission.created import check_created
from bayplan.objects.admission.validating import check_object

POOL = {"name": "n1", "generation": 1, "resourceSliceCount": 1}


def resource_slice(*devices: dict[str, Any], **spec: Any) -> Any:
    written = {"driver": "d.example.com", "pool": POOL, "allNodes": True, "devices": list(devices)} | spec
    raw = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": written}
    return kinds.decode(raw)


def mistakes(*devices: dict[str, Any], **spec: Any) -> list[str]:
    return [str(each) for each in check_created(resource_slice(*devices, **spec))]


@pytest.mark.parametrize(
    ("device", "line"),
    [
        ({"name": "A"}, 'spec.devices[0].name: "A" is not a name'),
        ({"attributes": {"a-b": {"int": 1}}}, 'spec.devices[0].attributes.a-b: "a-b" cannot name an attribute'),
        ({"attributes": {"a": {}}}, "spec.devices[0].attributes.a: must have exactly one value"),
        ({"attributes": {"a": {"int": 1, "bool": True}}}, "spec.devices[0].attributes.a: must have exactly one value"),
        ({"attributes": {"a": {"version": "1.2"}}}, 'spec.devices[0].attributes.a.version: "1.2" is not a version'),
        ({"taints": [{"key": "k", "effect": "x"}]}, 'spec.devices[0].taints[0].effect: "x" is not possible here'),
        ({"consumesCounters": [{"counterSet": "c"}]}, "spec.devices[0].consumesCounters[0].counters: there are none"),
        ({"bindingConditions": ["a"]}, "spec.devices[0].bindingFailureConditions: there are none"),
        ({"nodeName": "n1"}, "spec.devices[0]: says which nodes can use it"),
        (
            {"capacity": {"m": {"value": "1", "requestPolicy": {"default": "1"}}}},
            "spec.devices[0].capacity.m.requestPolicy: is for devices that are shared",
        ),
    ],
)
def test_a_wrong_device_is_told_in_one_line(device: dict[str, Any], line: str) -> None:
    (found,) = mistakes({"name": "gpu-0"} | device)
    assert found.startswith(line)


def test_a_device_is_listed_once() -> None:
    assert mistakes({"name": "a"}, {"name": "a"}) == ['spec.devices: "a" is there 2 times; give each a name of its own']


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ({"allNodes": None}, "spec: says nothing of its nodes"),
        ({"nodeName": "n1"}, "spec: says too much of its nodes"),
        ({"sharedCounters": [{"name": "c", "counters": {"m": {"value": 1}}}]}, "spec: has both sharedCounters and"),
        ({"pool": POOL | {"resourceSliceCount": 0}}, "spec.pool.resourceSliceCount: there is none"),
    ],
)
def test_a_wrong_slice_is_told_in_one_line(spec: dict[str, Any], line: str) -> None:
    (found,) = mistakes(**spec)
    assert found.startswith(line)


def test_with_taints_or_counters_a_slice_holds_half_as_many_devices() -> None:
    plain = [{"name": f"d{number}"} for number in range(128)]
    assert mistakes(*plain) == []
    assert mistakes(*plain, {"name": "last"}) == ["spec.devices: there are 129; write at most 128"]
    tainted = {"name": "t", "taints": [{"key": "k", "effect": "NoSchedule"}]}
    assert mistakes(*plain[:63], tainted) == []
    assert mistakes(*plain[:64], tainted) == ["spec.devices: there are 65; write at most 64"]


def test_amounts_that_are_none_are_found_wherever_the_slice_comes_from() -> None:
    policy = {"default": "1", "validRange": {"min": "1", "max": "y"}}
    device = {
        "name": "d",
        "capacity": {"m": {"value": "x", "requestPolicy": policy}},
        "consumesCounters": [{"counterSet": "c", "counters": {"k": {"value": "z"}}}],
    }
    assert [each.field for each in check_object(resource_slice(device))] == [
        "spec.devices[0].consumesCounters[0].counters.k.value",
        "spec.devices[0].capacity.m.value",
        "spec.devices[0].capacity.m.requestPolicy.validRange.max",
    ]


@pytest.mark.parametrize(
    "text", ["1.2.3", "0.0.0", "1.2.3-rc.1", "1.2.3-0a.x-y", "1.2.3+001.b", "1.2.3-a+b-c", "1.2.3--"]
)
def test_versions(text: str) -> None:
    assert mistakes({"name": "d", "attributes": {"v": {"version": text}}}) == []


@pytest.mark.parametrize(
    "text",
    ["", "1.2", "1.2.3.4", "v1.2.3", "1.02.3", "1.2.3-", "1.2.3-01", "1.2.3-a..b", "1.2.3+", "1.2.3+a_b", "1.2.\u0663"],
)
def test_what_is_no_version(text: str) -> None:
    assert len(mistakes({"name": "d", "attributes": {"v": {"version": text}}})) == 1
