"""
One plugin against one cluster, without an engine around it: for tests of plugins.

``cluster(...)`` makes a cache of builders or objects, ``make(...)`` a plugin on it, and ``run_filter`` and
``run_score`` take the plugin through its extension points in the order the engine would.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from bayplan.clock import VirtualClock
from bayplan.engine.cache import ClusterCache
from bayplan.engine.store import Shelf
from bayplan.errors import NotFoundError
from bayplan.framework.args import load_args
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.handle import Handle, WaitingPod, WaitingPods
from bayplan.framework.plugin import FilterPlugin, Plugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from bayplan.framework.ports import NoMetrics
from bayplan.framework.preemption.what_if_rows import WhatIfRows
from bayplan.framework.results import PreFilterResult, Verdicts
from bayplan.framework.snapshot import NodeView, Rows
from bayplan.framework.status import SUCCESS, Code, Status, as_status
from bayplan.objects import kinds
from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.testing.builders import Builder, NodeBuilder, PodBuilder

P = TypeVar("P", bound=Plugin)

OUTSIDE = "node(s) are outside what PreFilter narrowed the search to"
"""What ``run_filter`` says of nodes that a PreFilterResult leaves out; the engine names the plugins here."""


def cluster(
    nodes: Iterable[Node | NodeBuilder] = (),
    pods: Iterable[Pod | PodBuilder] = (),
    objects: Iterable[ApiObject | Builder[Any]] = (),
) -> ClusterCache:
    """A cache with these nodes, the pods on them, and other objects of any kind (services, config maps …)."""
    cache = ClusterCache()
    for made in objects:
        each = made.build() if isinstance(made, Builder) else made
        cache.objects.put(kinds.kind_of(each), each.namespace, each.name, each)
    for node in nodes:
        cache.add_node(node.build() if isinstance(node, NodeBuilder) else node)
    for pod in pods:
        assigned = built_pod(pod)
        if not assigned.node_name:
            raise ValueError(f"pod {assigned.key} is on no node; add .on(...) to it")
        cache.add_pod(assigned)
    return cache


def built_pod(made: Pod | PodBuilder) -> Pod:
    """The pod of a builder; a pod as it is."""
    return made.build() if isinstance(made, PodBuilder) else made


def make(
    plugin: type[P],
    cache: ClusterCache | None = None,
    *,
    clock: VirtualClock | None = None,
    waiting: WaitingPods | None = None,
    **args: Any,
) -> P:
    """A plugin with a handle on the cache.  Args are written as in a file: ``scoringStrategy={…}``."""
    settings = load_args(plugin, args, f"{plugin.name}Args")
    known = ClusterCache() if cache is None else cache
    return plugin(settings, handle(known, clock=clock, reads=plugin.kinds_read(), waiting=waiting))


def handle(
    cache: ClusterCache,
    *,
    clock: VirtualClock | None = None,
    writer: Any = None,
    reads: Iterable[str] | None = None,
    waiting: WaitingPods | None = None,
) -> Handle:
    """A handle on a cache; no pod is nominated, none waits, and nothing is written.  ``reads``: all kinds without."""
    shelf = Shelf(cache.objects)
    if reads is not None:
        shelf.hold(("Namespace", *reads))
    return Handle(
        clock=clock or VirtualClock(),
        snapshot=cache.snapshot,
        objects=shelf,
        nominated=NobodyNominated(),
        waiting=NobodyWaiting() if waiting is None else waiting,
        filters=NoFilters(),
        is_preempting=lambda uid: False,
        node_changed=cache.note_node,
        writer=writer or Recorder(),
        events=Recorder(),
        metrics=NoMetrics(),
        profile_name="default-scheduler",
    )


def run_filter(
    plugin: FilterPlugin, pod: Pod | PodBuilder, cache: ClusterCache, state: CycleState | None = None
) -> dict[str, Status | None]:
    """Every node's no, or ``None``.  PreFilter runs first: its no is every node's no, its SKIP their yes."""
    state, pod = state or CycleState(), built_pod(pod)
    names = cache.nodes.names
    narrowed: PreFilterResult | None = None
    if isinstance(plugin, PreFilterPlugin):
        answer = plugin.pre_filter(state, pod, cache.nodes)
        if isinstance(answer, PreFilterResult):
            narrowed = answer
        else:
            status = as_status(answer)
            if status.is_skip:
                return dict.fromkeys(names)
            if not status.is_success:
                return dict.fromkeys(names, status)
    statuses = filter_statuses(plugin, state, pod, cache)
    if narrowed is not None:
        for row, name in enumerate(names):
            if name not in narrowed.node_names:
                statuses[row] = Status(Code.UNRESOLVABLE, (OUTSIDE,))
    return dict(zip(names, statuses, strict=True))


def filter_statuses(plugin: FilterPlugin, state: CycleState, pod: Pod, cache: ClusterCache) -> list[Status | None]:
    """What the all-nodes form says, row by row, after PreFilter has run."""
    answer = plugin.filter(state, pod, cache.nodes)
    codes, reasons = (answer.codes, answer.statuses) if isinstance(answer, Verdicts) else (answer, plugin.reasons)
    if len(codes) != len(cache.nodes):
        raise AssertionError(f"{plugin.name}.filter gave {len(codes)} codes for {len(cache.nodes)} nodes")
    return [as_status(reasons[int(code) - 1]) if code else None for code in codes]


def run_score(
    plugin: ScorePlugin,
    pod: Pod | PodBuilder,
    cache: ClusterCache,
    *,
    normalize: bool = True,
    feasible: Iterable[str] | None = None,
    state: CycleState | None = None,
) -> dict[str, int]:
    """Every feasible node's score (all nodes unless named); empty if PreScore sits this pod out."""
    state, pod = state or CycleState(), built_pod(pod)
    rows = rows_of(cache, feasible)
    if isinstance(plugin, PreScorePlugin):
        status = as_status(plugin.pre_score(state, pod, cache.nodes, rows))
        if status.is_skip:
            return {}
        if not status.is_success:
            raise AssertionError(f"{plugin.name}.pre_score said {status.code.title}: {status.message}")
    scores = plugin.score(state, pod, cache.nodes)
    if len(scores) != len(cache.nodes) or scores.dtype != np.int64:
        given = f"{len(scores)} of {scores.dtype}"
        raise AssertionError(f"{plugin.name}.score must give an int64 for each node, it gave {given}")
    chosen = scores[rows]
    if normalize:
        chosen = plugin.normalize(state, pod, chosen, rows)
    return {cache.nodes.names[row]: int(score) for row, score in zip(rows, chosen, strict=True)}


def rows_of(cache: ClusterCache, names: Iterable[str] | None = None) -> Rows:
    """The rows of some nodes, ascending; of all without names."""
    if names is None:
        return np.arange(len(cache.nodes))
    rows = {name: cache.nodes.row_of(name) for name in names}
    unknown = [name for name, row in rows.items() if row is None]
    if unknown:
        raise KeyError(f"no such node: {', '.join(unknown)}")
    return np.array(sorted(row for row in rows.values() if row is not None), np.intp)


def reasons(statuses: Mapping[str, Status | None]) -> dict[str, list[str]]:
    """The reasons of the nodes that said no: what most tests compare."""
    return {name: list(status.reasons) for name, status in statuses.items() if status is not None}


class NobodyNominated:
    """No pod waits for room."""

    def nominated(self, node_name: str) -> Sequence[Pod]:
        return ()

    def nominated_nodes(self) -> Iterable[str]:
        return ()

    def nominations_since(self, position: int) -> tuple[int, Iterable[str]]:
        return 0, ()


class NobodyWaiting:
    """No pod is held by Permit."""

    def get(self, uid: str) -> WaitingPod | None:
        return None

    def list(self) -> Iterable[WaitingPod]:
        return ()


class NoFilters:
    """Other filters find nothing wrong with any node."""

    def fits(self, state: CycleState, pod: Pod, node: NodeView) -> Status:
        return SUCCESS

    def over_rows(self, state: CycleState, pod: Pod, rows: WhatIfRows) -> None:
        return None

    def add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        return None

    def remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        return None


class Recorder:
    """A writer and event sink that does nothing but remember what it was told."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    async def bind(self, pod: Pod, node_name: str) -> None:
        self.calls.append(("bind", pod.key, node_name))

    async def patch_pod_status(self, pod: Pod, patch: dict[str, Any]) -> None:
        self.calls.append(("patch", pod.key, patch))

    async def delete_pod(self, pod: Pod) -> None:
        self.calls.append(("delete", pod.key))

    async def evict(self, pod: Pod) -> None:
        self.calls.append(("evict", pod.key))

    async def patch(
        self,
        kind: str,
        namespace: str,
        name: str,
        patch: dict[str, Any],
        resource_version: str = "",
        subresource: str = "",
    ) -> str:
        place = f"{namespace}/{name}".lstrip("/") + (f"/{subresource}" if subresource else "")
        self.calls.append(("patch", kind, place, patch, resource_version))
        return ""

    async def create(self, thing: ApiObject) -> ApiObject:
        self.calls.append(("create", type(thing).__name__, thing.key))
        return thing

    async def delete(self, thing: ApiObject) -> None:
        self.calls.append(("delete", type(thing).__name__, thing.key))

    async def read(self, kind: str, namespace: str, name: str) -> ApiObject:
        raise NotFoundError(404, f'{kind} "{name}" not found')

    async def release_claim(self, claim: ResourceClaim, consumer_uid: str) -> None:
        self.calls.append(("release", claim.key, consumer_uid))

    def emit(self, pod: Pod, *, type: str, reason: str, action: str, note: str, related: Pod | None = None) -> None:
        self.calls.append(("event", pod.key, reason, note))
