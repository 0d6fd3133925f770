"""Which changes bring a pod with claims back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.framework import Change
from bayplan.objects.devices.resource_claim import AllocationResult, ResourceClaim, ResourceClaimStatus
from bayplan.plugins.dynamic_resources import DynamicResources
from bayplan.plugins.dynamic_resources.extended_resources import extended_claim
from bayplan.plugins.dynamic_resources.requeueing import Hints
from bayplan.testing import cluster, make, node, pod
from tests.plugins.dynamic_resources.device_building import claim, request

OWN, OTHER = claim("c", request()), claim("other", request())
ASKED = pod("a").resource_claim("c").build()


def hints_with(*objects: Any) -> Hints:
    store = cluster([node("n")], [], list(objects)).objects
    return Hints(lambda: store)


def held(one: ResourceClaim) -> Any:
    return one.evolve(status=ResourceClaimStatus(allocation=AllocationResult()))


def labelled(one: ResourceClaim) -> Any:
    return one.evolve(metadata=msgspec.structs.replace(one.metadata, labels={"a": "b"}))


def test_it_asks_for_all_that_devices_depend_on() -> None:
    rules: dict[str, Change] = {}
    for on in make(DynamicResources, cluster([node("n")])).requeue_on():
        rules[on.kind] = rules.get(on.kind, Change(0)) | on.change
    assert rules == {
        "Node": Change.ADDED | Change.LABEL | Change.ALLOCATABLE,
        "ResourceClaim": Change.ADDED | Change.UPDATED | Change.DELETED,
        "Pod": Change.POD_GENERATED_CLAIM,
        "DeviceClass": Change.ADDED | Change.UPDATED,
        "ResourceSlice": Change.ADDED | Change.UPDATED | Change.DELETED,
        "DeviceTaintRule": Change.ANY,
    }


@pytest.mark.parametrize(
    ("old", "new", "helps"),
    [
        (held(OTHER), OTHER, True),
        (held(OWN), OWN, True),
        (None, OWN, True),
        (OWN, held(OWN), True),
        (OWN, labelled(OWN), False),
        (None, OTHER, False),
        (OTHER, held(OTHER), False),
    ],
)
def test_a_claim_event_helps_if_devices_became_free_or_the_pod_uses_it(old: Any, new: Any, helps: bool) -> None:
    hints = hints_with(OWN, OTHER)
    assert hints.claim_changed(ASKED, old, new) is helps


def test_a_claim_that_went_helps_if_it_had_devices_or_was_left_behind_by_the_pod_itself() -> None:
    hints = hints_with(OWN)
    left = extended_claim(ASKED, ["example.com/gpu"], lambda _: "gpu").claim
    assert hints.claim_gone(ASKED, held(OTHER), None)
    assert not hints.claim_gone(ASKED, OTHER, None)
    assert hints.claim_gone(ASKED, left, None)
    assert not hints.claim_gone(pod("b").build(), left, None)


def test_no_claim_event_helps_a_pod_whose_own_claim_is_missing() -> None:
    hints = hints_with(OTHER)
    assert not hints.claim_changed(ASKED, held(OTHER), OTHER)


def test_a_pod_event_helps_if_its_claims_are_there_now() -> None:
    there, missing = hints_with(OWN), hints_with()
    assert there.pod_changed(ASKED, ASKED, ASKED)
    assert not missing.pod_changed(ASKED, ASKED, ASKED)
    assert not there.pod_changed(ASKED, None, pod("b").resource_claim("c").build())
