"""Refusals in claims, templates, classes and rules; `test_against_apiserver` compares the rules with a real server."""

from __future__ import annotations

from typing import Any, cast

import pytest

from bayplan.objects import kinds
from bayplan.objects.admission.created import check_created

EXACT: dict[str, Any] = {"deviceClassName": "gpu"}


def mistakes(kind: str, spec: dict[str, Any], version: str = "v1") -> list[str]:
    raw = {"apiVersion": f"resource.k8s.io/{version}", "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    return [str(each) for each in check_created(kinds.decode(raw))]


def claim(*requests: dict[str, Any], **devices: Any) -> dict[str, Any]:
    return {"devices": {"requests": list(requests), **devices}}


def exactly(**more: Any) -> dict[str, Any]:
    return claim({"name": "r", "exactly": EXACT | more})


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        (
            claim({"name": "r"}),
            "spec.devices.requests[0]: says neither exactly nor firstAvailable; write one of the two",
        ),
        (
            claim({"name": "r", "exactly": EXACT, "firstAvailable": [EXACT | {"name": "s"}]}),
            "spec.devices.requests[0]: says both exactly and firstAvailable; write one of the two",
        ),
        (
            claim({"name": "r", "exactly": EXACT}, {"name": "r", "exactly": EXACT}),
            'spec.devices.requests: "r" is there 2 times; give each a name of its own',
        ),
        (
            exactly(allocationMode="All", count=2),
            "spec.devices.requests[0].exactly.count: does not go with allocationMode: All; remove it",
        ),
        (
            exactly(allocationMode="Some"),
            'spec.devices.requests[0].exactly.allocationMode: "Some" is not possible here; '
            "write ExactCount or All instead",
        ),
        (
            exactly(selectors=[{}]),
            "spec.devices.requests[0].exactly.selectors[0].cel: there is none; write cel: {expression: ...}",
        ),
        (
            exactly(tolerations=[{"operator": "Exists", "value": "x"}]),
            "spec.devices.requests[0].exactly.tolerations[0].value: operator Exists takes no value; "
            "remove it or write operator: Equal",
        ),
        (
            claim({"name": "r", "exactly": EXACT}, constraints=[{"requests": ["q"], "matchAttribute": "a.b/c"}]),
            'spec.devices.constraints[0].requests: there is no request "q" in this claim; write one of: r',
        ),
        (
            claim({"name": "r", "exactly": EXACT}, constraints=[{"matchAttribute": "model"}]),
            'spec.devices.constraints[0].matchAttribute: "model" has no domain; '
            "write it with one, such as example.com/model",
        ),
        (
            claim({"name": "r", "exactly": EXACT}, constraints=[{}]),
            "spec.devices.constraints[0]: says nothing; write matchAttribute or distinctAttribute",
        ),
        (
            claim({"name": "r", "exactly": EXACT}, config=[{"opaque": {"driver": "d", "parameters": 5}}]),
            "spec.devices.config[0].opaque.parameters: this is no object; "
            "write one, with the fields that the driver knows",
        ),
    ],
)
def test_a_wrong_claim_is_told_in_one_line(spec: dict[str, Any], line: str) -> None:
    assert mistakes("ResourceClaim", spec) == [line]
    (of_template,) = mistakes("ResourceClaimTemplate", {"spec": spec})
    assert of_template == line.replace("spec.devices", "spec.spec.devices", 1)


def test_subrequests_can_be_referred_to() -> None:
    parts = [EXACT | {"name": "s"}, EXACT | {"name": "t"}]
    request = {"name": "r", "firstAvailable": parts}
    for name, expected in (("r", 0), ("r/s", 0), ("r/x", 1), ("s", 1)):
        spec = claim(request, constraints=[{"requests": [name], "distinctAttribute": "a.b/c"}])
        assert len(mistakes("ResourceClaim", spec)) == expected, name


def test_a_class_may_stand_for_an_extended_resource_of_its_own_domain() -> None:
    assert mistakes("DeviceClass", {"extendedResourceName": "example.com/gpu"}) == []
    (line,) = mistakes("DeviceClass", {"extendedResourceName": "gpu"})
    assert line.startswith('spec.extendedResourceName: "gpu" is not the name of an extended resource')


def test_a_rule_needs_a_taint_with_an_effect() -> None:
    found = mistakes("DeviceTaintRule", {"deviceSelector": {"driver": "A B"}, "taint": {"key": "k"}}, "v1beta2")
    assert [cast(str, each).split(":")[0] for each in found] == ["spec.deviceSelector.driver", "spec.taint.effect"]
