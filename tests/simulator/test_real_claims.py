"""One story about claims twice: in virtual time, and with the real ResourceClaim controller and garbage collector."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.devices.names import DELETE_PROTECTION
from bayplan.simulator.world import World
from tests.simulator.support import Manifest, node, pod, simulated
from tests.simulator.test_real_controllers import AT_ONCE, STEP_S, Step, Story, in_default, stands_as
from tests.support.api import Api
from tests.support.control_plane import ControlPlane

pytestmark = [pytest.mark.kube, pytest.mark.slow]

CONTROLLERS = "resourceclaim-controller,garbage-collector-controller,pod-garbage-collector-controller"
GROUP = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"
ASKS = {"devices": {"requests": [{"name": "r0", "exactly": {"deviceClassName": "gpu"}}]}}
ANNOTATION = "resource.kubernetes.io/pod-claim-name"

State = dict[str, tuple[str, ...]]
"""Pods with their nodes, and claims (by the pod they were made for and what it calls them, or by name) with what they
have, who uses them and what becomes of them."""


def made(kind: str, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}


def template(name: str) -> Manifest:
    return made("ResourceClaimTemplate", name, {"spec": ASKS})


def claiming(name: str, template_name: str = "", claim: str = "") -> Manifest:
    from_where = {"resourceClaimTemplateName": template_name} if template_name else {"resourceClaimName": claim}
    return pod(name, resourceClaims=[{"name": "gpu", **from_where}], **AT_ONCE)


def creating(*things: Manifest) -> Any:
    return lambda api: [api.create(in_default(each)) for each in things]


def deleting(kind: str, name: str) -> Any:
    return lambda api: api.delete(kind, name, "default")


def end(name: str) -> Any:
    """As the kubelet does when the containers have ended.  Pods of simulations do not end; there the pod goes."""
    return lambda api: api.patch("Pod", name, {"status": {"phase": "Succeeded"}}, "default", "status")


SLICE = made(
    "ResourceSlice",
    "n1-gpus",
    {
        "driver": DRIVER,
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}],
    },
)
FIRST, SECOND, THIRD, FOURTH = (
    claiming("first", "one-gpu"),
    claiming("second", "one-gpu"),
    claiming("third", "late"),
    claiming("fourth", claim="own"),
)
SHARED, OWN = made("ResourceClaim", "shared", ASKS), made("ResourceClaim", "own", ASKS)
USERS = [claiming("user-1", claim="shared"), claiming("user-2", claim="shared")]


class Claims(Story):
    """The same story, told by the claims as well."""

    def played_claims(self, step: int) -> State:
        worlds: list[World] = []
        simulated(*self.manifests(), run_for_s=STEP_S * (step + 1) - 1, at_end=worlds.append)
        cluster = worlds[0].cluster
        found: State = {}
        for record in cluster.records.values():
            if not record.is_gone:
                found[f"pod {record.pod.name}"] = (record.pod.node_name or "",)
        for kind, namespace, name in cluster.objects:
            if kind == "ResourceClaim":
                one = cluster.objects.get(kind, namespace, name)
                owner = one.controller
                called = f"{owner.name}/{one.annotations[ANNOTATION]}" if owner else one.name
                found[f"claim {called}"] = (
                    *(result.device for result in one.results),
                    *(f"used by {each.name}" for each in one.reserved_for),
                    *(["held"] if DELETE_PROTECTION in (one.metadata.finalizers or ()) else []),
                    *(["terminating"] if one.is_terminating else []),
                )
        return found


def real(api: Api) -> State:
    found: State = {}
    for each in api.list("Pod", "default"):
        if each["status"]["phase"] != "Succeeded":
            found[f"pod {each['metadata']['name']}"] = (each["spec"].get("nodeName", ""),)
    for each in api.list("ResourceClaim", "default"):
        meta, status = each["metadata"], each.get("status", {})
        owners = meta.get("ownerReferences")
        called = f"{owners[0]['name']}/{meta['annotations'][ANNOTATION]}" if owners else meta["name"]
        found[f"claim {called}"] = (
            *(result["device"] for result in status.get("allocation", {}).get("devices", {}).get("results", ())),
            *(f"used by {user['name']}" for user in status.get("reservedFor", ())),
            *(["held"] if DELETE_PROTECTION in meta.get("finalizers", ()) else []),
            *(["terminating"] if "deletionTimestamp" in meta else []),
        )
    return found


STEPS: list[Step] = [
    ("the first claims come from a template", [FIRST], creating(FIRST)),
    ("two pods share a claim", USERS, creating(*USERS)),
    ("nothing is left for the next", [SECOND], creating(SECOND)),
    ("the first pod ends", [], end("first")),
    ("one of two users goes", [], deleting("Pod", "user-1")),
    ("the other user goes", [], deleting("Pod", "user-2")),
    ("a pod whose template is missing", [THIRD], creating(THIRD)),
    ("the template comes", [template("late")], creating(template("late"))),
    ("a claim that nobody uses goes", [], deleting("ResourceClaim", "shared")),
    ("a pod and its claim from the template go", [], deleting("Pod", "second")),
    ("a claim of one's own", [OWN, FOURTH], creating(OWN, FOURTH)),
    ("it is deleted while it is used", [], deleting("ResourceClaim", "own")),
    ("its user goes, and it with it", [], deleting("Pod", "fourth")),
]

STORY = Claims(
    [node("n1"), made("DeviceClass", "gpu", {}), SLICE, template("one-gpu"), SHARED],
    STEPS,
    {
        "the first pod ends": "first",
        "one of two users goes": "user-1",
        "the other user goes": "user-2",
        "a claim that nobody uses goes": "shared",
        "a pod and its claim from the template go": "second",
        "it is deleted while it is used": "own",
        "its user goes, and it with it": "fourth",
    },
    controllers=CONTROLLERS,
)


def test_claims_end_where_the_real_controllers_leave_them() -> None:
    with ControlPlane() as plane:
        plane.start_kube_scheduler(verbosity=1)
        plane.start_controller_manager(STORY.controllers)
        api = plane.api()
        for each in STORY.start:
            is_named = each["kind"] in ("ResourceClaim", "ResourceClaimTemplate")
            api.create(in_default(each) if is_named else each)
        stands_as(api, "the start", STORY.played_claims(0), real)
        for number, (name, _, act) in enumerate(STORY.steps, 1):
            act(api)
            stands_as(api, name, STORY.played_claims(number), real)
