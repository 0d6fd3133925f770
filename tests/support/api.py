"""A small client for the API server of tests. ``control_plane.py`` hands it out; tests and the parity oracle use it.

Objects are plain dicts. There is no watch: tests poll. Bayplan's own client is what is tested, so it is not used here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import requests
from requests.adapters import HTTPAdapter

Object: TypeAlias = dict[str, Any]
T = TypeVar("T")

# apiVersion, plural, namespaced
KINDS: dict[str, tuple[str, str, bool]] = {
    "Namespace": ("v1", "namespaces", False),
    "Node": ("v1", "nodes", False),
    "Pod": ("v1", "pods", True),
    "Service": ("v1", "services", True),
    "ConfigMap": ("v1", "configmaps", True),
    "Secret": ("v1", "secrets", True),
    "ServiceAccount": ("v1", "serviceaccounts", True),
    "Event": ("v1", "events", True),
    "Lease": ("coordination.k8s.io/v1", "leases", True),
    "PersistentVolume": ("v1", "persistentvolumes", False),
    "PersistentVolumeClaim": ("v1", "persistentvolumeclaims", True),
    "ReplicationController": ("v1", "replicationcontrollers", True),
    "ReplicaSet": ("apps/v1", "replicasets", True),
    "Deployment": ("apps/v1", "deployments", True),
    "StatefulSet": ("apps/v1", "statefulsets", True),
    "DaemonSet": ("apps/v1", "daemonsets", True),
    "Job": ("batch/v1", "jobs", True),
    "CronJob": ("batch/v1", "cronjobs", True),
    "PodDisruptionBudget": ("policy/v1", "poddisruptionbudgets", True),
    "PriorityClass": ("scheduling.k8s.io/v1", "priorityclasses", False),
    "RuntimeClass": ("node.k8s.io/v1", "runtimeclasses", False),
    "StorageClass": ("storage.k8s.io/v1", "storageclasses", False),
    "CSINode": ("storage.k8s.io/v1", "csinodes", False),
    "CSIDriver": ("storage.k8s.io/v1", "csidrivers", False),
    "CSIStorageCapacity": ("storage.k8s.io/v1", "csistoragecapacities", True),
    "VolumeAttachment": ("storage.k8s.io/v1", "volumeattachments", False),
    "ResourceClaim": ("resource.k8s.io/v1", "resourceclaims", True),
    "ResourceClaimTemplate": ("resource.k8s.io/v1", "resourceclaimtemplates", True),
    "ResourceSlice": ("resource.k8s.io/v1", "resourceslices", False),
    "DeviceClass": ("resource.k8s.io/v1", "deviceclasses", False),
    "DeviceTaintRule": ("resource.k8s.io/v1beta2", "devicetaintrules", False),
    "ClusterRole": ("rbac.authorization.k8s.io/v1", "clusterroles", False),
    "ClusterRoleBinding": ("rbac.authorization.k8s.io/v1", "clusterrolebindings", False),
    "Role": ("rbac.authorization.k8s.io/v1", "roles", True),
    "RoleBinding": ("rbac.authorization.k8s.io/v1", "rolebindings", True),
    "CustomResourceDefinition": ("apiextensions.k8s.io/v1", "customresourcedefinitions", False),
    "ValidatingAdmissionPolicy": ("admissionregistration.k8s.io/v1", "validatingadmissionpolicies", False),
    "ValidatingAdmissionPolicyBinding": (
        "admissionregistration.k8s.io/v1",
        "validatingadmissionpolicybindings",
        False,
    ),
    "WorkloadPolicy": ("kosmos.io/v1alpha1", "workloadpolicies", True),
    "DistributionPolicy": ("kosmos.io/v1alpha1", "distributionpolicies", True),
    "ClusterDistributionPolicy": ("kosmos.io/v1alpha1", "clusterdistributionpolicies", False),
    "VirtualMachine": ("kubevirt.io/v1", "virtualmachines", True),
    "VirtualMachineInstance": ("kubevirt.io/v1", "virtualmachineinstances", True),
    "ManagedCluster": ("cluster.open-cluster-management.io/v1", "managedclusters", False),
    "ManagedClusterSet": ("cluster.open-cluster-management.io/v1beta2", "managedclustersets", False),
    "ManagedClusterSetBinding": ("cluster.open-cluster-management.io/v1beta2", "managedclustersetbindings", True),
    "Placement": ("cluster.open-cluster-management.io/v1beta1", "placements", True),
    "PlacementDecision": ("cluster.open-cluster-management.io/v1beta1", "placementdecisions", True),
    "AddOnPlacementScore": ("cluster.open-cluster-management.io/v1alpha1", "addonplacementscores", True),
}
MERGE_PATCH = "application/merge-patch+json"


class ApiError(Exception):
    """The server said no."""

    def __init__(self, method: str, path: str, code: int, message: str) -> None:
        super().__init__(f"{method} {path}: {code} {message}")
        self.code = code


class Api:
    """Calls with one token. Safe to share between threads as long as nobody changes it."""

    def __init__(self, server: str, token: str, ca_file: str) -> None:
        self.server = server
        self._session = requests.Session()
        # Otherwise proxies and the CA bundle of the environment get in the way of loopback calls.
        self._session.trust_env = False
        self._session.verify = ca_file
        self._session.headers["Authorization"] = f"Bearer {token}"
        self._session.mount("https://", HTTPAdapter(pool_maxsize=16))

    def call(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json", **query: str
    ) -> Any:
        """One request; the decoded answer, or ApiError."""
        answer = self._session.request(
            method, self.server + path, json=body, params=query, headers={"Content-Type": content_type}, timeout=30
        )
        is_json = answer.headers.get("Content-Type", "").startswith("application/json")
        decoded = answer.json() if is_json else answer.text
        if answer.status_code >= 400:
            message = decoded.get("message", "") if isinstance(decoded, dict) else decoded
            raise ApiError(method, path, answer.status_code, message)
        return decoded

    def is_ready(self) -> bool:
        """Does the server answer /readyz with ok?"""
        try:
            return bool(self.call("GET", "/readyz") == "ok")
        except (ApiError, requests.ConnectionError, OSError):
            return False

    def create(self, document: Object) -> Object:
        """The object as stored, with the defaults the server added."""
        namespace = document["metadata"].get("namespace", "default")
        path = path_of(document["kind"], namespace)
        return self._object(self._once_classes_are_known(lambda: self.call("POST", path, document)))

    def get(self, kind: str, name: str, namespace: str | None = None) -> Object:
        return self._object(self.call("GET", path_of(kind, namespace, name)))

    def find(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """As get, and None if there is no such object."""
        return self._unless_missing(lambda: self.get(kind, name, namespace))

    def list(self, kind: str, namespace: str | None = None, **query: str) -> list[Object]:
        """Every object of a kind; items carry their kind, unlike in the answer of the server."""
        answer = self.call("GET", path_of(kind, namespace), **query)
        typed = {"apiVersion": KINDS[kind][0], "kind": kind}
        return [typed | item for item in answer["items"]]

    def patch(self, kind: str, name: str, body: Object, namespace: str | None = None, subresource: str = "") -> Object:
        """A JSON merge patch."""
        return self._object(self.call("PATCH", path_of(kind, namespace, name, subresource), body, MERGE_PATCH))

    def replace(self, document: Object, subresource: str = "") -> Object:
        metadata = document["metadata"]
        path = path_of(document["kind"], metadata.get("namespace"), metadata["name"], subresource)
        return self._object(self.call("PUT", path, document))

    def delete(self, kind: str, name: str, namespace: str | None = None, grace_s: int | None = None) -> None:
        """Delete; it is fine if the object is gone already."""
        body = {} if grace_s is None else {"gracePeriodSeconds": grace_s}
        self._unless_missing(lambda: self.call("DELETE", path_of(kind, namespace, name), body))

    def wait_for(self, what: Callable[[], T | None], timeout_s: float = 10.0, described: str = "it") -> T:
        """Poll until the answer is neither None nor False."""
        deadline = time.monotonic() + timeout_s
        while True:
            found = what()
            if found is not None and found is not False:
                return found
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {timeout_s:.0f} s for {described}")
            time.sleep(0.005)

    @staticmethod
    def _object(answer: Any) -> Object:
        if not isinstance(answer, dict):
            raise TypeError(f"expected an object, got {answer!r}")
        return answer

    @staticmethod
    def _once_classes_are_known(act: Callable[[], T], timeout_s: float = 10.0) -> T:
        """Admission learns of PriorityClasses by a watch of its own: one made just now may still be unknown to it."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                return act()
            except ApiError as error:
                if not is_unknown_class(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.02)

    @staticmethod
    def _unless_missing(act: Callable[[], T]) -> T | None:
        try:
            return act()
        except ApiError as error:
            if error.code != 404:
                raise
            return None


def is_unknown_class(error: ApiError) -> bool:
    return error.code == 403 and "no PriorityClass with name" in str(error)


def path_of(kind: str, namespace: str | None = None, name: str = "", subresource: str = "") -> str:
    """The path of a collection, an object or a subresource. Without a namespace: the whole cluster."""
    if kind not in KINDS:
        raise KeyError(f"{kind}: add it to KINDS in tests/support/api.py")
    version, plural, is_namespaced = KINDS[kind]
    parts = ["api" if "/" not in version else "apis", version]
    if is_namespaced and (namespace or name):
        parts += ["namespaces", namespace or "default"]
    parts.append(plural)
    parts += [part for part in (name, subresource) if part]
    return "/" + "/".join(parts)
