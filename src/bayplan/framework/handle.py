"""
All that a plugin may ask for.  The engine makes one ``Handle`` per profile and gives it to each plugin.

Each line here is a promise; a new one is a visible decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from bayplan.clock import Clock
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.ports import ClusterWriter, EventSink, MetricSink
from bayplan.framework.preemption.what_if_rows import WhatIfRows
from bayplan.framework.results import Verdicts
from bayplan.framework.snapshot import NodeView, Snapshot
from bayplan.framework.status import Status
from bayplan.objects.pod import Pod

if TYPE_CHECKING:
    from bayplan.framework.plugin import Plugin


class ObjectStore(Protocol):
    """Other objects of the cluster, by kind: Service, ReplicaSet, PodDisruptionBudget, Namespace …"""

    def get(self, kind: str, namespace: str, name: str) -> Any | None: ...

    def list(self, kind: str, namespace: str | None = None) -> Iterable[Any]: ...

    def unreadable(self, kind: str) -> str:
        """Why objects of the kind cannot be read, "" if they can: the API server may not know it, or not let us."""

    def generation(self, kind: str) -> int:
        """Moves whenever an object of the kind changes."""

    def changes(self, kind: str, since: int) -> Sequence[tuple[str, str]] | None:
        """(namespace, name) of objects that changed since that generation; ``None`` if it is too long ago to tell."""


class NominatedPods(Protocol):
    """Pods that wait for room on a node."""

    def nominated(self, node_name: str) -> Sequence[Pod]: ...

    def nominated_nodes(self) -> Iterable[str]: ...

    def nominations_since(self, position: int) -> tuple[int, Iterable[str] | None]:
        """The position now, and the nodes with other nominated pods since that one; ``None``: any may have."""


class WaitingPod(Protocol):
    """A pod held by Permit."""

    pod: Pod
    node_name: str

    def allow(self, plugin: str) -> None: ...

    def reject(self, plugin: str, message: str) -> None: ...


class WaitingPods(Protocol):
    def get(self, uid: str) -> WaitingPod | None: ...

    def list(self) -> Iterable[WaitingPod]: ...


class RowFilters(Protocol):
    """The profile's filters over some imagined nodes."""

    def first_rejections(self, *, amounts_only: bool = False) -> Verdicts:
        """
        What ``fits`` says of each row as it is imagined now.  ``amounts_only`` leaves out the filters that go by node
        objects, whose answers no imagined pod changes.
        """


class FilterRunner(Protocol):
    """Runs the profile's filters on imagined nodes, as preemption needs it."""

    def fits(self, state: CycleState, pod: Pod, node: NodeView) -> Status:
        """With nominated pods considered; success or the first no."""

    def over_rows(self, state: CycleState, pod: Pod, rows: WhatIfRows) -> RowFilters | None:
        """The same for many nodes at once; ``None`` if a filter looks at more than node objects and amounts."""

    def add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        """Tell the profile's plugins that ``other`` is imagined on the node."""

    def remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        """Tell the profile's plugins that ``other`` is imagined gone."""


@dataclass(slots=True, kw_only=True, eq=False)
class Handle:
    """What the engine offers to the plugins of one profile."""

    clock: Clock
    """``now()`` is the time in epoch seconds; virtual in a simulation."""
    snapshot: Callable[[], Snapshot]
    """The cluster now: ``snapshot().nodes`` is the node table."""
    objects: ObjectStore
    """Objects of the kinds that the plugin ``reads``."""
    nominated: NominatedPods
    """Pods that wait for room on a node."""
    waiting: WaitingPods
    """Pods held by Permit."""
    filters: FilterRunner
    """The profile's filters, on imagined nodes."""
    is_preempting: Callable[[str], bool]
    """Is room being made for this pod (by uid) right now?"""
    node_changed: Callable[[str], None]
    """To be told of a node, by name, if the plugin's answer changed though neither the node nor its pods did."""
    writer: ClusterWriter
    """Writes to the cluster."""
    events: EventSink
    """Events that people see on a pod."""
    metrics: MetricSink
    """Counters, gauges and histograms."""
    profile_name: str
    """The ``schedulerName`` of the profile."""
    seed: int = 0
    """For choices that should repeat themselves."""


def handle_of(plugin: Plugin) -> Handle:
    """The plugin's handle, for plugins that cannot work without one."""
    if plugin.handle is None:
        raise TypeError(f"{plugin.name} needs a handle: make it through a profile or bayplan.testing")
    return plugin.handle
