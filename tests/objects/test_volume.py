"""Volumes, claims, classes and what CSI drivers report."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects import volume
from bayplan.objects.selector import EVERYTHING
from tests.objects.making import make

ZONE = "topology.kubernetes.io/zone"


def test_a_volume_knows_its_size_and_who_can_reach_it() -> None:
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}
    made = make(
        volume.PersistentVolume,
        spec={
            "capacity": {"storage": "10Gi"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
            "csi": {"driver": "d", "volumeHandle": "h"},
        },
    )
    assert made.capacity_bytes == 10 * 2**30
    assert made.volume_mode == "Filesystem"
    assert made.node_requirement is not None
    assert made.node_requirement.matches("n", {ZONE: "a"})
    assert not made.node_requirement.matches("n", {ZONE: "b"})
    assert make(volume.PersistentVolume).node_requirement is None
    assert make(volume.PersistentVolume).capacity_bytes == 0


@pytest.mark.parametrize(
    ("name", "annotations", "bound"),
    [
        ("", {}, False),
        ("pv", {}, False),
        ("", {volume.BIND_COMPLETED: "yes"}, False),
        ("pv", {volume.BIND_COMPLETED: "yes"}, True),
    ],
)
def test_a_claim_is_bound_when_it_names_a_volume_and_binding_is_complete(
    name: str, annotations: dict[str, str], bound: bool
) -> None:
    claim = make(
        volume.PersistentVolumeClaim, metadata={"name": "c", "annotations": annotations}, spec={"volumeName": name}
    )
    assert claim.is_bound is bound


def test_what_a_claim_wants() -> None:
    claim = make(
        volume.PersistentVolumeClaim,
        spec={
            "resources": {"requests": {"storage": "1.5"}},
            "selector": {"matchLabels": {"a": "b"}},
            "volumeMode": "Block",
            "storageClassName": "",
        },
    )
    assert claim.request_bytes == 2
    assert claim.volume_mode == "Block"
    assert claim.selector.matches({"a": "b"})
    assert claim.spec.storage_class_name == ""
    assert make(volume.PersistentVolumeClaim).selector is EVERYTHING
    assert make(volume.PersistentVolumeClaim).spec.storage_class_name is None


@pytest.mark.parametrize(
    ("topologies", "allowed"),
    [
        (None, True),
        ([], True),
        ([{"matchLabelExpressions": [{"key": ZONE, "values": ["a", "b"]}]}], True),
        ([{"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]}], False),
        ([{"matchLabelExpressions": []}], False),
        (
            [
                {"matchLabelExpressions": [{"key": ZONE, "values": ["b"]}]},
                {"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]},
            ],
            True,
        ),
        ([{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}, {"key": "x", "values": ["y"]}]}], False),
    ],
)
def test_a_class_says_where_it_may_provision(topologies: Any, allowed: bool) -> None:
    assert make(volume.StorageClass, allowedTopologies=topologies).allows({ZONE: "a"}) is allowed


def test_class_marks() -> None:
    made = make(
        volume.StorageClass,
        metadata={"name": "s", "annotations": {volume.IS_DEFAULT_CLASS[0]: "true"}},
        volumeBindingMode="WaitForFirstConsumer",
    )
    assert made.is_default
    assert made.waits_for_consumer
    assert not make(volume.StorageClass).is_default


def test_csi_limits_leave_out_drivers_without_a_number() -> None:
    drivers = [
        {"name": "a", "nodeID": "x", "allocatable": {"count": 0}},
        {"name": "b", "nodeID": "x"},
        {"name": "c", "nodeID": "x", "allocatable": {}},
    ]
    assert make(volume.CSINode, spec={"drivers": drivers}).limits == {"a": 0}


@pytest.mark.parametrize(
    ("parts", "largest"),
    [({}, None), ({"capacity": "1Gi"}, 2**30), ({"capacity": "1Gi", "maximumVolumeSize": "1Mi"}, 2**20)],
)
def test_the_largest_volume_a_driver_can_make(parts: dict[str, str], largest: int | None) -> None:
    assert make(volume.CSIStorageCapacity, **parts).largest_bytes == largest


def test_storage_capacity_without_topology_reaches_no_node() -> None:
    assert not make(volume.CSIStorageCapacity).selector.matches({ZONE: "a"})
    assert make(volume.CSIStorageCapacity, nodeTopology={}).selector.matches({ZONE: "a"})


def test_attachments_name_node_and_volume() -> None:
    made = make(
        volume.VolumeAttachment, spec={"attacher": "d", "nodeName": "n", "source": {"persistentVolumeName": "pv"}}
    )
    assert (made.spec.node_name, made.spec.source.persistent_volume_name) == ("n", "pv")


def test_fields_of_nodes_do_not_count_for_volumes() -> None:
    """A volume is asked about labels alone: what it says of node names counts as met."""
    name = {"key": "metadata.name", "operator": "In", "values": ["n"]}
    zone = {"key": ZONE, "operator": "In", "values": ["a"]}

    def reached(*terms: Any) -> Any:
        spec = {"nodeAffinity": {"required": {"nodeSelectorTerms": list(terms)}}}
        return make(volume.PersistentVolume, spec=spec).node_requirement

    both = reached({"matchExpressions": [zone], "matchFields": [name]})
    assert both.matches("other", {ZONE: "a"})
    assert not both.matches("n", {})
    assert reached({"matchFields": [name]}) is None
    assert not reached({}).matches("n", {})
    assert not reached().matches("n", {})


def test_the_old_annotation_names_the_class_before_the_field_does() -> None:
    metadata = {"name": "v", "annotations": {volume.BETA_STORAGE_CLASS: "old"}}
    for kind in (volume.PersistentVolume, volume.PersistentVolumeClaim):
        assert make(kind, metadata=metadata, spec={"storageClassName": "new"}).storage_class == "old"
        assert make(kind, spec={"storageClassName": "new"}).storage_class == "new"
        assert make(kind).storage_class == ""


@pytest.mark.parametrize(
    ("provisioner", "can"), [("", False), (volume.NO_PROVISIONER, False), ("csi.example.com", True)]
)
def test_a_class_with_a_provisioner_makes_volumes(provisioner: str, can: bool) -> None:
    assert make(volume.StorageClass, provisioner=provisioner).can_provision is can


def test_plugins_that_csi_drivers_took_over_on_a_node() -> None:
    metadata = {"name": "n", "annotations": {volume.MIGRATED_PLUGINS: "a,b"}}
    assert make(volume.CSINode, metadata=metadata).migrated_plugins == {"a", "b"}
    assert make(volume.CSINode).migrated_plugins == frozenset()


@pytest.mark.parametrize(
    ("topology", "zone", "reached"),
    [
        (None, "a", False),
        ({}, "a", True),
        ({"matchLabels": {ZONE: "a"}}, "a", True),
        ({"matchLabels": {ZONE: "a"}}, "b", False),
    ],
)
def test_storage_capacity_as_a_condition_on_nodes(topology: Any, zone: str, reached: bool) -> None:
    made = make(volume.CSIStorageCapacity, nodeTopology=topology).node_requirement
    assert (made is None or made.matches("", {ZONE: zone})) is reached
