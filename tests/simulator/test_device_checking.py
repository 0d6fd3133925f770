from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InputError
from bayplan.simulator.loading import documents_of, load

API = "resource.k8s.io/v1"


def device_class(expression: str, **meta: Any) -> dict[str, Any]:
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": "gpu", **meta}, "spec": spec}


def claim(kind: str = "ResourceClaim", **exactly: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", **exactly}}]}}
    spec = {"spec": spec} if kind == "ResourceClaimTemplate" else spec
    return {"apiVersion": API, "kind": kind, "metadata": {"name": "c"}, "spec": spec}


def told(*raws: dict[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        load(documents_of(raws, "a.yaml"), strict=True)
    return str(caught.value)


def test_an_expression_that_does_not_compile_is_told_with_its_place() -> None:
    line = told(device_class("devic.driver == 'x'"))
    assert line.startswith("a.yaml: DeviceClass gpu: spec.selectors[0].cel.expression: does not compile: 1:1")
    assert "\n" not in line
    wrong = [{"cel": {"expression": "1 + 1"}}]
    assert "spec.devices.requests[0].exactly.selectors[0].cel.expression" in told(claim(selectors=wrong))
    assert "spec.spec.devices" in told(claim("ResourceClaimTemplate", selectors=wrong))


def test_an_expression_that_could_cost_too_much_is_told_with_its_cost() -> None:
    loops = "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, {})))"
    load(documents_of([device_class(loops.format("a == b"))]), strict=True)
    line = told(device_class(loops.format("device.attributes.all(d, a == b)")))
    assert line.startswith(
        "a.yaml: DeviceClass gpu: spec.selectors[0].cel.expression: "
        "too complex, exceeds cost limit: estimated cost 12785859, limit 1000000; "
    )
    assert "\n" not in line
    costly = [{"cel": {"expression": 'device.driver == ["a", "b"].join(".")'}}]
    line = told(claim("ResourceClaimTemplate", selectors=costly))
    assert (
        "a.yaml: ResourceClaimTemplate c: spec.spec.devices.requests[0].exactly.selectors[0].cel.expression: " in line
    )
    assert "estimated cost without bound, limit 1000000; use no text of unknown length" in line


def test_what_a_server_holds_was_let_in_there() -> None:
    load(documents_of([device_class("from.the.future()", uid="1")]), strict=True)


def test_admin_access_is_for_namespaces_that_allow_it() -> None:
    label = "resource.kubernetes.io/admin-access"
    assert told(claim(adminAccess=True)).endswith(
        f'exactly.adminAccess: namespace default does not allow it; label it {label}: "true"'
    )
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": {label: "true"}}}
    load(documents_of([namespace, claim(adminAccess=True)]), strict=True)
