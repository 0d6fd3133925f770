"""
PostFilter: no node fits, and a claim that has devices nobody uses may stand in the way.

Its devices are given back, so that the pod finds others when it is tried again.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from bayplan.framework import Diagnosis, Handle, PostFilterResult, unschedulable
from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.objects.pod import Pod
from bayplan.plugins.dynamic_resources import binding
from bayplan.plugins.dynamic_resources.filtering import NOT_AVAILABLE, Filtering
from bayplan.plugins.dynamic_resources.pod_claims import PodClaims

DEALLOCATED = "deallocation of ResourceClaim completed"
DELETED = "deletion of ResourceClaim completed"
NO_HELP = "still not schedulable"


def released(
    claims: PodClaims, filtering: Filtering, pod: Pod, diagnosis: Diagnosis, handle: Handle
) -> PostFilterResult:
    """Give back the devices of one claim; which of several is not said, so it is the first."""
    in_the_way = _unavailable(filtering, diagnosis)
    for claim in claims.allocated:
        if claim.uid in in_the_way and _is_unused(claim, pod):
            return PostFilterResult(
                status=unschedulable(DEALLOCATED), follow_up=partial(binding.give_up, claim, handle)
            )
    if claims.leftover is not None:
        return PostFilterResult(
            status=unschedulable(DELETED), follow_up=partial(binding.remove, claims.leftover, handle)
        )
    return PostFilterResult(status=unschedulable(NO_HELP))


def _unavailable(filtering: Filtering, diagnosis: Diagnosis) -> set[str]:
    """Claims that kept at least one node from the pod."""
    found: set[str] = set()
    for number, status in enumerate(diagnosis.statuses):
        if status.reasons == NOT_AVAILABLE.reasons:
            for row in np.flatnonzero(diagnosis.first_no == number).tolist():
                found |= {claim.uid for claim in filtering.unavailable(diagnosis.nodes.object_at(row))}
    return found


def _is_unused(claim: ResourceClaim, pod: Pod) -> bool:
    users = claim.reserved_for
    return not users or (len(users) == 1 and users[0].uid == pod.uid)
