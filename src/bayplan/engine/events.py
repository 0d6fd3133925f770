"""
What can happen, as told to ``Scheduler.handle``: the one door into the engine.

Events come from informers (live), from the simulated cluster, and from the engine's own binding cycles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from bayplan.framework.decision import Decision
from bayplan.framework.plugin import QueuedPod
from bayplan.framework.status import Status
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod


@dataclass(frozen=True, slots=True)
class PodAdded:
    pod: Pod


@dataclass(frozen=True, slots=True)
class PodChanged:
    old: Pod
    new: Pod


@dataclass(frozen=True, slots=True)
class PodDeleted:
    pod: Pod


@dataclass(frozen=True, slots=True)
class NodeAdded:
    node: Node


@dataclass(frozen=True, slots=True)
class NodeChanged:
    old: Node
    new: Node


@dataclass(frozen=True, slots=True)
class NodeDeleted:
    node: Node


@dataclass(frozen=True, slots=True)
class ObjectAdded:
    """Any other kind: Service, PodDisruptionBudget, PersistentVolumeClaim …"""

    kind: str
    value: Any


@dataclass(frozen=True, slots=True)
class ObjectChanged:
    kind: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True)
class ObjectDeleted:
    kind: str
    value: Any


@dataclass(frozen=True, slots=True)
class KindRefused:
    """Objects of a kind cannot be read, and why; "" if they can again."""

    kind: str
    why: str


@dataclass(frozen=True, slots=True)
class Bound:
    """A binding cycle ended well."""

    queued: QueuedPod
    decision: Decision


@dataclass(frozen=True, slots=True)
class BindFailed:
    """A binding cycle ended badly: rejected by Permit or PreBind, or an error."""

    queued: QueuedPod
    decision: Decision
    status: Status
    waited: bool = False
    """It was Permit, after waiting, that said no: then the plugin is the one to ask again."""


@dataclass(frozen=True, slots=True)
class ExtendersAnswered:
    """A scheduling cycle in which extenders had a say came to its decision."""

    queued: QueuedPod
    decision: Decision


@dataclass(frozen=True, slots=True)
class PreemptionDone:
    """The victims of a pod were told to go, or that failed."""

    pod: Pod
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Tick:
    """Time passed: backoffs may have ended."""


Event: TypeAlias = (
    PodAdded
    | PodChanged
    | PodDeleted
    | NodeAdded
    | NodeChanged
    | NodeDeleted
    | ObjectAdded
    | ObjectChanged
    | ObjectDeleted
    | KindRefused
    | Bound
    | BindFailed
    | ExtendersAnswered
    | PreemptionDone
    | Tick
)
