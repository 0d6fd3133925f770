"""
DynamicResources: pods that use devices through resource claims.

Bayplan does not allocate devices yet: a pod with ``spec.resourceClaims`` is kept pending, and told why.  For
every other pod the plugin only takes the place it has in kube-scheduler's default profile, where its words
show in the messages of pods that do not fit.

Extension points: PreEnqueue, PreFilter, Filter, PostFilter, Score (normalised), Reserve, PreBind.
Requeue: nothing, no change in the cluster helps a pod with claims.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from pydantic import Field

from bayplan.framework import (
    SKIP,
    Codes,
    CycleState,
    Depends,
    Diagnosis,
    FilterPlugin,
    Key,
    NodeTable,
    NodeView,
    On,
    PluginArgs,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
    Rows,
    ScorePlugin,
    Scores,
    Verdict,
    failed,
    unresolvable,
    unschedulable,
)
from bayplan.framework.config.duration import Duration
from bayplan.framework.normalize import by_maximum
from bayplan.objects.pod import Pod

NOTHING_TO_FREE = "no new claims to deallocate"

# kube-scheduler's text when PostFilter finds that PreFilter never ran: an earlier plugin had rejected the pod
# for good.  It becomes the end of the pod's message, and stops DefaultPreemption from being asked.
NOT_PREPARED = "not found"

PREPARED: Key[bool] = Key("DynamicResources.prepared")


class DynamicResourcesArgs(PluginArgs):
    """What kube-scheduler's files may set; both limit the allocation of devices and so change nothing here."""

    filter_timeout: Duration = Field(10.0, ge=0)
    binding_timeout: Duration = Field(600.0, ge=1)


class DynamicResources(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    ScorePlugin,
    ReservePlugin,
    PreBindPlugin,
):
    """See the module docstring."""

    name = "DynamicResources"
    Args = DynamicResourcesArgs
    filter_depends = Depends.OBJECT
    score_depends = Depends.OBJECT
    allows_parallel = True

    def requeue_on(self) -> tuple[On, ...]:
        return ()

    signature_by_template = True

    def signature(self, pod: Pod) -> Hashable:
        return _claims(pod)

    def pre_enqueue(self, pod: Pod) -> Verdict:
        """Pods with claims go into the queue, so that they are told why they do not come out of it."""
        return None

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        state[PREPARED] = True
        claims = _claims(pod)
        if not claims:
            return SKIP
        return unresolvable(f"Bayplan does not place pods with resource claims yet: {', '.join(claims)}")

    # -- filtering and scoring: PreFilter has settled everything --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return None

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        return np.zeros(len(nodes), np.uint8)

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> Verdict:
        return unschedulable(NOTHING_TO_FREE) if PREPARED in state else failed(NOT_PREPARED)

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        return 0

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        return np.zeros(len(nodes), np.int64)

    def normalize(self, state: CycleState, pod: Pod, scores: Scores, feasible: Rows) -> Scores:
        return by_maximum(scores)

    # -- committing: there is nothing to take, give back or write --

    def reserves(self, pod: Pod) -> bool:
        return False

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        return None

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        return SKIP

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        return None


def _claims(pod: Pod) -> tuple[str, ...]:
    return tuple(claim.name for claim in pod.spec.resource_claims or ())
