"""
What the ResourceClaim controller and the garbage collector do about claims for devices, at once and without fail.

``cluster`` tells it of pods that come, end and go, and of claims that were written.  Claims are among the cluster's
stored objects; plugins write to them there.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from bayplan.engine.events import Event
from bayplan.objects.admission.defaulting import stable_uid
from bayplan.objects.admission.device_defaulting import default_resource_claim
from bayplan.objects.devices.names import DELETE_PROTECTION, POD_CLAIM_NAME, PODS
from bayplan.objects.devices.resource_claim import (
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimTemplate,
)
from bayplan.objects.meta import ObjectMeta, OwnerReference
from bayplan.objects.pod import Pod, PodResourceClaim, PodResourceClaimStatus
from bayplan.simulator.controllers.generated_names import Names
from bayplan.simulator.object_store import StoredObjects

CLAIM, TEMPLATE = ResourceClaim.__name__, ResourceClaimTemplate.__name__
_LONGEST_BASE = 57
"""Of a generated name; both parts are cut in proportion, as the real controller does it."""


class ResourceClaims:
    """The claims of a simulation, and whom they are for."""

    def __init__(
        self, objects: StoredObjects, names: Names, pod_of: Callable[[str], Pod | None], time: Callable[[], str]
    ) -> None:
        """``pod_of`` gives a pod by its key; ``time`` the moment as it is written."""
        self._objects = objects
        self._names = names
        self._pod_of = pod_of
        self._time = time
        self._owned: dict[str, dict[tuple[str, str], None]] = {}
        """By the uid of the pod they were made for: namespace and name of claims."""
        self._waiting: dict[tuple[str, str], dict[str, None]] = {}
        """Keys of the pods that want a template that is not there, by its namespace and name."""
        for kind, namespace, name in objects:
            if kind == CLAIM:
                names.take(kind, namespace, name)
                self._note_owner(objects.get(kind, namespace, name))

    # -- pods --

    def concern(self, pod: Pod) -> bool:
        """Does it use claims, or was one made for it?"""
        return bool(pod.spec.resource_claims) or pod.uid in self._owned

    def pod_added(self, pod: Pod) -> tuple[Pod, list[Event]]:
        """The pod with the names of the claims made for it, and what happened to claims."""
        if pod.is_terminating or pod.is_terminal:
            return pod, []
        events: list[Event] = []
        made: dict[str, str] = {}
        for each in pod.spec.resource_claims or ():
            made.update(self._made_for(pod, each, events))
        if made:
            pod = _with_claims(pod, made)
        return pod, [*events, *self._reserved_by(pod)]

    def pod_gone(self, pod: Pod) -> list[Event]:
        """It ended or was deleted: it lets go of its claims, and those made for it go."""
        events: list[Event] = []
        for claim in self._claims_of(pod):
            events += self.settled(claim)
        for namespace, name in self._owned.pop(pod.uid, ()):
            claim = self._objects.get(CLAIM, namespace, name)
            if claim is not None:
                events += self.deleted(claim)
        return events

    def waiting_for(self, template: ResourceClaimTemplate) -> list[str]:
        """Keys of the pods that waited for this template."""
        return list(self._waiting.pop((template.namespace, template.name), ()))

    # -- claims --

    def created(self, claim: ResourceClaim) -> tuple[ResourceClaim, list[Event]]:
        """A claim that the scheduler or somebody else makes."""
        meta = claim.metadata
        name = meta.name or self._names.generate(CLAIM, meta.namespace, meta.generate_name[: _LONGEST_BASE + 1])
        uid = meta.uid or stable_uid(CLAIM, meta.namespace, name)
        meta = replace(meta, name=name, uid=uid, creation_timestamp=meta.creation_timestamp or self._time())
        events = [self._objects.create(default_resource_claim(replace(claim, metadata=meta)))]
        stored: ResourceClaim = self._objects.get(CLAIM, meta.namespace, name)
        self._note_owner(stored)
        return stored, events

    def deleted(self, claim: ResourceClaim) -> list[Event]:
        """It goes as soon as nobody needs it."""
        events = [self._objects.delete(claim, self._time())]
        return [*events, *self._settled_again(claim)]

    def released(self, claim: ResourceClaim, uid: str) -> list[Event]:
        """The scheduler takes a consumer off its list.  It stays allocated: only the controller gives devices back."""
        left = tuple(each for each in claim.reserved_for if each.uid != uid)
        if len(left) == len(claim.reserved_for):
            return []
        return [self._objects.put(replace(claim, status=replace(claim.status, reserved_for=left or None)))]

    def settled(self, claim: ResourceClaim) -> list[Event]:
        """Consumers that are gone are taken off; with the last of them the devices are given back."""
        remaining = tuple(each for each in claim.reserved_for if self._is_needed(claim, each))
        is_held = DELETE_PROTECTION in (claim.metadata.finalizers or ())
        events: list[Event] = []
        if len(remaining) < len(claim.reserved_for):
            status = replace(claim.status, reserved_for=remaining or None)
            if not remaining and is_held:
                status = replace(status, allocation=None, devices=None)
            events.append(self._objects.put(_freed(replace(claim, status=status))))
        elif is_held and claim.is_terminating and not remaining:
            status = replace(claim.status, allocation=None, devices=None)
            events.append(self._objects.put(_freed(replace(claim, status=status))))
        return events

    # -- private --

    def _made_for(self, pod: Pod, wanted: PodResourceClaim, events: list[Event]) -> dict[str, str]:
        """The claim of a template, by what the pod calls it; nothing if there is one or it cannot be made."""
        template_name = wanted.resource_claim_template_name
        if template_name is None or self._is_made(pod, wanted.name):
            return {}
        template = self._objects.get(TEMPLATE, pod.namespace, template_name)
        if template is None:
            self._waiting.setdefault((pod.namespace, template_name), {})[pod.key] = None
            return {}
        found = self._orphan(pod, wanted.name)
        if found is None:
            found, made = self.created(_claim_from(template, pod, wanted.name))
            events += made
        return {wanted.name: found.name}

    def _is_made(self, pod: Pod, called: str) -> bool:
        for each in pod.status.resource_claim_statuses or ():
            if each.name == called:
                if each.resource_claim_name is None:
                    return True
                claim = self._objects.get(CLAIM, pod.namespace, each.resource_claim_name)
                return claim is not None and claim.belongs_to(pod.uid)
        return False

    def _orphan(self, pod: Pod, called: str) -> ResourceClaim | None:
        """One that was made for the pod already, though its status does not say so."""
        for namespace, name in self._owned.get(pod.uid, ()):
            claim: ResourceClaim | None = self._objects.get(CLAIM, namespace, name)
            if claim is not None and claim.annotations.get(POD_CLAIM_NAME) == called:
                return claim
        return None

    def _reserved_by(self, pod: Pod) -> list[Event]:
        """A pod that was put on a node without the scheduler uses what its claims were given."""
        events: list[Event] = []
        for claim in self._claims_of(pod) if pod.node_name else ():
            if claim.is_allocated and not claim.is_reserved_for(pod.uid) and not claim.is_terminating:
                consumer = ResourceClaimConsumerReference(resource=PODS, name=pod.name, uid=pod.uid)
                status = replace(claim.status, reserved_for=(*claim.reserved_for, consumer))
                events.append(self._objects.put(replace(claim, status=status)))
        return events

    def _claims_of(self, pod: Pod) -> list[ResourceClaim]:
        found = (self._objects.get(CLAIM, pod.namespace, name) for name in claim_names(pod))
        return [claim for claim in found if claim is not None]

    def _is_needed(self, claim: ResourceClaim, consumer: ResourceClaimConsumerReference) -> bool:
        if consumer.api_group or consumer.resource != PODS:
            return True
        pod = self._pod_of(f"{claim.namespace}/{consumer.name}")
        return pod is not None and pod.uid == consumer.uid and not pod.is_terminal

    def _settled_again(self, claim: ResourceClaim) -> list[Event]:
        now = self._objects.get(CLAIM, claim.namespace, claim.name)
        return [] if now is None else self.settled(now)

    def _note_owner(self, claim: ResourceClaim) -> None:
        owner = claim.controller
        if owner is not None and owner.kind == "Pod":
            self._owned.setdefault(owner.uid, {})[claim.namespace, claim.name] = None


def claim_names(pod: Pod) -> list[str]:
    """Names of the claims that a pod uses, as far as they are known."""
    made = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses or ()}
    names = [each.resource_claim_name or made.get(each.name) for each in pod.spec.resource_claims or ()]
    if pod.status.extended_resource_claim_status is not None:
        names.append(pod.status.extended_resource_claim_status.resource_claim_name)
    return [name for name in names if name]


def _claim_from(template: ResourceClaimTemplate, pod: Pod, called: str) -> ResourceClaim:
    base = f"{pod.name}-{called}-"
    if len(base) > _LONGEST_BASE:
        parts = (text[: len(text) * _LONGEST_BASE // len(base)] for text in (pod.name, called))
        base = "-".join(parts)
    written = template.spec.metadata
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True)
    meta = ObjectMeta(
        generate_name=base,
        namespace=pod.namespace,
        labels=written.labels,
        annotations={**(written.annotations or {}), POD_CLAIM_NAME: called},
        owner_references=(owner,),
    )
    return ResourceClaim(metadata=meta, spec=template.spec.spec)


def _with_claims(pod: Pod, made: dict[str, str]) -> Pod:
    others = tuple(each for each in pod.status.resource_claim_statuses or () if each.name not in made)
    new = tuple(PodResourceClaimStatus(name=name, resource_claim_name=claim) for name, claim in made.items())
    return pod.evolve(status=replace(pod.status, resource_claim_statuses=(*others, *new)))


def _freed(claim: ResourceClaim) -> ResourceClaim:
    """Without the finalizer, if it was given nothing."""
    if claim.is_allocated:
        return claim
    left = tuple(each for each in claim.metadata.finalizers or () if each != DELETE_PROTECTION)
    return replace(claim, metadata=replace(claim.metadata, finalizers=left or None))
