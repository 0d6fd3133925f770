"""
Before the pod is bound: its claims get the finalizer, the allocation and the reservation, and devices are prepared.

``Reserved`` is what a pod has taken on its node.  ``plugin`` makes it in Reserve, has it written in PreBind and gives
it back in Unreserve.  What was written stays written; only the reservation is taken back.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import msgspec

from bayplan.errors import BayplanError, ConflictError, LeadershipLostError
from bayplan.framework import Handle, Verdict, failed
from bayplan.objects.devices.names import DELETE_PROTECTION, PODS
from bayplan.objects.devices.resource_claim import (
    AllocationResult,
    ResourceClaim,
    ResourceClaimConsumerReference,
)
from bayplan.objects.pod import Pod
from bayplan.objects.times import format_time
from bayplan.plugins.dynamic_resources import binding_conditions
from bayplan.plugins.dynamic_resources.binding_conditions import BindingFailedError
from bayplan.plugins.dynamic_resources.extended_resources import ExtendedClaim
from bayplan.plugins.dynamic_resources.pod_claims import CLAIM, IN_USE, MOST_USERS
from bayplan.plugins.dynamic_resources.usage import Usage

TRIES = 5
POLL_S = 5.0
NEWS_S = 30.0
"""How long the news of our own write may take."""


class ClaimError(Exception):
    """A claim could not be written; the pod is tried again."""


@dataclass(slots=True)
class Taken:
    """A claim, and the devices it is to get; ``None`` if it has them already."""

    claim: ResourceClaim
    allocation: AllocationResult | None = None
    extended: ExtendedClaim | None = None
    """For the claim that stands for extended resources, which does not exist yet."""
    is_written: bool = False


@dataclass(slots=True)
class Reserved:
    """What a pod has taken."""

    taken: list[Taken] = field(default_factory=list)

    def give_back(self, usage: Usage) -> None:
        """Forget what was only decided."""
        for each in self.taken:
            if each.allocation is not None:
                usage.release(_first_uid(each))

    @property
    def written(self) -> list[Taken]:
        return [each for each in self.taken if each.is_written]


async def bind(reserved: Reserved, pod: Pod, node_name: str, handle: Handle, usage: Usage, timeout_s: float) -> Verdict:
    """Write all claims, then wait until their devices are prepared."""
    try:
        for taken in reserved.taken:
            if taken.claim.is_reserved_for(pod.uid):
                # By an earlier attempt, which may have given it back since we heard of the claim.
                taken.claim = await _read(taken.claim, handle, f"get claim {taken.claim.key} that is reserved")
            taken.is_written = taken.claim.is_reserved_for(pod.uid)
            if not taken.is_written:
                await _write(taken, pod, handle, usage)
    except LeadershipLostError as error:
        return failed(error)
    except (BayplanError, ClaimError) as error:
        return failed(str(error))
    claims = [taken.claim for taken in reserved.taken]
    if not any(binding_conditions.are_needed(claim) for claim in claims):
        return None
    note = f"waiting for binding conditions for device on node {node_name}"
    handle.events.emit(pod, type="Normal", reason="BindingConditionsPending", action="Scheduling", note=note)
    return await _prepared(claims, handle, timeout_s)


async def _prepared(claims: list[ResourceClaim], handle: Handle, timeout_s: float) -> Verdict:
    try:
        async with asyncio.timeout(timeout_s):
            while not all(_is_prepared(claim, handle, timeout_s) for claim in claims):
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        return failed("device binding timeout: context deadline exceeded")
    except (BindingFailedError, ClaimError) as error:
        return failed(str(error))
    return None


def _is_prepared(claim: ResourceClaim, handle: Handle, timeout_s: float) -> bool:
    now: ResourceClaim | None = handle.objects.get(CLAIM, claim.namespace, claim.name)
    if now is None:
        raise ClaimError(f'could not find ResourceClaim "{claim.key}"')
    if binding_conditions.is_ready(now):
        return True
    if binding_conditions.is_late(now, handle.clock.now(), timeout_s):
        raise ClaimError(f"device binding timeout: claim={claim.name}")
    return False


# -- writing a claim --


async def _write(taken: Taken, pod: Pod, handle: Handle, usage: Usage) -> None:
    uid = _first_uid(taken)
    if taken.extended is not None:
        taken.claim = await _made(taken, handle, usage)
    if taken.allocation is None:
        await _reserved(taken, pod, handle)
        taken.is_written = True
    else:
        with usage.expected(taken.claim.uid) as news:
            version = await _reserved(taken, pod, handle)
            taken.is_written = True
            usage.written(taken.claim.uid, version)
            await _agreed(taken, news, handle)
    if taken.extended is not None:
        mappings = msgspec.to_builtins(taken.extended.mappings)
        status = {"resourceClaimName": taken.claim.name, "requestMappings": mappings}
        await handle.writer.patch_pod_status(pod, {"extendedResourceClaimStatus": status})
    if uid != taken.claim.uid:
        usage.release(uid)


async def _made(taken: Taken, handle: Handle, usage: Usage) -> ResourceClaim:
    """The claim for extended resources, which has a name and a uid from now on."""
    meta = msgspec.structs.replace(taken.claim.metadata, name="", uid="")
    try:
        made = await handle.writer.create(taken.claim.evolve(metadata=meta))
    except BayplanError as error:
        raise _told(error, f"create claim for extended resources {pod_free_key(taken.claim)}") from error
    assert isinstance(made, ResourceClaim)
    assert taken.allocation is not None
    usage.reserve(made.uid, made.key, taken.allocation)
    return made


def pod_free_key(claim: ResourceClaim) -> str:
    """How kube-scheduler names a claim that has no name yet."""
    return f"{claim.namespace}/"


async def _reserved(taken: Taken, pod: Pod, handle: Handle) -> str:
    """Finalizer, allocation and reservation; anew with the claim as it is now if somebody else wrote to it."""
    for attempt in range(TRIES):
        if attempt:
            taken.claim = await _read(taken.claim, handle, f"get updated claim {taken.claim.key} after conflict")
        try:
            return await _reserved_once(taken, pod, handle)
        except ConflictError as error:
            last = error
    raise ClaimError(f"{_doing(taken)}: {last}")


async def _read(claim: ResourceClaim, handle: Handle, doing: str) -> ResourceClaim:
    """The claim as it is now."""
    try:
        found = await handle.writer.read(CLAIM, claim.namespace, claim.name)
    except BayplanError as error:
        raise _told(error, doing) from error
    assert isinstance(found, ResourceClaim)
    return found


async def _reserved_once(taken: Taken, pod: Pod, handle: Handle) -> str:
    claim, meta, allocation = taken.claim, taken.claim.metadata, taken.allocation
    if claim.is_terminating:
        raise ClaimError(f"claim {claim.key} got deleted in the meantime")
    version = meta.resource_version
    if allocation is None:
        allocation = claim.status.allocation
        if allocation is None:
            raise ClaimError(f"claim {claim.key} got deallocated elsewhere in the meantime")
    else:
        if claim.is_allocated:
            raise ClaimError(f"claim {claim.key} got allocated elsewhere in the meantime")
        if DELETE_PROTECTION not in (meta.finalizers or ()):
            patch = {"metadata": {"finalizers": [*(meta.finalizers or ()), DELETE_PROTECTION]}}
            try:
                version = await handle.writer.patch(CLAIM, claim.namespace, claim.name, patch, version)
            except ConflictError:
                raise
            except BayplanError as error:
                raise _told(error, f"add finalizer to claim {claim.key}") from error
    if len(claim.reserved_for) >= MOST_USERS:  # an API server refuses one more
        raise ClaimError(f"claim {claim.key}: {IN_USE}")
    if allocation.allocation_timestamp is None:
        at = format_time(handle.clock.now())
        allocation = msgspec.structs.replace(allocation, allocation_timestamp=at)
    consumer = ResourceClaimConsumerReference(resource=PODS, name=pod.name, uid=pod.uid)
    status: dict[str, Any] = {"reservedFor": msgspec.to_builtins((*claim.reserved_for, consumer))}
    if taken.allocation is not None or claim.status.allocation != allocation:
        status["allocation"] = msgspec.to_builtins(allocation)
    try:
        version = await handle.writer.patch(
            CLAIM, claim.namespace, claim.name, {"status": status}, version, subresource="status"
        )
    except ConflictError:
        raise
    except BayplanError as error:
        raise _told(error, _doing(taken)) from error
    reserved_for = (*claim.reserved_for, consumer)
    written = msgspec.structs.replace(claim.status, allocation=allocation, reserved_for=reserved_for)
    taken.claim = claim.evolve(status=written, metadata=msgspec.structs.replace(meta, resource_version=version))
    return version


async def _agreed(taken: Taken, news: asyncio.Future[str], handle: Handle) -> None:
    """
    Wait for the news of the write.  If another scheduler gave away before what ours has, ours is taken back.

    The API server does not look whether two claims have the same device, or more of one than there is.
    """
    try:
        async with asyncio.timeout(NEWS_S):
            told = await news
    except TimeoutError:
        raise ClaimError(f"claim {taken.claim.key} was written, and the news of it did not arrive") from None
    if not told:
        return
    claim = taken.claim
    await give_up(claim, handle)
    taken.is_written = False
    raise ClaimError(f"claim {claim.key}: {told} by another scheduler at the same time")


async def give_up(claim: ResourceClaim, handle: Handle) -> None:
    """The claim is without devices again, and reserved for nobody."""
    status = {"allocation": None, "reservedFor": None, "devices": None}
    await handle.writer.patch(
        CLAIM, claim.namespace, claim.name, {"status": status}, claim.metadata.resource_version, subresource="status"
    )


async def release(reserved: Reserved, pod: Pod, handle: Handle) -> None:
    """The pod does not go to the node: its reservations are taken back, and the claim made for it goes."""
    for taken in reserved.written:
        if taken.extended is not None:
            await remove(taken.claim, handle)
        else:
            await handle.writer.release_claim(taken.claim, pod.uid)


async def remove(claim: ResourceClaim, handle: Handle) -> None:
    """Delete a claim that the scheduler made for extended resources."""
    left = [each for each in claim.metadata.finalizers or () if each != DELETE_PROTECTION]
    await handle.writer.patch(CLAIM, claim.namespace, claim.name, {"metadata": {"finalizers": left or None}})
    await handle.writer.delete(claim)


def _first_uid(taken: Taken) -> str:
    """The uid under which the decision was noted in Reserve."""
    return taken.claim.uid if taken.extended is None else taken.extended.claim.uid


def _doing(taken: Taken) -> str:
    what = "add reservation" if taken.allocation is None else "add allocation and reservation"
    return f"{what} to claim {taken.claim.key}"


def _told(error: BayplanError, doing: str) -> BayplanError | ClaimError:
    """With what was being done; a lost lease stays what it is."""
    return error if isinstance(error, LeadershipLostError) else ClaimError(f"{doing}: {error}")
