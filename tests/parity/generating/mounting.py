"""Volumes for pods: claims, disks mounted directly, and claims made for one pod alone."""

from __future__ import annotations

from random import Random

from tests.parity.generating.cluster import Object, World, chance
from tests.parity.generating.volumes import WAITING, Storage


def mount(rng: Random, world: World, storage: Storage, pods: list[Object]) -> dict[str, list[Object]]:
    """Give some pods volumes; returns the claims that belong to single pods, by the pod's name."""
    own: dict[str, list[Object]] = {}
    for pod in pods:
        if chance(rng, 0.85):
            for index in range(rng.choice([1, 1, 1, 2, 2, 3])):
                volume = _make_volume(rng, storage, pod)
                volume["name"] = f"v{index}"
                pod["spec"].setdefault("volumes", []).append(volume)
                if "ephemeral" in volume and not chance(rng, 0.1):
                    own.setdefault(pod["metadata"]["name"], []).append(_own_claim(rng, pod, volume))
    return own


def _make_volume(rng: Random, storage: Storage, pod: Object) -> Object:
    claims = storage.claims.get(pod["metadata"]["namespace"], [])
    kind = rng.choices(["claim", "disk", "ephemeral", "other"], [12, 5, 2, 1])[0]
    if kind == "claim" and claims:
        name = rng.choice(claims) if not chance(rng, 0.03) else "nowhere"
        return {"persistentVolumeClaim": {"claimName": name}}
    if kind == "ephemeral":
        return {"ephemeral": {"volumeClaimTemplate": {"spec": _claim_spec(rng)}}}
    return _make_disk(rng) if kind != "other" else {"emptyDir": {}}


def _make_disk(rng: Random) -> Object:
    """Few names, so that pods share disks."""
    name, read_only = rng.choice("ab"), chance(rng, 0.5)
    monitors = rng.sample(["10.0.0.1", "10.0.0.2", "10.0.0.3"], 2)
    uri = f"/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/{name}"
    disks: list[Object] = [
        {"gcePersistentDisk": {"pdName": f"disk-{name}", "readOnly": read_only}},
        {"awsElasticBlockStore": {"volumeID": f"vol-{name}", "readOnly": read_only}},
        {"iscsi": {"targetPortal": "10.0.0.1", "iqn": f"iqn.2026-01.example:{name}", "lun": 0, "readOnly": read_only}},
        {"rbd": {"monitors": monitors, "image": name, "pool": rng.choice("pq"), "readOnly": read_only}},
        {"azureDisk": {"diskName": name, "diskURI": uri, "kind": "Managed"}},
        {"cinder": {"volumeID": f"cinder-{name}"}},
        {"portworxVolume": {"volumeID": f"px-{name}"}},
        {"azureFile": {"secretName": "s", "shareName": name}},
    ]
    return rng.choices(disks, [4, 4, 4, 4, 1, 1, 1, 1])[0]


def _claim_spec(rng: Random) -> Object:
    return {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": rng.choice([*WAITING, "instant"]),
        "resources": {"requests": {"storage": rng.choice(["1Gi", "4Gi"])}},
    }


def _own_claim(rng: Random, pod: Object, volume: Object) -> Object:
    """As the ephemeral volume controller would make it; the owner's uid is filled in when there is one."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": "", "controller": True}
    metadata = {"name": f"{name}-{volume['name']}", "namespace": namespace}
    # With a claim that is not its own a bound pod would let kube-scheduler fail for every pod with volumes.
    if name.startswith("bound") or not chance(rng, 0.08):
        metadata["ownerReferences"] = [owner]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": volume["ephemeral"]["volumeClaimTemplate"]["spec"],
    }
