"""What an API server refuses in volumes, claims and their classes.

`created` calls these for objects, `pod_admission` for the volumes of pods.
"""

from __future__ import annotations

from typing import Any

from bayplan.objects import volume
from bayplan.objects.admission import name_checks
from bayplan.objects.mistakes import Mistakes, mistake, not_negative, one_of, tried
from bayplan.objects.pod_volume import PersistentVolumeClaimSpec
from bayplan.objects.quantity import milli_value
from bayplan.objects.requirement import check_key

_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", volume.READ_WRITE_ONCE_POD)
_VOLUME_MODES = (volume.FILESYSTEM, "Block")
_MAX_DRIVER, _MAX_NODE_ID = 63, 256
_MAX_PARTITION = 255
_NEEDED: dict[str, tuple[str, ...]] = {
    "gce_persistent_disk": ("pd_name",),
    "aws_elastic_block_store": ("volume_id",),
    "iscsi": ("target_portal", "iqn"),
    "rbd": ("monitors", "image"),
    "azure_disk": ("disk_name", "disk_uri"),
    "azure_file": ("secret_name", "share_name"),
    "cinder": ("volume_id",),
    "portworx_volume": ("volume_id",),
    "vsphere_volume": ("volume_path",),
    "image": ("reference",),
}
"""What each kind of disk must say."""


def check_disks(field: str, written: Any) -> Mistakes:
    """Disks of a pod's volume or of a PersistentVolume."""
    for source, needed in _NEEDED.items():
        disk = getattr(written, source, None)
        for name in needed if disk is not None else ():
            if not getattr(disk, name):
                yield mistake(f"{field}.{_camel(source)}.{_camel(name)}", "empty", "write which one it is")
        partition = getattr(disk, "partition", 0)
        if not 0 <= partition <= _MAX_PARTITION:
            yield mistake(f"{field}.{_camel(source)}.partition", f"{partition} is none", "write 0 to 255")
    path = getattr(written, "host_path", None)
    if path is not None and not path.get("path"):
        yield mistake(f"{field}.hostPath.path", "empty", "write a path")
    scratch = getattr(written, "empty_dir", None)
    if scratch is not None and scratch.get("sizeLimit") is not None:
        yield from not_negative(f"{field}.emptyDir.sizeLimit", scratch["sizeLimit"])


def check_claim(spec: PersistentVolumeClaimSpec, field: str) -> Mistakes:
    """A claim, or the template of one."""
    modes = spec.access_modes or ()
    yield from _access_modes(f"{field}.accessModes", modes)
    if volume.READ_WRITE_ONCE_POD in modes and len(modes) > 1:
        yield mistake(f"{field}.accessModes", f"{volume.READ_WRITE_ONCE_POD} goes alone", "remove the others")
    asked = (spec.resources.requests or {}).get(volume.STORAGE)
    yield from _size(f"{field}.resources.requests.storage", asked)
    yield from _mode_and_class(field, spec.volume_mode, spec.storage_class_name)


def check_volume(thing: volume.PersistentVolume) -> Mistakes:
    spec = thing.spec
    yield from _access_modes("spec.accessModes", spec.access_modes or ())
    for name in spec.capacity or {}:
        if name != volume.STORAGE:
            yield mistake(f"spec.capacity.{name}", "a volume has storage only", "remove it")
    yield from _size("spec.capacity.storage", (spec.capacity or {}).get(volume.STORAGE))
    yield from _mode_and_class("spec", spec.volume_mode, spec.storage_class_name)
    yield from check_disks("spec", spec)
    sources = [*_NEEDED, "csi", "local", "host_path"]
    if sum(getattr(spec, name, None) is not None for name in sources) > 1:
        yield mistake("spec", "several kinds of volume at once", "keep one of them")
    if spec.csi is not None:
        yield from _driver("spec.csi.driver", spec.csi.driver)
        if not spec.csi.volume_handle:
            yield mistake("spec.csi.volumeHandle", "empty", "write which one it is")


def check_class(thing: volume.StorageClass) -> Mistakes:
    yield from tried("provisioner", check_key, thing.provisioner.lower())
    for index, term in enumerate(thing.allowed_topologies or ()):
        at = f"allowedTopologies[{index}].matchLabelExpressions"
        expressions = term.match_label_expressions or ()
        for each in expressions:
            yield from tried(f"{at}.key", check_key, each.key)
            if not each.values:
                yield mistake(f"{at}.values", "empty", "write the values that are allowed")
            yield from name_checks.unique(f"{at}.values", each.values or ())
        yield from name_checks.unique(at, (each.key for each in expressions))


def check_driver_list(thing: volume.CSINode) -> Mistakes:
    drivers = thing.spec.drivers or ()
    for index, driver in enumerate(drivers):
        at = f"spec.drivers[{index}]"
        yield from _driver(f"{at}.name", driver.name)
        if not 0 < len(driver.node_id) <= _MAX_NODE_ID:
            yield mistake(f"{at}.nodeID", f"{len(driver.node_id)} characters", f"write 1 to {_MAX_NODE_ID}")
        for key in driver.topology_keys or ():
            yield from tried(f"{at}.topologyKeys", check_key, key)
        yield from name_checks.unique(f"{at}.topologyKeys", driver.topology_keys or ())
    yield from name_checks.unique("spec.drivers", (driver.name for driver in drivers))


def _driver(field: str, name: str) -> Mistakes:
    if len(name) > _MAX_DRIVER:
        yield mistake(field, f"{len(name)} characters", f"write at most {_MAX_DRIVER}")
    else:
        yield from name_checks.subdomain(field, name.lower())


def _access_modes(field: str, modes: tuple[str, ...]) -> Mistakes:
    if not modes:
        yield mistake(field, "there is none", f"write {' or '.join(_MODES)}")
    for mode in modes:
        yield from one_of(field, mode, _MODES)


def _size(field: str, amount: Any) -> Mistakes:
    if amount is None:
        yield mistake(field, "there is none", "write how much, such as 1Gi")
        return
    yield from not_negative(field, amount)
    if _is_quantity(amount) and milli_value(amount) == 0:
        yield mistake(field, f"{amount} is nothing", "write how much, such as 1Gi")


def _mode_and_class(field: str, mode: str | None, name: str | None) -> Mistakes:
    if mode is not None:
        yield from one_of(f"{field}.volumeMode", mode, _VOLUME_MODES)
    if name:
        yield from name_checks.subdomain(f"{field}.storageClassName", name)


def _is_quantity(amount: Any) -> bool:
    try:
        milli_value(amount)
    except ValueError:
        return False
    return True


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return {"volume_id": "volumeID", "disk_uri": "diskURI"}.get(name, first + "".join(each.title() for each in rest))
