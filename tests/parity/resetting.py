"""Empties the API server between clusters, since starting a new one takes ten times as long. The oracle calls it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.support.api import Api, ApiError, Object, path_of

NAMESPACED = (
    "Service",
    "ReplicationController",
    "ReplicaSet",
    "StatefulSet",
    "PodDisruptionBudget",
    "CSIStorageCapacity",
    "Event",
)
CLUSTER_WIDE = (
    "Node",
    "PriorityClass",
    "RuntimeClass",
    "StorageClass",
    "CSINode",
    "CSIDriver",
    "VolumeAttachment",
    "DeviceClass",
    "ResourceSlice",
)
# The server puts a finalizer on these, and nobody here takes it away.
HELD = ("PersistentVolumeClaim", "PersistentVolume", "ResourceClaim")
SYSTEM_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")


def reset(api: Api, *more_kinds: str) -> None:
    """Remove all that a cluster brought along; ``more_kinds`` are cluster-wide kinds that not every server has."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda pod: _remove_pod(api, pod), api.list("Pod")))
        for kind in HELD:
            list(pool.map(lambda one: _remove_held(api, one), api.list(kind)))
        namespaces = [one["metadata"]["name"] for one in api.list("Namespace")]
        list(pool.map(lambda namespace: _empty(api, namespace), namespaces))
        list(pool.map(lambda namespace: _remove_namespace(api, namespace), namespaces))
        for kind in (*CLUSTER_WIDE, *more_kinds):
            names = [one["metadata"]["name"] for one in api.list(kind)]
            list(pool.map(lambda name, kind=kind: _delete_unless_system(api, kind, name), names))


def _remove_pod(api: Api, pod: Object) -> None:
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    if pod["metadata"].get("finalizers"):
        api.patch("Pod", name, {"metadata": {"finalizers": None}}, namespace)
    api.delete("Pod", name, namespace, grace_s=0)


def _remove_held(api: Api, document: Object) -> None:
    name, namespace = document["metadata"]["name"], document["metadata"].get("namespace")
    api.patch(document["kind"], name, {"metadata": {"finalizers": None}}, namespace)
    api.delete(document["kind"], name, namespace)


def _empty(api: Api, namespace: str) -> None:
    for kind in NAMESPACED:
        if kind == "Service":
            _remove_services(api, namespace)
        else:
            api.call("DELETE", path_of(kind, namespace), {"propagationPolicy": "Background"})


def _remove_services(api: Api, namespace: str) -> None:
    for service in api.list("Service", namespace):
        if service["metadata"]["name"] != "kubernetes":
            api.delete("Service", service["metadata"]["name"], namespace)


def _remove_namespace(api: Api, name: str) -> None:
    """Without a namespace controller nobody else takes the finalizer away."""
    if name in SYSTEM_NAMESPACES:
        return
    api.delete("Namespace", name)
    left = api.find("Namespace", name)
    if left is not None:
        left["spec"]["finalizers"] = []
        api.call("PUT", path_of("Namespace", None, name, "finalize"), left)


def _delete_unless_system(api: Api, kind: str, name: str) -> None:
    if kind == "PriorityClass" and name.startswith("system-"):
        return
    try:
        api.delete(kind, name)
    except ApiError as error:
        raise RuntimeError(f"could not remove {kind} {name}: {error}") from error
