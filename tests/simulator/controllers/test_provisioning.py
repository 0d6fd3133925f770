"""The volumes that provisioners would make, and the storage they take."""

from __future__ import annotations

import pytest

from bayplan.objects.volume import CSINode, CSIPersistentVolume
from bayplan.simulator.controllers.provisioning import provisioned, reduced, set_aside
from bayplan.testing import node
from tests.plugins.storage import DRIVER, claim, csi_node, make_object, room, storage_class, volume

ZONE = "topology.kubernetes.io/zone"
NODE = node("n").zone("a").build()


def test_a_volume_is_made_as_the_claim_asks() -> None:
    wanted = claim("c", size="3Gi", spec={"accessModes": ["ReadWriteMany"], "volumeMode": "Block"})
    made = provisioned(wanted, storage_class("fast"), NODE, None)
    assert (made.capacity_bytes, made.spec.access_modes, made.volume_mode) == (3 * 2**30, ("ReadWriteMany",), "Block")
    assert (made.storage_class, made.status.phase) == ("fast", "Bound")
    assert made.is_set_aside_for(wanted)
    assert made.spec.csi == CSIPersistentVolume(driver=DRIVER, volume_handle=made.name)
    assert made.node_requirement is None


def test_an_old_class_makes_volumes_of_the_driver_that_took_over() -> None:
    made = provisioned(claim("c"), storage_class("old", "kubernetes.io/aws-ebs"), NODE, None)
    assert made.spec.csi is not None
    assert made.spec.csi.driver == "ebs.csi.aws.com"


@pytest.mark.parametrize(
    ("keys", "elsewhere"), [([ZONE], False), ([ZONE, "not/there"], False), (["not/there"], True), ([], True)]
)
def test_a_volume_is_reached_by_the_labels_the_driver_goes_by(keys: list[str], elsewhere: bool) -> None:
    drivers = [{"name": "other", "topologyKeys": ["x"]}, {"name": DRIVER, "topologyKeys": keys}]
    said = make_object(CSINode, "n", spec={"drivers": drivers})
    requirement = provisioned(claim("c"), storage_class("fast"), NODE, said).node_requirement
    assert requirement is None or requirement.matches("", {ZONE: "a"})
    assert (requirement is None or requirement.matches("", {ZONE: "b"})) is elsewhere


def test_a_driver_that_names_no_labels_reaches_its_volumes_from_everywhere() -> None:
    assert provisioned(claim("c"), storage_class("fast"), NODE, csi_node("n", {DRIVER: 1})).node_requirement is None


def test_a_volume_that_names_the_claim_already_is_left_as_it_is() -> None:
    named = set_aside(volume("v").spec, claim("c"))
    assert set_aside(named, claim("c")) is named


def test_the_first_storage_that_has_room_at_the_node_is_taken_from() -> None:
    rooms = [
        room("of-another-class", "other", capacity="9Gi", nodeTopology={}),
        room("elsewhere", "wait", capacity="9Gi", nodeTopology={"matchLabels": {ZONE: "b"}}),
        room("too-small", "wait", capacity="1Gi", nodeTopology={}),
        room("not-told", "wait", maximumVolumeSize="9Gi", nodeTopology={}),
        room("right", "wait", capacity="5Gi", nodeTopology={"matchLabels": {ZONE: "a"}}),
    ]
    found = reduced(rooms, claim("c", size="2Gi"), NODE)
    assert found is not None
    assert (found[0].name, found[1].capacity) == ("right", "3Gi")
    assert reduced(rooms[:-1], claim("c", size="2Gi"), NODE) is None
