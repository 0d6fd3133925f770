"""
Which changes may let a pod with claims be placed: its claims, devices that were given back, slices, classes, nodes.

``plugin`` hands these to the engine.
"""

from __future__ import annotations

from collections.abc import Callable

from bayplan.framework import Change, On
from bayplan.framework.handle import ObjectStore
from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.objects.pod import Pod
from bayplan.plugins.dynamic_resources.extended_resources import is_made_for
from bayplan.plugins.dynamic_resources.pod_claims import MissingClaimError, claims_of


class Hints:
    """Hints that look claims up."""

    def __init__(self, objects: Callable[[], ObjectStore]) -> None:
        self._objects = objects

    def rules(self) -> tuple[On, ...]:
        return (
            On("Node", Change.ADDED | Change.LABEL | Change.ALLOCATABLE),
            On("ResourceClaim", Change.ADDED | Change.UPDATED, self.claim_changed),
            On("ResourceClaim", Change.DELETED, self.claim_gone),
            On("Pod", Change.POD_GENERATED_CLAIM, self.pod_changed),
            On("DeviceClass", Change.ADDED | Change.UPDATED),
            # Without one slice too many a pool may be complete, or say what can be.
            On("ResourceSlice", Change.ADDED | Change.UPDATED | Change.DELETED),
            On("DeviceTaintRule", Change.ANY),
        )

    def claim_changed(self, pod: Pod, old: ResourceClaim | None, new: ResourceClaim) -> bool:
        """A claim gave its devices back; or one of the pod's came, or has another status."""
        try:
            is_its = any(claim.uid == new.uid for claim in claims_of(pod, self._objects()))
        except MissingClaimError:
            return False
        if old is not None and old.is_allocated and not new.is_allocated:
            return True
        return is_its and (old is None or old.status != new.status)

    def claim_gone(self, pod: Pod, old: ResourceClaim, new: None) -> bool:
        """
        A claim went with its devices, or one that an earlier attempt of the pod left behind.

        Usually devices are given back before; not where somebody took the finalizer away, as ``releasing`` does.
        """
        return old.is_allocated or is_made_for(old, pod)

    def pod_changed(self, pod: Pod, old: Pod | None, new: Pod) -> bool:
        """Its last claim was made."""
        if pod.uid != new.uid:
            return False
        try:
            claims_of(new, self._objects())
        except MissingClaimError:
            return False
        return True
