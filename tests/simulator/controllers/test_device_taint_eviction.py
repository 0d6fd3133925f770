"""Pods that go from tainted devices, at the moment at which the real controller would delete them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bayplan.simulator.controllers.device_taint_eviction import DeviceTaintEvictions
from bayplan.simulator.world import World
from tests.simulator.controllers.test_resource_claims import API, SHARED, claim
from tests.simulator.support import START, Manifest, node, pod, world
from tests.simulator.test_timed_changes import at

BROKEN = {"key": "broken", "effect": "NoExecute"}


def resource_slice(*taints: dict[str, str], generation: int = 1, name: str = "s") -> Manifest:
    device = {"name": "gpu-0", "taints": list(taints)}
    pool = {"name": "p", "generation": generation, "resourceSliceCount": 1}
    spec = {"driver": "d", "pool": pool, "nodeName": "n1", "devices": [device]}
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}


def rule(taint: dict[str, str], **selector: str) -> Manifest:
    spec: Manifest = {"taint": taint} | ({"deviceSelector": selector} if selector else {})
    return {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r"},
        "spec": spec,
    }


def running(*objects: Manifest, tolerations: Any = ()) -> World:
    """A pod on its node that was given gpu-0."""
    result = {"request": "gpu", "driver": "d", "pool": "p", "device": "gpu-0", "tolerations": list(tolerations)}
    given = claim(allocation={"devices": {"results": [result]}})
    return world(node("n1"), given, pod("web", nodeName="n1", resourceClaims=SHARED), *objects)


def evictions(here: World) -> DeviceTaintEvictions:
    (found,) = (each for each in here.happenings if isinstance(each, DeviceTaintEvictions))
    return found


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([resource_slice()], None),
        ([resource_slice({"key": "a", "effect": "NoSchedule"})], None),
        ([resource_slice(BROKEN)], 0.0),
        ([resource_slice(BROKEN), resource_slice(generation=2, name="newer")], None),
        ([resource_slice(), rule(BROKEN, driver="d")], 0.0),
        ([resource_slice(), rule(BROKEN, device="gpu-1")], None),
        ([resource_slice(), rule(BROKEN)], None),
    ],
)
def test_a_taint_that_evicts_counts_from_the_start(objects: list[Manifest], expected: float | None) -> None:
    due = evictions(running(*objects)).next_at()
    assert (None if due is None else due - START) == expected


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        ([{"key": "broken", "operator": "Exists", "effect": "NoExecute"}], None),
        ([{"key": "broken", "operator": "Exists"}], 0.0),
        ([{"key": "other", "operator": "Exists", "effect": "NoExecute"}], 0.0),
        (
            [
                {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30},
                {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 20},
            ],
            20.0,
        ),
    ],
)
def test_tolerations_of_the_claim_put_it_off(tolerations: list[dict[str, Any]], expected: float | None) -> None:
    due = evictions(running(resource_slice(BROKEN), tolerations=tolerations)).next_at()
    assert (None if due is None else due - START) == expected


def test_a_taint_counts_from_when_it_was_added() -> None:
    tolerations = [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}]
    added = resource_slice(BROKEN | {"timeAdded": "2025-06-15T15:06:35Z"})
    assert evictions(running(added, tolerations=tolerations)).next_at() == START + 25


def test_the_pod_is_told_which_device_it_goes_from_and_the_claim_is_free() -> None:
    here = running(resource_slice(BROKEN))
    asyncio.run(evictions(here).happen(START))
    (record,) = here.cluster.records.values()
    assert record.is_gone
    assert record.message == "evicted from device d/p/gpu-0: taint broken:NoExecute"
    assert evictions(here).next_at() is None


def test_a_taint_that_comes_later_evicts_then() -> None:
    here = running(resource_slice(), at("10s", resource_slice(BROKEN, generation=2)))
    assert evictions(here).next_at() is None
    here.clock.advance(10)
    asyncio.run(here.changes.happen(START + 10))
    assert evictions(here).next_at() == START + 10
