"""
The claims of a pod: found, checked, and sorted into those that have devices and those that need them.

``plugin`` reads them in PreFilter and keeps them for the cycle; PreEnqueue and the hints only ask whether they are
there.  The texts are kube-scheduler's.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bayplan.framework import Status, failed, unresolvable
from bayplan.framework.handle import ObjectStore
from bayplan.objects.devices.resource_claim import DeviceRequirements, ResourceClaim
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import PodResourceClaim
from bayplan.plugins.dynamic_resources.usage import Usage

CLAIM = ResourceClaim.__name__

MOST_USERS = 256
"""The API server takes no more in ``reservedFor``.  kube-scheduler has the text and no limit, and tries in vain."""
IN_USE = "resourceclaim in use"


class MissingClaimError(Exception):
    """A claim of the pod is not there, or not for it."""


@dataclass(slots=True)
class PodClaims:
    """What a pod asks for, for one scheduling cycle."""

    claims: list[ResourceClaim] = field(default_factory=list)
    """Those that the pod names, in its order."""
    resources: tuple[str, ...] = ()
    """Extended resources that devices may stand for."""
    leftover: ResourceClaim | None = None
    """A claim for these resources that an earlier attempt left behind."""

    @property
    def is_empty(self) -> bool:
        return not self.claims and not self.resources

    @property
    def open(self) -> list[ResourceClaim]:
        """Those that have no devices yet."""
        return [claim for claim in self.claims if not claim.is_allocated]

    @property
    def allocated(self) -> list[ResourceClaim]:
        return [claim for claim in self.claims if claim.is_allocated]


def claims_of(pod: Pod, objects: ObjectStore) -> list[ResourceClaim]:
    """The claims that a pod names.  ``MissingClaimError`` if one of them cannot be used."""
    found = []
    for wanted in pod.spec.resource_claims or ():
        name = claim_name(pod, wanted)
        if name is None:
            continue
        claim: ResourceClaim | None = objects.get(CLAIM, pod.namespace, name)
        if claim is None:
            raise MissingClaimError(f'could not find ResourceClaim "{pod.namespace}/{name}"')
        if claim.is_terminating:
            raise MissingClaimError(f'resourceclaim "{claim.name}" is being deleted')
        if wanted.resource_claim_name is None and not claim.belongs_to(pod.uid):
            text = f"ResourceClaim {claim.key} was not created for Pod {pod.key} (Pod is not owner)"
            raise MissingClaimError(text)
        found.append(claim)
    return found


def claim_name(pod: Pod, wanted: PodResourceClaim) -> str | None:
    """What a claim of the pod is called; ``None`` if it needs none."""
    if wanted.resource_claim_name is not None:
        return wanted.resource_claim_name
    if wanted.resource_claim_template_name is None:
        text = f'pod "{pod.key}", spec.resourceClaim "{wanted.name}": none of the supported fields are set'
        raise MissingClaimError(text)
    for status in pod.status.resource_claim_statuses or ():
        if status.name == wanted.name:
            return status.resource_claim_name
    raise MissingClaimError(f'pod "{pod.key}": ResourceClaim not created yet')


def rejected(pod: Pod, claims: list[ResourceClaim], objects: ObjectStore, usage: Usage) -> Status | None:
    """Why no node can be found for claims now: one has too many users or is being allocated, or a class is missing."""
    for claim in claims:
        if claim.is_allocated:
            if len(claim.reserved_for) >= MOST_USERS and not claim.is_reserved_for(pod.uid):
                return unresolvable(IN_USE)
            continue
        if usage.pending(claim.uid) is not None:
            return unresolvable(f"resource claim {claim.key} is in the process of being allocated")
        for request in claim.requests:
            alternatives: list[tuple[str, DeviceRequirements]] = [
                (f"{request.name}/{each.name}", each) for each in request.first_available or ()
            ]
            if request.exactly is not None:
                alternatives = [(request.name, request.exactly)]
            if not alternatives:
                return unresolvable(f"resource claim {claim.key}, request {request.name}: unknown request type")
            for name, asks in alternatives:
                if not asks.device_class_name:
                    return failed(f"request {name}: unsupported request type")
                if objects.get("DeviceClass", "", asks.device_class_name) is None:
                    text = f"request {name}: device class {asks.device_class_name} does not exist"
                    return unresolvable(text)
    return None
