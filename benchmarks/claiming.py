"""
The claims that pods want from templates, as kube-controller-manager's ResourceClaim controller makes them.

``running`` makes them with the pods, so that they are there before a contender starts.
"""

from __future__ import annotations

from collections.abc import Iterable

from bayplan.objects.devices.names import POD_CLAIM_NAME
from bayplan.simulator.benchmarks.workload_file import Manifest


def claims_for(pod: Manifest, templates: Iterable[Manifest]) -> list[Manifest]:
    """The claims of a pod that is there."""
    meta = pod["metadata"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True}
    wanted = [each for each in pod["spec"].get("resourceClaims", ()) if "resourceClaimTemplateName" in each]
    specs = {each["metadata"]["name"]: each["spec"]["spec"] for each in templates}
    return [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {
                "name": f"{meta['name']}-{each['name']}",
                "namespace": meta["namespace"],
                "annotations": {POD_CLAIM_NAME: each["name"]},
                "ownerReferences": [owner],
            },
            "spec": specs[each["resourceClaimTemplateName"]],
        }
        for each in wanted
    ]


def status_with(claims: Iterable[Manifest]) -> Manifest:
    """What the status of their pod says of claims."""
    named = [(each["metadata"]["annotations"][POD_CLAIM_NAME], each["metadata"]["name"]) for each in claims]
    return {"resourceClaimStatuses": [{"name": name, "resourceClaimName": claim} for name, claim in named]}
