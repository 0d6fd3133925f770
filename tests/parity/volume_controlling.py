"""Plays the volume controller and the provisioners for the oracle, as far as kube-scheduler waits for them.

kube-scheduler sets a volume aside for a claim, or names the node a volume shall be made for, and goes on with the pod
when the claim is bound. The real controllers would do much more, and at moments of their own.
"""

from __future__ import annotations

import time

from tests.parity.case import Object
from tests.support.api import Api

SELECTED_NODE = "volume.kubernetes.io/selected-node"
BOUND = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}


def claim_names(pod: Object) -> list[str]:
    """The claims that a pod mounts."""
    names = []
    for volume in pod["spec"].get("volumes", []):
        if "persistentVolumeClaim" in volume:
            names.append(volume["persistentVolumeClaim"]["claimName"])
        elif "ephemeral" in volume:
            names.append(f"{pod['metadata']['name']}-{volume['name']}")
    return names


def bind_claims(api: Api, pod: Object, before: set[str]) -> None:
    """Bind the claims of the pod that kube-scheduler has decided about since.

    ``before`` are the uids of claims with a selected node that was there earlier. kube-scheduler writes it again, which
    nothing shows; so these are bound a moment after it has taken up the pod, which its nomination tells.
    """
    is_placed = "nominatedNodeName" in pod.get("status", {})
    for name in claim_names(pod):
        claim = api.find("PersistentVolumeClaim", name, pod["metadata"]["namespace"])
        if claim is None or claim["spec"].get("volumeName"):
            continue
        uid = claim["metadata"]["uid"]
        volumes = [one for one in api.list("PersistentVolume") if one["spec"].get("claimRef", {}).get("uid") == uid]
        if volumes:
            _bind(api, claim, volumes[0])
        elif SELECTED_NODE in claim["metadata"].get("annotations", {}) and (is_placed or uid not in before):
            if uid in before:
                time.sleep(0.3)
            _bind(api, claim, _provision(api, claim))


def _provision(api: Api, claim: Object) -> Object:
    spec = claim["spec"]
    metadata = {key: claim["metadata"][key] for key in ("name", "namespace", "uid")}
    return api.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pvc-{claim['metadata']['uid']}"},
            "spec": {
                "capacity": spec["resources"]["requests"],
                "accessModes": spec["accessModes"],
                "volumeMode": spec["volumeMode"],
                "storageClassName": spec["storageClassName"],
                "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **metadata},
                "csi": {"driver": "csi.example.com", "volumeHandle": claim["metadata"]["uid"]},
            },
        }
    )


def _bind(api: Api, claim: Object, volume: Object) -> None:
    name, namespace, volume_name = claim["metadata"]["name"], claim["metadata"]["namespace"], volume["metadata"]["name"]
    api.patch("PersistentVolume", volume_name, {"status": {"phase": "Bound"}}, subresource="status")
    change = {"metadata": {"annotations": BOUND}, "spec": {"volumeName": volume_name}}
    api.patch("PersistentVolumeClaim", name, change, namespace)
    api.patch("PersistentVolumeClaim", name, {"status": {"phase": "Bound"}}, namespace, "status")
