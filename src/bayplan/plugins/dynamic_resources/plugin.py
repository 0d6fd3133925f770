"""
DynamicResources: devices for the claims of pods.

A claim asks for devices by class, selector and count; drivers publish devices in ResourceSlices.  A pod runs where all
of its claims can be served: those that have devices tie it to the nodes that can use them, for the others ``allocator``
looks for devices on every node.  The devices of the chosen node are written to the claims before the pod is bound.

Extended resources come this way too, where a DeviceClass stands behind one and the node has none of it itself.

Extension points: PreEnqueue, PreFilter, Filter, PostFilter, Score (normalised), Reserve, PreBind.
Requeue: a claim of the pod or the devices of any claim became free, a claim was made for the pod, a slice, class, taint
rule or node changed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable
from functools import cached_property
from typing import Any

import numpy as np
import structlog
from pydantic import Field

from bayplan.errors import BayplanError
from bayplan.framework import (
    SKIP,
    CycleState,
    Depends,
    Diagnosis,
    FilterPlugin,
    Key,
    NodeTable,
    NodeView,
    On,
    PluginArgs,
    PodTemplate,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    Promise,
    ReservePlugin,
    Rows,
    ScorePlugin,
    Scores,
    Status,
    Verdict,
    Verdicts,
    failed,
    unresolvable,
    unschedulable,
)
from bayplan.framework.config.duration import Duration
from bayplan.framework.handle import handle_of
from bayplan.framework.normalize import by_maximum
from bayplan.framework.status import as_status
from bayplan.objects.pod import Pod
from bayplan.plugins.dynamic_resources import binding, pod_claims, releasing
from bayplan.plugins.dynamic_resources.allocator import Allocator
from bayplan.plugins.dynamic_resources.binding import Reserved, Taken
from bayplan.plugins.dynamic_resources.device_score.args import DeviceScoreArgs, RuleArgs
from bayplan.plugins.dynamic_resources.device_score.device_score import DeviceScore
from bayplan.plugins.dynamic_resources.device_score.merit import Merit
from bayplan.plugins.dynamic_resources.device_selectors import compile_selector
from bayplan.plugins.dynamic_resources.explaining import Missing
from bayplan.plugins.dynamic_resources.extended_resources import is_made_for
from bayplan.plugins.dynamic_resources.filtering import Filtering
from bayplan.plugins.dynamic_resources.ledger import Ledger, ledger_of
from bayplan.plugins.dynamic_resources.pod_claims import CLAIM, MissingClaimError, PodClaims, claims_of
from bayplan.plugins.dynamic_resources.requeueing import Hints
from bayplan.plugins.dynamic_resources.would_fit import Remedies
from bayplan.plugins.extended_resource_classes import ExtendedResourceClasses, may_be_devices
from bayplan.plugins.object_index import Index

log = structlog.get_logger()

NOTHING_TO_FREE = "no new claims to deallocate"

# kube-scheduler's text when PostFilter finds that PreFilter never ran: an earlier plugin had rejected the pod
# for good.  It becomes the end of the pod's message, and stops DefaultPreemption from being asked.
NOT_PREPARED = "not found"

WRITE_S = 300.0
"""Writing comes before the waiting that the profile limits; many claims and a slow API server take a while."""

CLAIMS: Key[PodClaims] = Key("DynamicResources.claims")
FILTERING: Key[Filtering] = Key("DynamicResources.filtering")
RESERVED: Key[Reserved] = Key("DynamicResources.reserved")


class DynamicResourcesArgs(PluginArgs):
    """What the profile may set under ``pluginConfig: DynamicResources``."""

    filter_timeout: Duration = Field(10.0, ge=0)
    binding_timeout: Duration = Field(600.0, ge=1)
    device_score: DeviceScoreArgs | None = None


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
    reads = ("ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule")
    allows_parallel = True

    def __init__(self, args: Any = None, handle: Any = None) -> None:
        super().__init__(args, handle)
        self._settings: DynamicResourcesArgs = args or DynamicResourcesArgs()
        self._releases: dict[str, asyncio.Task[None]] = {}
        """By uid of the pod, what is being given back."""
        self._told = 0
        """Where the journal of devices stood when the engine was last told."""

    def requeue_on(self) -> tuple[On, ...]:
        return Hints(lambda: handle_of(self).objects).rules()

    def promise(self, template: PodTemplate) -> Promise | None:
        """
        Pods whose claims ask for the same get the same of a node while its devices stay as they are.

        Where devices are not one node's own, what is taken on one node changes the answers of all, and nothing is kept.
        """
        resources = self._resources(template)
        if not template.spec.resource_claims and not resources:
            return Promise(key=(), filter=Depends.OBJECT, score=Depends.OBJECT, reserves=False)
        self._ledger.catch_up()
        if self._ledger.inventory.concerns_all:
            return None
        # A claim for extended resources is made of the containers that ask for them.
        key = template if resources else None
        return Promise(key=key, filter=Depends.ROW, score=Depends.ROW, pod_key=self._asked_by)

    def observe(self, kind: str, old: Any, new: Any) -> None:
        """News of our own writes are waited for."""
        if kind == CLAIM:
            self._ledger.catch_up()

    def pre_enqueue(self, pod: Pod) -> Verdict:
        if not pod.spec.resource_claims:
            return None
        try:
            claims_of(pod, handle_of(self).objects)
        except MissingClaimError as error:
            return unresolvable(str(error))
        return None

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        state[CLAIMS] = PodClaims()
        if not self._wants_devices(pod.template):
            return SKIP
        filtering = self._prepared(pod)
        if not isinstance(filtering, Filtering):
            return filtering
        state[CLAIMS], state[FILTERING] = filtering.claims, filtering
        return None

    def _prepared(self, pod: Pod) -> Filtering | Verdict:
        """The claims of a pod that wants devices, ready to ask nodes about; or what keeps it from all of them."""
        objects = handle_of(self).objects
        self._ledger.catch_up()
        try:
            found = claims_of(pod, objects)
        except MissingClaimError as error:
            return unresolvable(str(error))
        resources = self._resources(pod.template)
        leftover = self._leftover(pod) if resources else None
        if not found and not resources:
            return SKIP
        no = pod_claims.rejected(pod, found, objects, self._ledger.usage)
        if no is not None:
            return no
        claims = PodClaims(found, resources, leftover)
        return Filtering(
            pod, claims, self._allocator, self._classes, handle_of(self).clock.now(), self._settings.binding_timeout
        )

    def _of_its_own(self, state: CycleState, pod: Pod) -> Filtering | Verdict:
        """Where answers are kept, the state is that of the pod that they were given for."""
        filtering = state.get(FILTERING)
        return filtering if filtering is None or filtering.pod is pod else self._prepared(pod)

    # -- one node --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        filtering = state.get(FILTERING)
        return failed(NOT_PREPARED) if filtering is None else filtering.on_node(node)

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        filtering = state.get(FILTERING)
        return 0 if filtering is None else filtering.score_node(node)

    # -- all nodes --

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdicts:
        filtering = state.get(FILTERING)
        if filtering is None:
            return Verdicts(np.ones(len(nodes), np.uint8), (failed(NOT_PREPARED),))
        return filtering.on_all(nodes)

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        filtering = state.get(FILTERING)
        return np.zeros(len(nodes), np.int64) if filtering is None else filtering.score_all(nodes)

    def normalize(self, state: CycleState, pod: Pod, scores: Scores, feasible: Rows) -> Scores:
        return by_maximum(scores)

    # -- nothing fits --

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> PostFilterResult | Verdict:
        claims = state.get(CLAIMS)
        if claims is None:
            return failed(NOT_PREPARED)
        filtering = state.get(FILTERING)
        if filtering is None:
            return unschedulable(NOTHING_TO_FREE)
        return releasing.released(claims, filtering, pod, diagnosis, handle_of(self))

    # -- committing --

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        filtering = self._of_its_own(state, pod)
        if not isinstance(filtering, Filtering):
            return filtering
        nodes = handle_of(self).snapshot().nodes
        row = nodes.row_of(node_name)
        if row is None:
            return failed(f'node "{node_name}" is not there any more')
        self._ledger.catch_up()
        taken = filtering.taken(nodes.node(row), self._ledger.inventory)
        if isinstance(taken, Status):
            return taken
        state[RESERVED] = Reserved(taken)
        for each in taken:
            if each.allocation is not None:
                self._ledger.usage.reserve(each.claim.uid, each.claim.key, each.allocation)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        reserved = state.get(RESERVED)
        if reserved is None:
            return
        reserved.give_back(self._ledger.usage)
        if reserved.written:
            self._release(pod.uid, binding.release(reserved, pod, handle_of(self)))

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        reserved = state.get(RESERVED)
        return None if reserved is not None and reserved.taken else SKIP

    def pre_bind_timeout_s(self) -> float:
        return self._settings.binding_timeout + WRITE_S

    async def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        earlier = self._releases.get(pod.uid)
        if earlier is not None:  # or it would take back what is written now
            await asyncio.wait([earlier])
        timeout_s = self._settings.binding_timeout
        return await binding.bind(state[RESERVED], pod, node_name, handle_of(self), self._ledger.usage, timeout_s)

    # -- what it would do --

    def given(self, pod: Pod, node: NodeView) -> list[Taken] | Status:
        """What the pod's claims would be given on a node, or why they would not; nothing is reserved."""
        state = CycleState()
        said = as_status(self.pre_filter(state, pod, node.table))
        filtering = state.get(FILTERING)
        if filtering is None:
            return [] if said.is_skip else said
        no = as_status(filtering.on_node(node))
        return filtering.taken(node, self._ledger.inventory) if no.is_success else no

    def merit(self, pod: Pod, node: NodeView) -> Merit | None:
        """What DeviceScore says of what a node would give; ``None`` without DeviceScore, or if it gives nothing."""
        state = CycleState()
        self.pre_filter(state, pod, node.table)
        filtering = state.get(FILTERING)
        return None if filtering is None else filtering.merit(node)

    @property
    def score_rules(self) -> tuple[RuleArgs, ...]:
        """The rules of DeviceScore."""
        score = self._settings.device_score
        return () if score is None else score.rules

    def missing(self, pod: Pod, node: NodeView) -> Missing:
        """
        For each request that a node cannot serve: its devices, and the first thing that keeps each from it.

        As ``missing`` in the document of ``explain``.
        """
        state = CycleState()
        self.pre_filter(state, pod, node.table)
        filtering = state.get(FILTERING)
        ledger = self._ledger
        return [] if filtering is None else filtering.missing(node, ledger.inventory, ledger.usage)

    def would_fit_if(self, pod: Pod, node: NodeView) -> Remedies:
        """What alone would let a node serve the pod's claims; all of it was tried in the imagination."""
        state = CycleState()
        self.pre_filter(state, pod, node.table)
        filtering = state.get(FILTERING)
        return Remedies([], 0) if filtering is None else filtering.would_fit_if(node, self._ledger.inventory)

    # -- what it promises --

    def _asked_by(self, pod: Pod) -> Hashable:
        """What the claims of a pod ask for; ``None`` if one has devices, or stands in the pod's way."""
        self._tell_changed_nodes()
        try:
            found = claims_of(pod, handle_of(self).objects)
        except MissingClaimError:
            return None
        usage = self._ledger.usage
        if any(claim.is_allocated or usage.pending(claim.uid) is not None for claim in found):
            return None
        if self._resources(pod.template) and self._leftover(pod) is not None:
            return None
        return self._allocator.epoch, self._allocator.key_of([claim.spec.devices for claim in found])

    def _tell_changed_nodes(self) -> None:
        """The engine asks again about nodes with other devices, or others in use, than when it last asked."""
        ledger, handle = self._ledger, handle_of(self)
        ledger.catch_up()
        inventory = ledger.inventory
        changed = inventory.changed_since(self._told)
        self._told = inventory.position
        for name in handle.snapshot().nodes.names if changed is None else changed:
            handle.node_changed(name)

    # -- what it keeps --

    def _wants_devices(self, template: PodTemplate) -> bool:
        return bool(template.spec.resource_claims or self._resources(template))

    def _resources(self, template: PodTemplate) -> tuple[str, ...]:
        """Extended resources of a pod that a class stands behind."""
        scalars = template.requests.scalars
        if not scalars or self.handle is None:
            return ()
        of = self._classes.of
        return tuple(
            name for name, amount in scalars.items() if amount and may_be_devices(name) and of(name) is not None
        )

    def _leftover(self, pod: Pod) -> Any:
        """The claim for extended resources that an earlier attempt made."""
        return next((claim for claim in self._by_owner.at(pod.uid) if is_made_for(claim, pod)), None)

    def _release(self, uid: str, write: Coroutine[Any, Any, None]) -> None:
        """Write beside scheduling; what is not written is found and done again when the pod is tried again."""
        task = self._releases[uid] = asyncio.get_running_loop().create_task(_logged(write))
        task.add_done_callback(lambda done: self._releases.pop(uid) if self._releases.get(uid) is done else None)

    @cached_property
    def _ledger(self) -> Ledger:
        return ledger_of(handle_of(self).objects)

    @cached_property
    def _classes(self) -> ExtendedResourceClasses:
        return ExtendedResourceClasses(handle_of(self).objects)

    @cached_property
    def _by_owner(self) -> Index[Any]:
        return Index(handle_of(self).objects, CLAIM, lambda claim: claim.controller.uid if claim.controller else "")

    @cached_property
    def _allocator(self) -> Allocator:
        inventory, rules = self._ledger.inventory, self._settings.device_score
        score = DeviceScore(rules, inventory) if rules is not None else None
        return Allocator(handle_of(self).objects, inventory, compile_selector, self._deadline, score)

    def _deadline(self) -> Callable[[], bool] | None:
        limit = self._settings.filter_timeout
        if not limit:
            return None
        end = time.monotonic() + limit
        return lambda: time.monotonic() > end


async def _logged(write: Coroutine[Any, Any, None]) -> None:
    try:
        await write
    except BayplanError as error:
        log.warning("a claim was not released", error=str(error))
