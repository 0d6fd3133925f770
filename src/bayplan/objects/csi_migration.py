"""Volumes of the old in-tree plugins, as the CSI drivers that took them over know them.

`node_volume_limits` counts them by driver and handle, `volume_binding` asks where the driver can reach them. Of the
plugins that have a driver, those in `SWITCHED` are looked after by it wherever a node says so; the others are only
known by name. What cannot be translated is told in kube-scheduler's words, since they end up in pods' conditions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from bayplan.objects.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from bayplan.objects.node import REGION_LABELS, ZONE_LABELS
from bayplan.objects.pod_volume import Volume
from bayplan.objects.requirement import IN
from bayplan.objects.selector import NodeRequirement
from bayplan.objects.volume import PersistentVolume, VolumeNodeAffinity, volume_requirement

MANY_ZONES = "__"
"""Between the zones of a volume that is in several of them, as its label says it."""

_OLD_ZONE, _ZONE = ZONE_LABELS
_OLD_REGION, _REGION = REGION_LABELS
_UNKNOWN = "UNSPECIFIED"


@dataclass(frozen=True, slots=True)
class InTreePlugin:
    """An in-tree plugin and its successor."""

    name: str
    field: str
    driver: str
    zone_key: str = ""
    """The node label that the driver keeps zones in; none if it does not translate them."""


PLUGINS = (
    InTreePlugin(
        "kubernetes.io/aws-ebs", "aws_elastic_block_store", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"
    ),
    InTreePlugin("kubernetes.io/gce-pd", "gce_persistent_disk", "pd.csi.storage.gke.io", "topology.gke.io/zone"),
    InTreePlugin("kubernetes.io/azure-disk", "azure_disk", "disk.csi.azure.com"),
    InTreePlugin(
        "kubernetes.io/cinder", "cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone"
    ),
    InTreePlugin("kubernetes.io/portworx-volume", "portworx_volume", "pxd.portworx.com"),
    InTreePlugin("kubernetes.io/azure-file", "azure_file", "file.csi.azure.com"),
    InTreePlugin("kubernetes.io/vsphere-volume", "vsphere_volume", "csi.vsphere.vmware.com"),
)
BY_NAME = {plugin.name: plugin for plugin in PLUGINS}
SWITCHED = frozenset(plugin.name for plugin in PLUGINS[:5])


def plugin_of(thing: Volume | PersistentVolume) -> InTreePlugin | None:
    """The plugin an inline volume or a PersistentVolume is of, unless it is no old one."""
    source: Any = thing.spec if isinstance(thing, PersistentVolume) else thing
    return next((plugin for plugin in PLUGINS if getattr(source, plugin.field) is not None), None)


def inline_handle(volume: Volume) -> str:
    """The driver's name for an inline volume of a plugin in `SWITCHED`; ValueError if it has none."""
    if volume.gce_persistent_disk is not None:
        return _zonal_disk(_UNKNOWN, volume.gce_persistent_disk.pd_name)
    return _handle(volume)


def volume_handle(volume: PersistentVolume) -> str:
    """The driver's name for a volume of a plugin in `SWITCHED`; ValueError if it has none."""
    disk = volume.spec.gce_persistent_disk
    if disk is None:
        return _handle(volume.spec)
    zones = (volume.labels.get(_OLD_ZONE) or volume.labels.get(_ZONE, "")).split(MANY_ZONES)
    if len(zones) > 1:
        return f"projects/{_UNKNOWN}/regions/{_region_of(zones)}/disks/{disk.pd_name}"
    return _zonal_disk(zones[0] or _UNKNOWN, disk.pd_name)


def migrated_requirement(volume: PersistentVolume, plugin: InTreePlugin) -> NodeRequirement | None:
    """The nodes from which the driver reaches the volume, or None for all; ValueError if it cannot be its volume."""
    volume_handle(volume)
    affinity = volume.spec.node_affinity
    return volume_requirement(_in_terms_of(plugin.zone_key, volume) if plugin.zone_key else affinity)


# -- names of disks --


def _handle(source: Any) -> str:
    """Of everything but GCE disks, which are written differently inline."""
    name: str
    for field, read in _READ.items():
        found = getattr(source, field)
        if found is not None:
            name = read(found)
            return name
    raise ValueError("it is of no plugin that a CSI driver took over")


def _ebs_volume(disk: Any) -> str:
    written: str = disk.volume_id
    if not written.startswith("aws://"):
        return written
    name = written.removeprefix("aws://").partition("/")[2].strip("/")
    if not re.fullmatch(r"vol-[^/]*", name):
        problem = f"Invalid format for AWS volume ({written})"
        raise ValueError(f"failed to translate Kubernetes ID to EBS Volume ID {problem}")
    return name


def _azure_disk(disk: Any) -> str:
    if disk.kind is not None and disk.kind.lower() != "managed":
        raise ValueError(f"kind({disk.kind}) is not supported in csi migration")
    uri: str = disk.disk_uri
    return uri


_READ: dict[str, Callable[[Any], str]] = {
    "aws_elastic_block_store": _ebs_volume,
    "azure_disk": _azure_disk,
    "cinder": lambda disk: disk.volume_id,
    "portworx_volume": lambda disk: disk.volume_id,
}


def _zonal_disk(zone: str, name: str) -> str:
    return f"projects/{_UNKNOWN}/zones/{zone}/disks/{name}"


def _region_of(zones: list[str]) -> str:
    """The region of GCE zones, which are written like europe-west1-b."""
    for zone in zones:
        if zone.count("-") != 2:
            expected = "zone in unexpected format, expected: {locale}-{region}-{zone}"
            raise ValueError(f"failed to get region from zones: {expected}, got: {zone}")
    regions = sorted({zone.rpartition("-")[0] for zone in zones})
    if len(regions) != 1:
        listed = " ".join(f"{region}:{{}}" for region in regions)
        problem = f"multiple or no regions gotten from zones, got: map[{listed}]"
        raise ValueError(f"failed to get region from zones: {problem}")
    return regions[0]


# -- where the driver reaches them --


def _in_terms_of(key: str, volume: PersistentVolume) -> VolumeNodeAffinity | None:
    """The volume's affinity with its zones under the driver's label."""
    affinity = volume.spec.node_affinity
    terms = (affinity.required.node_selector_terms or ()) if affinity and affinity.required else ()
    zone, region = _topology_keys(volume, terms)
    if any(each.key == zone and each.values for each in _expressions(terms)):
        terms = _renamed(terms, zone, key)
    else:
        zones = sorted(filter(None, map(str.strip, volume.labels.get(zone, "").split(MANY_ZONES))))
        if zones:
            added = NodeSelectorRequirement(key=key, operator=IN, values=tuple(dict.fromkeys(zones)))
            terms = tuple(
                replace(term, match_expressions=(*(term.match_expressions or ()), added))
                for term in terms or (NodeSelectorTerm(),)
            )
    if region == _OLD_REGION and any(each.key == region and each.values for each in _expressions(terms)):
        terms = _renamed(terms, region, _REGION)
    if not terms:
        return affinity
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms))


def _topology_keys(volume: PersistentVolume, terms: tuple[NodeSelectorTerm, ...]) -> tuple[str, str]:
    """The labels its zones and regions are written under: what the affinity uses goes before the volume's labels."""
    used = {each.key for each in _expressions(terms)}
    for known in (used, volume.labels):
        if _ZONE in known:
            return _ZONE, _REGION
        if _OLD_ZONE in known:
            return _OLD_ZONE, _OLD_REGION
    return _ZONE, _REGION


def _expressions(terms: tuple[NodeSelectorTerm, ...]) -> list[NodeSelectorRequirement]:
    return [each for term in terms for each in term.match_expressions or ()]


def _renamed(terms: tuple[NodeSelectorTerm, ...], old: str, new: str) -> tuple[NodeSelectorTerm, ...]:
    return tuple(
        replace(
            term,
            match_expressions=tuple(
                replace(each, key=new) if each.key == old else each for each in term.match_expressions or ()
            ),
        )
        for term in terms
    )
