"""Storage: classes, CSI drivers and what they say of nodes, volumes in every state, and claims for them.

``make_storage`` makes it all for clusters whose style asks for it; ``mounting`` gives it to pods. Volumes of a class
have different sizes, since among equals the real scheduler takes whichever its map gives it first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.parity.generating.cluster import Object, World, chance, some
from tests.parity.generating.nodes import HOSTNAME, RACKS, REGION, ZONE, ZONES
from tests.parity.generating.policies import NAMESPACES

OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
OLD_REGION = "failure-domain.beta.kubernetes.io/region"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BOUND = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"
DRIVER, MEASURED = "csi.example.com", "measured.example.com"
DRIVERS = [DRIVER, MEASURED, "ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "pxd.portworx.com"]
IN_TREE = ["kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "kubernetes.io/azure-disk", "kubernetes.io/cinder"]
# name, provisioner, whether it waits for the pod
CLASSES = [
    ("instant", DRIVER, False),
    ("local", "kubernetes.io/no-provisioner", True),
    ("wait", DRIVER, True),
    ("zoned", DRIVER, True),
    ("measured", MEASURED, True),
    ("old", "kubernetes.io/aws-ebs", True),
    ("older", "kubernetes.io/vsphere-volume", True),
]
WAITING = [name for name, _, waits in CLASSES if waits]
SIZES = ["1Gi", "2Gi", "3Gi", "5Gi", "8Gi"]
MODES = ["ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany"]


@dataclass(slots=True)
class Storage:
    """All storage of a cluster."""

    objects: list[Object] = field(default_factory=list)
    deleting: list[tuple[str, str | None, str]] = field(default_factory=list)
    """(kind, namespace, name) of objects that are being deleted and held by a finalizer."""
    claims: dict[str, list[str]] = field(default_factory=dict)
    """The claims of each namespace."""
    volume_count: int = 0


def make_storage(rng: Random, world: World) -> Storage:
    storage = Storage()
    storage.objects += [_make_class(rng, *one) for one in CLASSES]
    storage.objects += _make_drivers(rng)
    storage.objects += [_make_csi_node(rng, node) for node in world.nodes if chance(rng, 0.85)]
    for _ in range(rng.randint(3, 10)):
        storage.objects.append(_make_capacity(rng, world, f"room-{len(storage.objects)}"))
    for name in WAITING:
        for _ in range(rng.randint(0, 5)):
            storage.objects.append(_make_free_volume(rng, world, storage, name))
    for namespace in list(NAMESPACES)[: world.style.namespaces]:
        storage.claims[namespace] = []
        for index in range(rng.randint(8, 14)):
            _add_claim(rng, world, storage, namespace, f"claim-{index:02}")
    volumes = [one["metadata"]["name"] for one in storage.objects if one["kind"] == "PersistentVolume"]
    for index in range(rng.randint(0, 6)):
        storage.objects.append(_make_attachment(rng, world, f"attachment-{index}", rng.choice([*volumes, "gone"])))
    return storage


# -- classes and drivers --


def _typed(kind: str, name: str, version: str = "storage.k8s.io/v1", **fields: Any) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}} | fields


def _make_class(rng: Random, name: str, provisioner: str, waits: bool) -> Object:
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    made = _typed("StorageClass", name, provisioner=provisioner, volumeBindingMode=mode)
    if name == "zoned":
        terms = [{"matchLabelExpressions": [{"key": ZONE, "values": some(rng, ZONES, 1, 2)}]}]
        if chance(rng, 0.4):
            rack = {"key": "rack", "values": some(rng, RACKS, 1, 2)}
            terms.append({"matchLabelExpressions": [rack, {"key": ZONE, "values": [rng.choice(ZONES)]}]})
        made["allowedTopologies"] = terms
    return made


def _make_drivers(rng: Random) -> list[Object]:
    drivers = [_typed("CSIDriver", MEASURED, spec={"storageCapacity": chance(rng, 0.9)})]
    if chance(rng, 0.5):
        drivers.append(_typed("CSIDriver", DRIVER, spec={}))
    return drivers


def _make_csi_node(rng: Random, node: Object) -> Object:
    name = node["metadata"]["name"]
    drivers: list[Object] = []
    for driver in some(rng, DRIVERS, 2, 5):
        one: Object = {"name": driver, "nodeID": name, "topologyKeys": [HOSTNAME]}
        if chance(rng, 0.85):
            one["allocatable"] = {"count": rng.choice([1, 1, 2, 3, 5])}
        drivers.append(one)
    made = _typed("CSINode", name, spec={"drivers": drivers})
    if chance(rng, 0.6):
        made["metadata"]["annotations"] = {MIGRATED: ",".join(some(rng, IN_TREE))}
    return made


def _make_capacity(rng: Random, world: World, name: str) -> Object:
    made = _typed("CSIStorageCapacity", name, storageClassName=rng.choice(["measured", "measured", "measured", "wait"]))
    made["metadata"]["namespace"] = "default"
    if chance(rng, 0.9):
        made["capacity"] = rng.choice(["0", *SIZES])
    if chance(rng, 0.3):
        made["maximumVolumeSize"] = rng.choice(SIZES)
    topologies: list[Object | None] = [
        {"matchLabels": {ZONE: rng.choice(ZONES)}},
        {"matchLabels": {HOSTNAME: world.node_name(rng)}},
        {"matchExpressions": [{"key": "rack", "operator": "NotIn", "values": some(rng, RACKS, 1, 2)}]},
        {"matchLabels": {"disk": "ssd"}, "matchExpressions": [{"key": ZONE, "operator": "Exists"}]},
        {},
        None,
    ]
    topology = rng.choices(topologies, [4, 4, 2, 2, 1, 1])[0]
    return made if topology is None else made | {"nodeTopology": topology}


def _make_attachment(rng: Random, world: World, name: str, volume: str) -> Object:
    spec = {"attacher": rng.choice(DRIVERS[:3]), "nodeName": world.node_name(rng)}
    return _typed("VolumeAttachment", name, spec=spec | {"source": {"persistentVolumeName": volume}})


# -- volumes --


def _make_volume(rng: Random, world: World, storage: Storage, class_name: str) -> Object:
    """With a size of its own."""
    storage.volume_count += 1
    number = storage.volume_count
    spec: Object = {
        "capacity": {"storage": f"{rng.randint(1, 9)}{number:03}Mi"},
        "accessModes": some(rng, MODES, 1, 3),
        "storageClassName": class_name,
    }
    made = _typed("PersistentVolume", f"volume-{number:03}", "v1", spec=spec)
    made["metadata"]["labels"] = _make_labels(rng)
    spec |= _make_source(rng, number)
    affinity = _make_affinity(rng, world)
    if affinity is not None:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": affinity}}
    if chance(rng, 0.06):
        spec["volumeMode"] = "Block"
    if chance(rng, 0.05) and "csi" in spec:
        spec["volumeAttributesClassName"] = "fast"
    return made


def _make_labels(rng: Random) -> dict[str, str]:
    labels = {"tier": rng.choice(["gold", "tin"])}
    zones = some(rng, ZONES, 1, 2)
    if chance(rng, 0.3):
        labels[rng.choice([ZONE, ZONE, OLD_ZONE])] = "__".join(zones)
    if chance(rng, 0.15):
        labels[rng.choice([REGION, OLD_REGION])] = rng.choice(["north", "south"])
    if chance(rng, 0.03):
        labels[ZONE] = "z1____z2"
    return labels


def _make_source(rng: Random, number: int) -> Object:
    disk = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d"
    sources: list[Object] = [
        {"csi": {"driver": rng.choice([DRIVER, DRIVER, MEASURED]), "volumeHandle": f"handle-{rng.randrange(60)}"}},
        {"hostPath": {"path": "/data"}},
        {"awsElasticBlockStore": {"volumeID": rng.choice([f"vol-{number}", f"aws://z1/vol-{number}"])}},
        {"gcePersistentDisk": {"pdName": f"disk-{number}"}},
        {"azureDisk": {"diskName": "d", "diskURI": f"{disk}-{number}", "kind": "Managed"}},
        {"cinder": {"volumeID": f"cinder-{number}"}},
        {"portworxVolume": {"volumeID": f"px-{number}"}},
        {"iscsi": {"targetPortal": "10.0.0.1", "iqn": f"iqn.2026-01.example:{number}", "lun": 0}},
    ]
    return rng.choices(sources, [10, 2, 2, 1, 1, 1, 1, 1])[0]


def _make_affinity(rng: Random, world: World) -> list[Object] | None:
    """From where the volume is reached."""
    names = [world.node_name(rng) for _ in range(rng.choice([1, 1, 2, 4]))]
    conditions: list[Object | None] = [
        None,
        {"key": HOSTNAME, "operator": "In", "values": names},
        {"key": ZONE, "operator": "In", "values": some(rng, ZONES, 1, 2)},
        {"key": OLD_ZONE, "operator": "In", "values": some(rng, ZONES, 1, 2)},
        {"key": "rack", "operator": "NotIn", "values": some(rng, RACKS, 1, 2)},
        {"key": "gpu", "operator": rng.choice(["Exists", "DoesNotExist"])},
        {"key": "gen", "operator": rng.choice(["Gt", "Lt"]), "values": ["2"]},
    ]
    condition = rng.choices(conditions, [4, 6, 4, 1, 2, 1, 1])[0]
    if condition is None:
        return None
    terms: list[Object] = [{"matchExpressions": [condition]}]
    if chance(rng, 0.15):
        terms.append({"matchExpressions": [{"key": "disk", "operator": "In", "values": [rng.choice(["ssd", "hdd"])]}]})
    if chance(rng, 0.1):
        terms[0]["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": [world.node_name(rng)]}]
    return terms


def _make_free_volume(rng: Random, world: World, storage: Storage, class_name: str) -> Object:
    made = _make_volume(rng, world, storage, class_name)
    _keep_in_place(made)
    made["status"] = {"phase": rng.choices(["Available", "Released", "Failed", "Pending"], [12, 1, 1, 1])[0]}
    if chance(rng, 0.06):
        _delete(made, storage)
    return made


def _keep_in_place(volume: Object) -> None:
    """Not one of a plugin that CSI drivers took over: once such a volume is chosen it may turn out to be elsewhere,
    which shows only when the pod is on its way."""
    for source in ("awsElasticBlockStore", "gcePersistentDisk", "azureDisk", "cinder", "portworxVolume"):
        if volume["spec"].pop(source, None):
            volume["spec"]["hostPath"] = {"path": "/data"}


def _delete(made: Object, storage: Storage) -> None:
    made["metadata"]["finalizers"] = ["example.com/hold"]
    storage.deleting.append((made["kind"], made["metadata"].get("namespace"), made["metadata"]["name"]))


# -- claims --


def _add_claim(rng: Random, world: World, storage: Storage, namespace: str, name: str) -> None:
    storage.claims[namespace].append(name)
    mode = rng.choices([*MODES, "ReadWriteOncePod"], [6, 2, 1, 3])[0]
    spec: Object = {"accessModes": [mode], "resources": {"requests": {"storage": rng.choice(SIZES)}}}
    made = _typed("PersistentVolumeClaim", name, "v1", spec=spec)
    made["metadata"]["namespace"] = namespace
    kinds = [_bind, _leave_waiting, _set_aside, _select_node, _leave_instant, _lose, _name_early, _misname]
    rng.choices(kinds, [12, 10, 3, 2, 1, 1, 1, 1])[0](rng, world, storage, made)
    if chance(rng, 0.02):
        _delete(made, storage)
    storage.objects.append(made)


def _bind(rng: Random, world: World, storage: Storage, made: Object) -> None:
    class_name = rng.choice([name for name, _, _ in CLASSES])
    volume = _make_volume(rng, world, storage, class_name)
    name, namespace = made["metadata"]["name"], made["metadata"]["namespace"]
    volume["spec"]["claimRef"] = {"apiVersion": "v1", "kind": made["kind"], "namespace": namespace, "name": name}
    volume["status"] = {"phase": "Bound"}
    made["spec"] |= {"storageClassName": class_name, "volumeName": volume["metadata"]["name"]}
    made["metadata"]["annotations"] = dict(BOUND)
    made["status"] = {"phase": "Bound"}
    if chance(rng, 0.04):
        made["spec"]["volumeName"] = "volume-gone"
    storage.objects.append(volume)


def _leave_waiting(rng: Random, world: World, storage: Storage, made: Object) -> None:
    spec = made["spec"]
    spec["storageClassName"] = rng.choice(WAITING)
    if chance(rng, 0.2):
        spec["selector"] = {"matchLabels": {"tier": rng.choice(["gold", "tin"])}}
    if chance(rng, 0.06):
        spec["volumeMode"] = "Block"
    if chance(rng, 0.04):
        spec["volumeAttributesClassName"] = rng.choice(["fast", "slow"])


def _set_aside(rng: Random, world: World, storage: Storage, made: Object) -> None:
    """A volume that names the claim, which may turn out too small or out of reach."""
    _leave_waiting(rng, world, storage, made)
    volume = _make_volume(rng, world, storage, made["spec"]["storageClassName"])
    name, namespace = made["metadata"]["name"], made["metadata"]["namespace"]
    _keep_in_place(volume)
    volume["spec"]["claimRef"] = {"namespace": namespace, "name": name}
    if chance(rng, 0.15):
        volume["spec"]["claimRef"]["uid"] = "00000000-0000-0000-0000-000000000000"
    volume["status"] = {"phase": rng.choice(["Available", "Bound"])}
    storage.objects.append(volume)


def _select_node(rng: Random, world: World, storage: Storage, made: Object) -> None:
    _leave_waiting(rng, world, storage, made)
    made["metadata"]["annotations"] = {SELECTED_NODE: world.node_name(rng)}


def _leave_instant(rng: Random, world: World, storage: Storage, made: Object) -> None:
    made["spec"]["storageClassName"] = rng.choice(["instant", ""])


def _lose(rng: Random, world: World, storage: Storage, made: Object) -> None:
    _bind(rng, world, storage, made)
    storage.objects.pop()
    made["status"] = {"phase": "Lost"}


def _name_early(rng: Random, world: World, storage: Storage, made: Object) -> None:
    """It names a volume, and nobody has bound the two yet."""
    _bind(rng, world, storage, made)
    del made["metadata"]["annotations"]
    made["status"] = {"phase": "Pending"}


def _misname(rng: Random, world: World, storage: Storage, made: Object) -> None:
    made["spec"]["storageClassName"] = "gone"
