"""
What can happen, as told to ``Scheduler.handle``: the one door into the engine.

Events come from informers (live), from the simulated cluster, and from the engine's own binding cycles.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from bayplan.framework.decision import Decision
from bayplan.framework.plugin import QueuedPod
from bayplan.framework.status import Status
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod


class PodAdded(Struct, frozen=True):
    pod: Pod


class PodChanged(Struct, frozen=True):
    old: Pod
    new: Pod


class PodDeleted(Struct, frozen=True):
    pod: Pod


class NodeAdded(Struct, frozen=True):
    node: Node


class NodeChanged(Struct, frozen=True):
    old: Node
    new: Node


class NodeDeleted(Struct, frozen=True):
    node: Node


class ObjectAdded(Struct, frozen=True):
    """Any other kind: Service, PodDisruptionBudget, PersistentVolumeClaim …"""

    kind: str
    value: Any


class ObjectChanged(Struct, frozen=True):
    kind: str
    old: Any
    new: Any


class ObjectDeleted(Struct, frozen=True):
    kind: str
    value: Any


class KindRefused(Struct, frozen=True):
    """Objects of a kind cannot be read, and why; "" if they can again."""

    kind: str
    why: str


class Bound(Struct, frozen=True):
    """A binding cycle ended well."""

    queued: QueuedPod
    decision: Decision


class BindFailed(Struct, frozen=True):
    """A binding cycle ended badly: rejected by Permit or PreBind, or an error."""

    queued: QueuedPod
    decision: Decision
    status: Status
    waited: bool = False
    """It was Permit, after waiting, that said no: then the plugin is the one to ask again."""


class ExtendersAnswered(Struct, frozen=True):
    """A scheduling cycle in which extenders had a say came to its decision."""

    queued: QueuedPod
    decision: Decision


class PreemptionDone(Struct, frozen=True):
    """The victims of a pod were told to go, or that failed."""

    pod: Pod
    failed: bool = False


class Tick(Struct, frozen=True):
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
