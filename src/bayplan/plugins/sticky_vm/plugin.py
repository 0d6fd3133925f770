"""
StickyVM: a virtual machine always returns to its node.

The first pod of a VirtualMachine goes where the other plugins want it; its node is then noted in an annotation of the
machine.  Every later pod of the machine may go to that node and to no other, whatever happened to the one before:
crash, eviction, a node that was restarted.  If the node has no room, or is gone, the pod waits.  The target of a live
migration may go elsewhere, and the note follows once the machine has moved.  What is noted can be told anew from pods
that are bound and from instances that run, so nothing is lost if the scheduler dies between bind and note.  In the
mode StickyOwner the same holds for pods of StatefulSets.

Extension points: PreFilter, Filter, PostBind.
Requeue: the pod's instance or machine came, changed or went; its StatefulSet did; its node came back.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import structlog

from bayplan.clock import wait_at_most
from bayplan.framework import (
    SKIP,
    Change,
    CycleState,
    Depends,
    FilterPlugin,
    Key,
    NodeTable,
    NodeView,
    On,
    PodTemplate,
    PostBindPlugin,
    PreFilterPlugin,
    PreFilterResult,
    Promise,
    Status,
    Verdict,
    Verdicts,
    unresolvable,
)
from bayplan.framework.handle import handle_of
from bayplan.objects.duration import format_duration
from bayplan.objects.names import is_subdomain
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kubevirt import INSTANCE, MACHINE, VirtualMachineInstance, owner_of
from bayplan.plugins.sticky_vm.args import RELEASE, StickyVMArgs
from bayplan.plugins.sticky_vm.gone_nodes import GoneNodes
from bayplan.plugins.sticky_vm.node_notes import FREE, RETRY_S, Notes
from bayplan.plugins.sticky_vm.owners import STATEFUL_SET, Finder, Found, Loose, Place
from bayplan.plugins.sticky_vm.repairer import Repairer

log = structlog.get_logger()

MAX_SHOWN = 80
"""How much is shown of an annotation that makes no sense."""


class Sticking:
    """What PreFilter found for one pod."""

    __slots__ = ("found", "node", "others")

    def __init__(self, found: Found, node: str) -> None:
        self.found = found
        self.node = node
        """"" for a first placement."""
        self.others = unresolvable(f"node(s) are not {node}, to which {found.place} sticks")


STATE: Key[Sticking] = Key("StickyVM")


class StickyVM(PreFilterPlugin, FilterPlugin, PostBindPlugin):
    """A virtual machine always returns to its node."""

    name = "StickyVM"
    Args = StickyVMArgs
    reads = ("Node", INSTANCE, MACHINE, STATEFUL_SET)

    def requeue_on(self) -> Sequence[On]:
        came, anything = Change.ADDED | Change.UPDATED, Change.ADDED | Change.UPDATED | Change.DELETED
        return (
            On(INSTANCE, anything, self._instance_could_help),
            On(MACHINE, came, self._owner_could_help),
            On(STATEFUL_SET, came, self._owner_could_help),
            On("Node", Change.ADDED, self._node_could_help),
        )

    def promise(self, template: PodTemplate) -> Promise | None:
        """What holds for one machine holds for no other."""
        return None if self._finder.is_asked(template) else Promise(key=(), filter=Depends.OBJECT)

    # -- scheduling --

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult | Verdict:
        if not self._finder.is_asked(pod.template):
            return SKIP
        found = self._finder.find(pod)
        if isinstance(found, Status):
            log.info("PreFilter: the pod waits", pod=pod.key, reason=found.message)
            return found
        if isinstance(found, Loose):
            log.info("PreFilter: the pod may go anywhere", pod=pod.key, reason=found.why or "migration target")
            return SKIP
        noted = self._notes.node(found.place, found.owner)
        node = found.seen_on if noted is None else noted
        log.debug("PreFilter: found what owns the pod", pod=pod.key, owner=str(found.place))
        sticking = state[STATE] = Sticking(found, node)
        if not node:
            log.info("PreFilter: no sticky node yet, any will do", pod=pod.key, owner=str(found.place))
            return None
        log.info("PreFilter: already sticky to node", pod=pod.key, owner=str(found.place), node=node)
        if nodes.row_of(node) is None:
            return self._missed(node, found.place, pod, state)
        return PreFilterResult(frozenset({node}), sticking.others.message)

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        sticking = state.get(STATE)
        if sticking is None or not sticking.node:
            return None
        is_own = node.name == sticking.node
        log.debug("Filter: given node is sticky node" if is_own else "Filter: skip", pod=pod.key, node=node.name)
        return None if is_own else sticking.others

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdicts:
        sticking = state.get(STATE)
        codes = np.zeros(len(nodes), np.uint8)
        if sticking is None or not sticking.node:
            return Verdicts(codes, ())
        codes[:] = 1
        row = nodes.row_of(sticking.node)
        if row is not None:
            codes[row] = 0
        return Verdicts(codes, (sticking.others,))

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> Awaitable[None] | None:
        sticking = state.get(STATE)
        if sticking is None:
            self._tell_why_loose(pod)
            return None
        place = sticking.found.place
        if sticking.node and sticking.node == self._notes.node(place, sticking.found.owner):
            log.info("PostBind: already has sticky annotation", pod=pod.key, owner=str(place), node=node_name)
            return None
        log.info("PostBind: annotating selected node", pod=pod.key, owner=str(place), node=node_name)
        self._notes.take(place, sticking.found.owner, node_name, pod)
        return self._notes.write(place)

    def _tell_why_loose(self, pod: Pod) -> None:
        found = self._finder.find(pod) if self._finder.is_asked(pod.template) else None
        if isinstance(found, Loose) and found.why:
            handle_of(self).events.emit(pod, type="Normal", reason="NotSticky", action="Binding", note=found.why)

    def _missed(self, node: str, place: Place, pod: Pod, state: CycleState) -> Status:
        """The node is not there at all."""
        if not is_subdomain(node):
            said = json.dumps(node[:MAX_SHOWN])
            fix = f"write a node's name into its annotation {place.annotation}, or nothing to set it free"
            return unresolvable(f"{place} sticks to {said}, which cannot be a node; {fix}")
        text = f"{place} sticks to node {node}, which is not in the cluster"
        if self.args.when_node_is_gone == RELEASE:
            if not state.is_dry_run:
                self._gone.missed(node, place, pod)
                self._notes.woken.set()
            text += f"; it is released when that has been so for {format_duration(self.args.release_after)}"
        return unresolvable(text)

    # -- beside scheduling --

    def observe(self, kind: str, old: Any, new: Any) -> None:
        if kind == "Node":
            if old is None:
                self._gone.is_back(new.name)
        elif kind == INSTANCE:
            self._repairer.instance_changed(old, new)
        elif new is None:
            self._notes.forget(old)
        else:
            self._notes.heard(new)
            if kind == MACHINE:
                self._repairer.machine_changed(new)

    async def background(self) -> None:
        """Repair what an earlier run left undone; then write what is new, and set free what has waited long enough."""
        self._notes.woken = asyncio.Event()
        self._repairer.repair_all()
        time = asyncio.get_running_loop().time
        retry_at = time()
        while True:
            self._notes.woken.clear()
            self._release_due()
            # An event must not be the reason to ask again and again for what was refused.
            is_due = time() >= retry_at
            if is_due:
                retry_at = time() + RETRY_S
            places = self._notes.unwritten(with_refused=is_due)
            await asyncio.gather(*(self._notes.write(place) for place in places))
            waits = [self._gone.next_due_s(), max(0.0, retry_at - time()) if self._notes.is_behind else None]
            await wait_at_most(self._notes.woken, min((each for each in waits if each is not None), default=None))

    def _release_due(self) -> None:
        handle = handle_of(self)
        for node, place, pod in self._gone.due():
            owner = handle.objects.get(place.kind, place.namespace, place.name)
            if owner is not None and owner.uid == place.uid and self._notes.node(place, owner) == node:
                after = format_duration(self.args.release_after)
                note = f"{place} is released from node {node}, which has been gone for {after}"
                log.warning("released", owner=str(place), node=node, after=after)
                handle.events.emit(pod, type="Warning", reason="StickyReleased", action="Scheduling", note=note)
                self._notes.take(place, owner, FREE, pod)

    # -- what could change its mind --

    def _instance_could_help(
        self, pod: Pod, old: VirtualMachineInstance | None, new: VirtualMachineInstance | None
    ) -> bool:
        """The pod's own instance, or another one that claims the same machine."""
        changed = new or old
        reference = owner_of(pod.metadata, INSTANCE)
        if changed is None or reference is None or changed.namespace != pod.namespace:
            return False
        own = handle_of(self).objects.get(INSTANCE, pod.namespace, reference.name)
        if changed.name == reference.name:
            return True
        machines = {each.machine.name for each in (own, changed) if each is not None and each.machine is not None}
        return own is not None and own.machine is not None and len(machines) == 1

    def _owner_could_help(self, pod: Pod, old: Any, new: Any) -> bool:
        """Its own owner came, or says something else about the node."""
        found = self._finder.find(pod)
        if not isinstance(found, Found) or found.place.uid != new.uid:
            return False
        key = found.place.annotation
        return old is None or old.uid != new.uid or old.annotations.get(key) != new.annotations.get(key)

    def _node_could_help(self, pod: Pod, old: Node | None, new: Node) -> bool:
        found = self._finder.find(pod)
        if not isinstance(found, Found):
            return False
        noted = self._notes.node(found.place, found.owner)
        return (found.seen_on if noted is None else noted) in ("", new.name)

    # -- parts --

    @cached_property
    def _finder(self) -> Finder:
        return Finder(handle_of(self), self.args.annotation_key, self.args.mode == "StickyOwner")

    @cached_property
    def _notes(self) -> Notes:
        return Notes(handle_of(self))

    @cached_property
    def _gone(self) -> GoneNodes:
        return GoneNodes(handle_of(self).clock, self.args.release_after)

    @cached_property
    def _repairer(self) -> Repairer:
        return Repairer(handle_of(self), self._finder, self._notes, self.args.mode == "StickyOwner")
