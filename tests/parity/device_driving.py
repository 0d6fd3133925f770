"""Plays the drivers of devices for the oracle, as far as kube-scheduler waits for them, and reads what it gave away.

A device with binding conditions has to be reported as prepared in the status of its claim before the pod is bound.
"""

from __future__ import annotations

from tests.parity.case import Object
from tests.support.api import Api

# What makes DeviceTaintRules work, which are off by default.
TAINT_RULE_GATE = "--feature-gates=DRADeviceTaintRules=true"
TAINT_RULE_FLAGS = (TAINT_RULE_GATE, "--runtime-config=resource.k8s.io/v1beta2=true")
REPORTED_AT = "2026-01-01T10:00:00Z"
# What kube-scheduler says when it has looked for devices on one node for ten seconds.
GAVE_UP = "timed out trying to allocate devices"
# What it says when it took devices from a claim that nobody uses; it tries the pod again at once.
FREED = "ResourceClaim completed"


def device_claims(pod: Object) -> dict[str, str]:
    """By what the pod calls them, the names of its claims; the claim for extended resources is called ""."""
    status = pod.get("status", {})
    made = {one["name"]: one["resourceClaimName"] for one in status.get("resourceClaimStatuses", ())}
    wanted = pod["spec"].get("resourceClaims", ())
    names = {one["name"]: one.get("resourceClaimName") or made[one["name"]] for one in wanted}
    if "extendedResourceClaimStatus" in status:
        names[""] = status["extendedResourceClaimStatus"]["resourceClaimName"]
    return names


def allocations(api: Api, pod: Object) -> dict[str, Object]:
    """By what the pod calls them, what its claims were given; they are written before the pod is bound."""
    namespace = pod["metadata"]["namespace"]
    given = {
        called: api.get("ResourceClaim", name, namespace)["status"]["allocation"]
        for called, name in device_claims(pod).items()
    }
    if "" in given:
        mappings = pod["status"]["extendedResourceClaimStatus"]["requestMappings"]
        given[""] = given[""] | {"requestMappings": sorted(mappings, key=str)}
    return given


def report_prepared(api: Api, pod: Object) -> None:
    """All devices that were given to claims of the pod are ready."""
    namespace = pod["metadata"]["namespace"]
    for name in device_claims(pod).values():
        claim = api.find("ResourceClaim", name, namespace)
        status = (claim or {}).get("status", {})
        results = status.get("allocation", {}).get("devices", {}).get("results", ())
        waiting = [each for each in results if each.get("bindingConditions")]
        if waiting and "devices" not in status:
            reports = [_report(each) for each in waiting]
            api.patch("ResourceClaim", name, {"status": {"devices": reports}}, namespace, "status")


def _report(result: Object) -> Object:
    which = {key: result[key] for key in ("driver", "pool", "device", "shareID") if key in result}
    said = {"status": "True", "reason": "Prepared", "message": "", "lastTransitionTime": REPORTED_AT}
    return which | {"conditions": [{"type": each, **said} for each in result["bindingConditions"]]}
