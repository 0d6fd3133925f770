"""A cluster and pods of twelve kinds, for the shadow beside kube-scheduler. ``shadowing`` makes them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.support.api import Object

ZONES = 3
SMALL = 4
"""Nodes of a pool that is full of unimportant pods."""


# -- the cluster --


def nodes(count: int) -> Iterator[Object]:
    """Of several sizes, in three zones; some tainted, some with fast disks, a few of a small pool."""
    for number in range(count):
        name = f"n{number:03}"
        is_small = number < SMALL
        cpu, memory = (
            ("2", "4Gi") if is_small else random.Random(number).choice([("8", "32Gi"), ("16", "32Gi"), ("16", "64Gi")])
        )
        sizes = {"cpu": cpu, "memory": memory, "pods": "110", "ephemeral-storage": "100Gi"}
        labels = {
            "kubernetes.io/hostname": name,
            "topology.kubernetes.io/zone": f"zone-{number % ZONES}",
            "disk": "ssd" if number % 4 == 0 else "hdd",
            "pool": "small" if is_small else "large",
        }
        spec: Object = {}
        if is_small:
            spec["taints"] = [{"key": "pool", "value": "small", "effect": "NoSchedule"}]
        elif number % 9 == 0:
            spec["taints"] = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]
        elif number % 7 == 0:
            spec["taints"] = [{"key": "slow", "effect": "PreferNoSchedule"}]
        images = [{"names": [f"app-{number % 5}:1"], "sizeBytes": 400_000_000}]
        ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": None, "lastTransitionTime": None}
        address = {"type": "InternalIP", "address": f"172.18.{number >> 8}.{number & 255}"}
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": spec,
            "status": {
                "allocatable": sizes,
                "capacity": sizes,
                "images": images,
                "conditions": [ready],
                "addresses": [address],
            },
        }


def surroundings(namespace: str, pods: int) -> Iterator[Object]:
    for name, value in (("high", 1000), ("low", -10)):
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
    for number in range(3):
        yield {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": f"svc-{number}", "namespace": namespace},
            "spec": {"selector": {"app": f"svc-{number}"}, "ports": [{"port": 80}]},
        }
    yield {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    for number in range(pods // 12 + 1):
        terms = [
            {
                "matchExpressions": [
                    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [f"zone-{number % ZONES}"]}
                ]
            }
        ]
        yield {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{number}"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "local",
                "local": {"path": "/data"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            },
        }


# -- pods --


def labelled(app: str) -> Object:
    return {"matchLabels": {"app": app}}


def away(app: str, key: str, weight: int = 0) -> Object:
    term = {"topologyKey": key, "labelSelector": labelled(app)}
    if weight:
        return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": weight, "podAffinityTerm": term}]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def pod(number: int, namespace: str, nodes: int, seed: int) -> list[Object]:
    """One pod of some kind, and what it needs."""
    dice = random.Random(f"{seed}/{number}")
    kind = number % 12
    app = f"app-{kind}-{number // 12 % 3}"
    spec: Object = {"terminationGracePeriodSeconds": 1}
    amounts = {"cpu": f"{dice.choice([50, 100, 250, 500])}m", "memory": f"{dice.choice([64, 256, 1024])}Mi"}
    container: Object = {"name": "c", "image": f"app-{dice.randrange(8)}:1", "resources": {"requests": amounts}}
    extra: list[Object] = []
    host, zone = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
    if kind == 1:
        app = f"svc-{number // 12 % 3}"  # spread by default, since a Service selects it
    elif kind == 2:
        spread = {"maxSkew": 1, "topologyKey": zone, "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [{**spread, "labelSelector": labelled(app)}]
    elif kind == 3:
        spread = {"maxSkew": 2, "topologyKey": host, "whenUnsatisfiable": "ScheduleAnyway"}
        spec["topologySpreadConstraints"] = [{**spread, "labelSelector": labelled(app)}]
    elif kind == 4:
        spec["affinity"] = {"podAntiAffinity": away(app, host)}
    elif kind == 5:
        spec["affinity"] = {"podAntiAffinity": away(app, zone, 40), "podAffinity": away("svc-0", zone, 60)}
    elif kind == 6:
        fast = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
        spec["affinity"] = {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 50, "preference": fast}]}
        }
    elif kind == 7:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
        spec["nodeSelector"] = {"disk": dice.choice(["ssd", "hdd"])}
    elif kind == 8:
        container["ports"] = [{"containerPort": 80, "hostPort": 30000 + number // 12 % 40}]
    elif kind == 9:
        name = f"n{SMALL + number % (nodes - SMALL):03}"
        field = [{"key": "metadata.name", "operator": "In", "values": [name]}]
        required = {"nodeSelectorTerms": [{"matchFields": field}]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
        spec["tolerations"] = [{"operator": "Exists"}]
    elif kind == 10:
        # The small pool is full of unimportant pods; now and then an important one comes and takes the place of some.
        is_high = number % 36 == 10
        spec["priorityClassName"] = "high" if is_high else "low"
        spec["nodeSelector"] = {"pool": "small"}
        spec["tolerations"] = [{"key": "pool", "operator": "Exists"}]
        amounts["cpu"] = "900m" if is_high else "450m"
    elif kind == 11:
        claim = f"claim-{number}"
        extra.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": claim, "namespace": namespace},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "local",
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            }
        )
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    metadata = {"name": f"p{number:04}", "namespace": namespace, "labels": {"app": app}}
    return [
        *extra,
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**spec, "containers": [container]}},
    ]
