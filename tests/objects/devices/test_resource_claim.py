from __future__ import annotations

from typing import Any, cast

import msgspec
import pytest

from bayplan.errors import InputError
from bayplan.objects import kinds
from bayplan.objects.devices.resource_claim import ResourceClaim

RESULT = {"request": "gpu", "driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0", "shareID": "a"}


def claim(spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None, **meta: Any) -> ResourceClaim:
    raw = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", **meta}}
    return cast(ResourceClaim, kinds.decode(raw | {"spec": {"devices": spec or {}}, "status": status or {}}))


def test_a_claim_without_a_status_has_nothing() -> None:
    empty = claim()
    assert not empty.is_allocated
    assert empty.results == ()
    assert empty.pods == ()
    assert empty.node_requirement is None


def test_a_request_for_all_devices_says_so() -> None:
    written = claim(
        {
            "requests": [
                {"name": "a", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}},
                {"name": "b", "firstAvailable": [{"name": "x", "deviceClassName": "nic"}, {"deviceClassName": "gpu"}]},
            ]
        }
    )
    assert written.requests[0].exactly is not None
    assert written.requests[0].exactly.wants_all


def test_results_and_consumers_are_what_the_status_says() -> None:
    pod = {"resource": "pods", "name": "web", "uid": "1"}
    other = {"resource": "podgroups", "apiGroup": "scheduling.k8s.io", "name": "web", "uid": "2"}
    given = claim(
        status={
            "allocation": {
                "devices": {"results": [RESULT]},
                "nodeSelector": {
                    "nodeSelectorTerms": [
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}
                    ]
                },
            },
            "reservedFor": [pod, other],
        }
    )
    assert given.results[0].device_key == ("gpu.example.com", "node-1", "gpu-0")
    assert [each.name for each in given.pods] == ["web"]
    assert given.is_reserved_for("2")
    assert not given.is_reserved_for("3")
    assert given.node_requirement is not None
    assert given.node_requirement.matches("node-1", {})
    assert not given.node_requirement.matches("node-2", {})


def test_a_status_is_written_as_the_api_spells_it() -> None:
    given = claim(status={"allocation": {"devices": {"results": [RESULT]}}})
    assert msgspec.json.decode(msgspec.json.encode(given.status)) == {"allocation": {"devices": {"results": [RESULT]}}}


def test_a_claim_made_for_a_pod_belongs_to_it() -> None:
    made = claim(ownerReferences=[{"kind": "Pod", "name": "web", "uid": "1", "controller": True}])
    assert made.belongs_to("1")
    assert not made.belongs_to("2")


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"])
def test_the_version_with_other_fields_is_refused_and_the_one_with_the_same_is_read(kind: str) -> None:
    raw = {"kind": kind, "metadata": {"name": "a"}}
    assert kinds.decode(raw | {"apiVersion": "resource.k8s.io/v1beta2"}).name == "a"
    with pytest.raises(InputError, match=r"write resource\.k8s\.io/v1 instead"):
        kinds.decode(raw | {"apiVersion": "resource.k8s.io/v1beta1"})
