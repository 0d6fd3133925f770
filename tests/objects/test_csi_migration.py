"""Volumes of old plugins as their CSI drivers know them: names, and where they are reached."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.objects import csi_migration
from bayplan.objects.csi_migration import BY_NAME, SWITCHED
from bayplan.objects.pod_volume import Volume
from bayplan.objects.selector import NodeRequirement
from bayplan.objects.volume import PersistentVolume
from tests.objects.making import make

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION, OLD_REGION = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
EBS_ZONE = "topology.ebs.csi.aws.com/zone"
URI = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d"

HANDLES: list[tuple[dict[str, Any], str, str, str]] = [
    ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "vol-1"),
    ({"awsElasticBlockStore": {"volumeID": "aws://z/vol-1"}}, "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "vol-1"),
    ({"awsElasticBlockStore": {"volumeID": "aws:///vol-1"}}, "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "vol-1"),
    (
        {"gcePersistentDisk": {"pdName": "d"}},
        "kubernetes.io/gce-pd",
        "pd.csi.storage.gke.io",
        "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d",
    ),
    (
        {"azureDisk": {"diskName": "d", "diskURI": URI, "kind": "Managed"}},
        "kubernetes.io/azure-disk",
        "disk.csi.azure.com",
        URI,
    ),
    ({"azureDisk": {"diskName": "d", "diskURI": URI}}, "kubernetes.io/azure-disk", "disk.csi.azure.com", URI),
    ({"cinder": {"volumeID": "c"}}, "kubernetes.io/cinder", "cinder.csi.openstack.org", "c"),
    ({"portworxVolume": {"volumeID": "p"}}, "kubernetes.io/portworx-volume", "pxd.portworx.com", "p"),
]


@pytest.mark.parametrize(("source", "plugin", "driver", "handle"), HANDLES)
def test_a_disk_has_the_same_name_inline_and_as_a_volume(
    source: dict[str, Any], plugin: str, driver: str, handle: str
) -> None:
    inline, volume = msgspec.convert({"name": "v", **source}, Volume), make(PersistentVolume, spec=source)
    for thing in (inline, volume):
        found = csi_migration.plugin_of(thing)
        assert found is not None
        assert (found.name, found.driver) == (plugin, driver)
        assert found.name in SWITCHED
    assert csi_migration.inline_handle(inline) == handle
    assert csi_migration.volume_handle(volume) == handle


@pytest.mark.parametrize(
    ("labels", "place"),
    [
        ({ZONE: "europe-west1-b"}, "zones/europe-west1-b"),
        ({OLD_ZONE: "europe-west1-b", ZONE: "europe-west1-c"}, "zones/europe-west1-b"),
        ({ZONE: "europe-west1-b__europe-west1-c"}, "regions/europe-west1"),
    ],
)
def test_a_gce_volume_is_named_with_its_place(labels: dict[str, str], place: str) -> None:
    metadata = {"name": "v", "labels": labels}
    volume = make(PersistentVolume, metadata=metadata, spec={"gcePersistentDisk": {"pdName": "d"}})
    assert csi_migration.volume_handle(volume) == f"projects/UNSPECIFIED/{place}/disks/d"


UNKNOWN: list[tuple[dict[str, Any], dict[str, str], str]] = [
    ({"awsElasticBlockStore": {"volumeID": "aws://z/disk-1"}}, {}, r"Invalid format for AWS volume \(aws://z/disk-1\)"),
    ({"azureDisk": {"diskURI": "u", "kind": "Dedicated"}}, {}, r"kind\(Dedicated\) is not supported in csi migration"),
    ({"gcePersistentDisk": {"pdName": "d"}}, {ZONE: "a__b"}, "unexpected format, .*, got: a$"),
    ({"gcePersistentDisk": {"pdName": "d"}}, {ZONE: "a-d-c__a-b-c"}, r"got: map\[a-b:\{\} a-d:\{\}\]"),
    ({"hostPath": {"path": "/x"}}, {}, "no plugin"),
]


@pytest.mark.parametrize(("source", "labels", "said"), UNKNOWN)
def test_a_volume_that_its_driver_cannot_know(source: dict[str, Any], labels: dict[str, str], said: str) -> None:
    volume = make(PersistentVolume, metadata={"name": "v", "labels": labels}, spec=source)
    with pytest.raises(ValueError, match=said):
        csi_migration.volume_handle(volume)


def test_azure_files_and_vsphere_disks_stay_where_they_are() -> None:
    for name in ("kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"):
        assert name in BY_NAME
        assert name not in SWITCHED
    assert csi_migration.plugin_of(Volume(name="v")) is None


def requirement(plugin: str, labels: dict[str, str], *conditions: tuple[str, ...]) -> NodeRequirement | None:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": values}]} for key, *values in conditions]
    spec: dict[str, Any] = {"awsElasticBlockStore": {"volumeID": "vol-1"}, "portworxVolume": None}
    if terms:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    volume = make(PersistentVolume, metadata={"name": "v", "labels": labels}, spec=spec)
    return csi_migration.migrated_requirement(volume, BY_NAME[plugin])


REACHED: list[tuple[str, dict[str, str], list[tuple[str, ...]], dict[str, str], bool]] = [
    ("zones move to the driver's label", {}, [(ZONE, "a")], {EBS_ZONE: "a"}, True),
    ("and are gone from the old one", {}, [(ZONE, "a")], {ZONE: "a"}, False),
    ("old zones too", {}, [(OLD_ZONE, "a")], {EBS_ZONE: "a"}, True),
    ("zones of the label, if there are no others", {ZONE: "a__b"}, [], {EBS_ZONE: "b"}, True),
    ("zones of the old label", {OLD_ZONE: "a"}, [], {EBS_ZONE: "a"}, True),
    ("a zone that is not one of them", {ZONE: "a"}, [], {EBS_ZONE: "b"}, False),
    ("what the affinity says goes before labels", {ZONE: "b"}, [(ZONE, "a")], {EBS_ZONE: "a"}, True),
    (
        "every term is narrowed by the label",
        {ZONE: "a"},
        [("rack", "1"), ("rack", "2")],
        {EBS_ZONE: "a", "rack": "2"},
        True,
    ),
    ("and no term is left as it was", {ZONE: "a"}, [("rack", "1"), ("rack", "2")], {"rack": "2"}, False),
    ("regions keep their label", {}, [(ZONE, "a"), (REGION, "r")], {REGION: "r"}, True),
    ("old regions get the new one", {}, [(OLD_ZONE, "a"), (OLD_REGION, "r")], {REGION: "r"}, True),
]


@pytest.mark.parametrize(
    ("case", "labels", "conditions", "node", "reached"), REACHED, ids=[each[0] for each in REACHED]
)
def test_where_the_driver_reaches_a_volume(
    case: str, labels: dict[str, str], conditions: list[tuple[str, ...]], node: dict[str, str], reached: bool
) -> None:
    found = requirement("kubernetes.io/aws-ebs", labels, *conditions)
    assert found is not None
    assert found.matches("", node) is reached


def test_a_volume_that_says_nothing_is_reached_from_everywhere() -> None:
    assert requirement("kubernetes.io/aws-ebs", {}) is None


def test_a_driver_without_zones_leaves_the_affinity_alone() -> None:
    found = requirement("kubernetes.io/portworx-volume", {}, (ZONE, "a"))
    assert found is not None
    assert found.matches("", {ZONE: "a"})
