"""
Binding volumes for real: say in the API what was decided, then wait until the claims are bound.

``Reserved`` is what a pod has taken on its node.  ``plugin`` makes it in Reserve, writes it in PreBind and gives it
back in Unreserve.  The scheduler never binds a claim itself: it sets a volume aside for it, or names the node a
volume shall be made for, and the volume controller and the provisioners do the rest.  What was written stays written
if the pod does not make it to its node.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from bayplan.framework import Handle, NodeView, Verdict, failed
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.objects.volume import (
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
)
from bayplan.plugins.volume_binding.assumed import Assumed, Changeable
from bayplan.plugins.volume_binding.filtering import Found, reaches_node

POLL_S = 1.0


class BindingLostError(Exception):
    """Waiting has become pointless; the pod must be placed anew."""


@dataclass(slots=True)
class Write:
    """One object to change: what it is, what it shall be, and the patch that makes it so."""

    base: Changeable
    changed: Changeable
    patch: dict[str, Any] | None
    """None if it says so already."""
    version: str = ""
    """Of the object as written; "" before that."""

    @property
    def is_pending(self) -> bool:
        return self.patch is not None and not self.version


@dataclass(slots=True)
class Reserved:
    """What a pod has taken: volumes set aside for claims, and claims whose volume is to be made."""

    bindings: list[tuple[PersistentVolumeClaim, Write]] = field(default_factory=list)
    provisions: list[Write] = field(default_factory=list)

    def writes(self) -> Iterable[Write]:
        yield from (write for _, write in self.bindings)
        yield from self.provisions

    def give_back(self, assumed: Assumed) -> None:
        """Forget what was only assumed; what was written is true."""
        for write in self.writes():
            if write.is_pending:
                assumed.restore(write.changed)


def reserve(found: Found, node_name: str, assumed: Assumed) -> Reserved:
    """Take what was found, so that no other pod does."""
    taken = Reserved()
    try:
        for claim, volume in found.bindings:
            write = set_aside(volume, claim)
            _assume(write, assumed)
            taken.bindings.append((claim, write))
        for claim in found.provisions:
            write = select_node(claim, node_name)
            _assume(write, assumed)
            taken.provisions.append(write)
    except Exception:
        taken.give_back(assumed)
        raise
    return taken


def _assume(write: Write, assumed: Assumed) -> None:
    """Nothing to write means that it is so already, or that another pod with the same claim is about to make it so."""
    if write.patch is not None:
        assumed.assume(write.base, write.changed)


def set_aside(volume: PersistentVolume, claim: PersistentVolumeClaim) -> Write:
    """The volume named for the claim, with a mark unless it was named before."""
    known, meta = volume.spec.claim_ref, volume.metadata
    reference = ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace=claim.namespace,
        name=claim.name,
        uid=claim.uid,
        resource_version=claim.metadata.resource_version,
    )
    patch: dict[str, Any] = {}
    spec = volume.spec
    if known is None or (known.namespace, known.name, known.uid) != (claim.namespace, claim.name, claim.uid):
        written = {
            "apiVersion": reference.api_version,
            "kind": reference.kind,
            "namespace": reference.namespace,
            "name": reference.name,
            "uid": reference.uid,
            "resourceVersion": reference.resource_version or None,
        }
        patch["spec"] = {"claimRef": written}
        spec = replace(spec, claim_ref=reference)
    if not volume.is_set_aside_for(claim) and BOUND_BY_CONTROLLER not in volume.annotations:
        patch["metadata"] = {"annotations": {BOUND_BY_CONTROLLER: "yes"}}
        meta = replace(meta, annotations={**volume.annotations, BOUND_BY_CONTROLLER: "yes"})
    return Write(volume, volume.evolve(metadata=meta, spec=spec), patch or None)


def select_node(claim: PersistentVolumeClaim, node_name: str) -> Write:
    """The claim with the node that its volume shall be made for."""
    meta = replace(claim.metadata, annotations={**claim.annotations, SELECTED_NODE: node_name})
    is_said = claim.annotations.get(SELECTED_NODE) == node_name
    patch = None if is_said else {"metadata": {"annotations": {SELECTED_NODE: node_name}}}
    return Write(claim, claim.evolve(metadata=meta), patch)


async def bind(reserved: Reserved, pod: Pod, node_name: str, handle: Handle, timeout_s: float) -> Verdict:
    """Write, then wait for all claims to be bound."""
    try:
        for write in reserved.writes():
            if write.patch is not None:
                write.version = await _written(write, handle)
    except Exception as error:
        return failed(error)
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                await asyncio.sleep(POLL_S)
                if _are_bound(reserved, pod, node_name, handle):
                    return None
    except TimeoutError:
        return failed("binding volumes: context deadline exceeded")
    except BindingLostError as error:
        return failed(f"binding volumes: {error}")


async def _written(write: Write, handle: Handle) -> str:
    base = write.base
    assert write.patch is not None
    return await handle.writer.patch(
        type(base).__name__, base.namespace, base.name, write.patch, base.metadata.resource_version
    )


def _are_bound(reserved: Reserved, pod: Pod, node_name: str, handle: Handle) -> bool:
    """Are all claims bound?  ``BindingLostError`` if they will not be, or not for this pod on this node."""
    node = _node_of(pod, node_name, handle)
    for claim, write in reserved.bindings:
        volume = _volume(handle, write.base.name)
        bound = _claim(handle, claim.namespace, claim.name)
        if volume is None:
            raise BindingLostError(f'failed to check binding: persistentvolumes "{write.base.name}" not found')
        if bound is None:
            raise BindingLostError(f'failed to check binding: persistentvolumeclaims "{claim.key}" not found')
        if _is_older(volume, write.version):
            return False
        _check_reach(volume, node, handle)
        if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
            raise BindingLostError(f'ClaimRef got reset for pv "{volume.name}"')
        if not bound.is_bound:
            return False
    return all(_is_provisioned(write, node, handle) for write in reserved.provisions)


def _is_provisioned(write: Write, node: NodeView, handle: Handle) -> bool:
    claim = _claim(handle, write.base.namespace, write.base.name)
    if claim is None:
        missing = write.base.key
        raise BindingLostError(f'failed to check provisioning pvc: persistentvolumeclaims "{missing}" not found')
    if _is_older(claim, write.version):
        return False
    if claim.metadata.annotations is None:
        raise BindingLostError(f'selectedNode annotation reset for PVC "{claim.name}"')
    if claim.annotations.get(SELECTED_NODE) != node.name:
        # A provisioner that cannot make the volume there says so by taking the node off the claim.
        raise BindingLostError(f'provisioning failed for PVC "{claim.name}"')
    if claim.spec.volume_name:
        volume = _volume(handle, claim.spec.volume_name)
        if volume is None:
            return False  # it has been made, and its event is on its way
        _check_reach(volume, node, handle)
    return claim.is_bound


def _node_of(pod: Pod, node_name: str, handle: Handle) -> NodeView:
    """The node, as long as the pod is still meant to go there."""
    nodes = handle.snapshot().nodes
    row = nodes.row_of(node_name)
    if row is None:
        raise BindingLostError(f'failed to get node "{node_name}": node "{node_name}" not found')
    if all(each.uid != pod.uid for each in nodes.pods_at(row)):
        raise BindingLostError(f'pod does not exist any more: pod "{pod.name}" not found')
    return nodes.node(row)


def _check_reach(volume: PersistentVolume, node: NodeView, handle: Handle) -> None:
    csi_node = handle.objects.get("CSINode", "", node.name)
    try:
        is_reached = reaches_node(volume, node.labels, csi_node)
    except ValueError as error:
        raise BindingLostError(f"failed to translate pv to csi: {error}") from error
    if not is_reached:
        text = f'pv "{volume.name}" node affinity doesn\'t match node "{node.name}": no matching NodeSelectorTerms'
        raise BindingLostError(text)


def _volume(handle: Handle, name: str) -> PersistentVolume | None:
    """As the API server last told it; what was only assumed does not count here."""
    found: PersistentVolume | None = handle.objects.get("PersistentVolume", "", name)
    return found


def _claim(handle: Handle, namespace: str, name: str) -> PersistentVolumeClaim | None:
    found: PersistentVolumeClaim | None = handle.objects.get("PersistentVolumeClaim", namespace, name)
    return found


def _is_older(stored: ApiObject, version: str) -> bool:
    """Is this from before our own write?  Objects from files have no version until they are written."""
    seen = stored.metadata.resource_version or "0"
    return seen.isdigit() and version.isdigit() and int(seen) < int(version)
