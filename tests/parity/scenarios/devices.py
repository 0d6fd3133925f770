"""Scenarios about devices: where a later kube-scheduler was mended, which of it v1.36.4 has."""

from __future__ import annotations

from typing import Any

from tests.parity.case import Object
from tests.parity.scenarios.scenario import Scenario, node, pod

GROUP = "resource.k8s.io/v1"
GPU, NIC = "gpu.example.com", "nic.example.com"
NUMA = f"{GPU}/numa"
CLAIM = {"resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}
SLOTS = [{"name": "card", "counters": {"slots": {"value": "2"}}}]
TAKES = {"consumesCounters": [{"counterSet": "card", "counters": {"slots": {"value": "2"}}}]}
SHARED = {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "8Gi"}}}
FOUR = {"capacity": {"requests": {"memory": "4Gi"}}}


def made(kind: str, name: str, spec: Object, namespace: str = "") -> Object:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": GROUP, "kind": kind, "metadata": metadata, "spec": spec}


def device_class(name: str, expression: str) -> Object:
    return made("DeviceClass", name, {"selectors": [{"cel": {"expression": expression}}]})


def published(driver: str, *devices: Object, counters: bool = False) -> tuple[Object, ...]:
    """The pool ``n1`` of a driver, with the counters of a card or without."""
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2 if counters else 1}
    spec = {"driver": driver, "nodeName": "n1", "pool": pool}
    slices = [made("ResourceSlice", f"{driver}-devices", spec | {"devices": list(devices)})]
    if counters:
        slices.append(made("ResourceSlice", f"{driver}-counters", spec | {"sharedCounters": SLOTS}))
    return tuple(slices)


def device(name: str, numa: int = 0, **more: Any) -> Object:
    return {"name": name, "attributes": {"numa": {"int": numa}}, **more}


def request(name: str, class_name: str, **more: Any) -> Object:
    return {"name": name, "exactly": {"deviceClassName": class_name, **more}}


def claim(*requests: Object, name: str = "c", **more: Any) -> Object:
    return made("ResourceClaim", name, {"devices": {"requests": list(requests), **more}}, "default")


def used_up(device_name: str) -> Object:
    """A claim that has all of a shared device."""
    results = [
        {
            "request": "r0",
            "driver": GPU,
            "pool": "n1",
            "device": device_name,
            "shareID": "a671734a-e8e5-11e4-8fde-42010af09327",
            "consumedCapacity": {"memory": "8Gi"},
        }
    ]
    consumers = [{"resource": "pods", "name": "elsewhere", "uid": "elsewhere"}]
    return claim(request("r0", "gpu"), name="other") | {
        "status": {"allocation": {"devices": {"results": results}}, "reservedFor": consumers}
    }


CLASSES = (device_class("gpu", f'device.driver == "{GPU}"'), device_class("nic", f'device.driver == "{NIC}"'))
PART = {"selectors": [{"cel": {"expression": f'!("plain" in device.attributes["{GPU}"])'}}]}
PLAIN = {"selectors": [{"cel": {"expression": f'"plain" in device.attributes["{GPU}"]'}}]}
WHOLE = device("whole", 1)
WHOLE["attributes"]["plain"] = {"bool": True}

DEVICES = (
    Scenario(
        "counters-of-two-drivers",
        "pools of one name that belong to two drivers have counters of their own",
        pod("p", spec=CLAIM),
        {"node": "n1", "devices": {"c": ["part", "part"]}},
        (node("n1"),),
        others=(
            *CLASSES,
            *published(GPU, device("part", **TAKES), counters=True),
            *published(NIC, device("part", **TAKES), counters=True),
            claim(request("r0", "gpu"), request("r1", "nic")),
        ),
    ),
    Scenario(
        "counters-after-backtracking",
        "a device that is given up again during the search gives its counters back",
        pod("p", spec=CLAIM),
        {"node": "n1", "devices": {"c": ["part-1", "whole"]}},
        (node("n1"),),
        others=(
            *CLASSES,
            *published(GPU, device("part-0", 0, **TAKES), device("part-1", 1, **TAKES), WHOLE, counters=True),
            claim(request("r0", "gpu", **PART), request("r1", "gpu", **PLAIN), constraints=[{"matchAttribute": NUMA}]),
        ),
    ),
    Scenario(
        "distinct-within-a-request",
        "of the devices of one request only the last value is remembered, so a third may be like the first",
        pod("p", spec=CLAIM),
        {"node": "n1", "devices": {"c": ["d0", "d1", "d2"]}},
        (node("n1"),),
        others=(
            *CLASSES,
            *published(GPU, device("d0", 0), device("d1", 1), device("d2", 0)),
            claim(request("r0", "gpu", count=3), constraints=[{"distinctAttribute": NUMA}]),
        ),
        bayplan_differs=True,
    ),
    Scenario(
        "all-with-a-capacity",
        "a request for all devices with a capacity is given those that have it left",
        pod("p", spec=CLAIM),
        {"node": "n1", "devices": {"c": ["d1"]}},
        (node("n1"),),
        others=(
            *CLASSES,
            *published(GPU, device("d0", **SHARED), device("d1", **SHARED)),
            used_up("d0"),
            claim(request("r0", "gpu", allocationMode="All", **FOUR)),
        ),
        bayplan_differs=True,
    ),
)
