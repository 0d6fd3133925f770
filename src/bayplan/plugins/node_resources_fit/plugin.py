"""
NodeResourcesFit: the node must have room for what the pod requests, and some fills are better than others.

Room is counted in requests, not in use: CPU, memory, ephemeral storage, extended resources, huge pages and
the number of pods.  ``filtering`` says what is short, ``scoring`` how good the fill would be; the strategy
(spread out, pack, or a curve of one's own) comes from the args.

Extension points: PreFilter, Filter, PreScore, Score.
Requeue: a pod left its node or asks for less; a node was added that is large enough, or grew; a DeviceClass stands
behind a resource of the pod now.
"""

from __future__ import annotations

from typing import Any, cast

from bayplan.bounded_cache import BoundedCache
from bayplan.framework import (
    Change,
    Codes,
    CycleState,
    Depends,
    FilterPlugin,
    Handle,
    Key,
    NodeTable,
    NodeView,
    On,
    PodTemplate,
    PreFilterPlugin,
    PreScorePlugin,
    Promise,
    Rows,
    ScorePlugin,
    Scores,
    Verdict,
    Verdicts,
)
from bayplan.objects.devices.device_class import DeviceClass
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.requests import scoring_request
from bayplan.objects.resources import is_scalar_name
from bayplan.plugins.extended_resource_classes import DEVICE_CLASS, ExtendedResourceClasses
from bayplan.plugins.node_resources_fit import filtering
from bayplan.plugins.node_resources_fit.args import NodeResourcesFitArgs
from bayplan.plugins.node_resources_fit.filtering import Want
from bayplan.plugins.node_resources_fit.scoring import Asked, strategy_of

WANTED: Key[tuple[Want, ...]] = Key("NodeResourcesFit.wanted")
ASKED: Key[tuple[Asked, ...]] = Key("NodeResourcesFit.asked")

# A template is asked about at several points one after another.
MAX_REMEMBERED = 16


class NodeResourcesFit(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """The node must have room for what the pod requests, and some fills are better than others."""

    name = "NodeResourcesFit"
    Args = NodeResourcesFitArgs
    reads = (DEVICE_CLASS,)

    def __init__(self, args: Any = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        settings = cast(NodeResourcesFitArgs, args or NodeResourcesFitArgs())
        self.ignored = frozenset(settings.ignored_resources)
        self.ignored_groups = frozenset(settings.ignored_resource_groups)
        self.resources = settings.scoring_strategy.resources
        self.strategy = strategy_of(settings.scoring_strategy)
        self._classes = None if handle is None else ExtendedResourceClasses(handle.objects)
        self._known_wants: BoundedCache[PodTemplate, tuple[Want, ...]] = BoundedCache(MAX_REMEMBERED)
        self._known_asked: BoundedCache[PodTemplate, tuple[Asked, ...]] = BoundedCache(MAX_REMEMBERED)

    def requeue_on(self) -> tuple[On, ...]:
        return (
            On("Pod", Change.DELETED | Change.POD_SCALE_DOWN, _made_room),
            On("Node", Change.ADDED | Change.ALLOCATABLE, self._has_room_now),
            On(DEVICE_CLASS, Change.ADDED | Change.UPDATED, _stands_behind),
        )

    def promise(self, template: PodTemplate) -> Promise | None:
        key = self._wanted(template), self._asked(template)
        return Promise(key=key, filter=Depends.AMOUNTS, score=Depends.AMOUNTS)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        state[WANTED] = self._wanted(pod.template)
        return None

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> Verdict:
        state[ASKED] = self._asked(pod.template)
        return None

    # -- one node --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return filtering.shortages(node, self._wanted_in(state, pod))

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        return self.strategy.score_node(node, self._asked_in(state, pod))

    # -- all nodes --

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes | Verdicts:
        wanted = self._wanted_in(state, pod)
        if len(wanted) > filtering.MAX_WANTS:
            return super().filter(state, pod, nodes)
        return filtering.judge(nodes, wanted)

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        return self.strategy.score(nodes, self._asked_in(state, pod))

    # -- what is read of the pod; worked out anew where a profile leaves PreFilter or PreScore out --

    def _wanted_in(self, state: CycleState, pod: Pod) -> tuple[Want, ...]:
        known = state.get(WANTED)
        return self._wanted(pod.template) if known is None else known

    def _asked_in(self, state: CycleState, pod: Pod) -> tuple[Asked, ...]:
        known = state.get(ASKED)
        return self._asked(pod.template) if known is None else known

    def _wanted(self, template: PodTemplate) -> tuple[Want, ...]:
        known = self._known_wants.get(template)
        if known is None:
            requests = template.requests
            known = filtering.wants(requests, self.ignored, self.ignored_groups, self._has_devices)
            if not requests.scalars:  # which devices stand behind an extended resource may change
                self._known_wants[template] = known
        return known

    def _has_devices(self, resource: str) -> bool:
        return self._classes is not None and self._classes.of(resource) is not None

    def _has_room_now(self, pod: Pod, old: Node | None, new: Node) -> bool:
        """The pod would fit if the node were empty; a node that was there before must have grown as well."""
        room, wanted = new.allocatable, filtering.wants(pod.requests, has_devices=self._has_devices)
        of_devices = [want for want in wanted if want.has_devices and not room.get(want.resource)]
        if room.pods < 1 or any(want.amount > room.get(want.resource) for want in wanted if want not in of_devices):
            return False
        if old is None or of_devices:
            return True
        before = old.allocatable
        return room.pods > before.pods or any(room.get(want.resource) > before.get(want.resource) for want in wanted)

    def _asked(self, template: PodTemplate) -> tuple[Asked, ...]:
        """The resources of the args that count; an extended resource counts for pods that ask for it."""
        known = self._known_asked.get(template)
        if known is None:
            amounts = [(each, scoring_request(template, each.name)) for each in self.resources]
            known = self._known_asked[template] = tuple(
                Asked(each.name, each.weight, amount)
                for each, amount in amounts
                if amount or not is_scalar_name(each.name)
            )
        return known


def _made_room(pod: Pod, old: Pod, new: Pod | None) -> bool:
    """Another pod left its node, or a pod there (or the waiting one) asks for less than before."""
    if new is None:
        return bool(old.node_name or old.nominated_node_name)
    if new.uid == pod.uid:
        return True
    if not new.node_name:
        return False
    before, after = old.accounted, new.accounted
    return any(before.get(want.resource) > after.get(want.resource) for want in filtering.wants(pod.requests))


def _stands_behind(pod: Pod, old: DeviceClass | None, new: DeviceClass) -> bool:
    """The class came, or names another resource now, and the pod asks for it."""
    if old is not None and old.spec.extended_resource_name == new.spec.extended_resource_name:
        return False
    asked = pod.requests.scalars
    return (old is None and new.implicit_resource_name in asked) or new.spec.extended_resource_name in asked
