"""
What the engine wants done, as returned by ``Scheduler``.  The app, or the simulated cluster, carries it out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

from bayplan.framework.decision import Decision
from bayplan.framework.plugin import QueuedPod
from bayplan.objects.pod import Pod


class Bind(Struct, frozen=True):
    """Run the binding cycle of a committed decision."""

    queued: QueuedPod
    decision: Decision


class AskExtenders(Struct, frozen=True):
    """
    Run the scheduling cycle of a pod that extenders have a say in (``Scheduler.ask``) and hand its event back.
    No other pod is scheduled meanwhile.
    """

    queued: QueuedPod
    cycle: int


class PatchStatus(Struct, frozen=True):
    """Say in the pod's status that it was not placed, and where it is nominated (``None``: leave that)."""

    pod: Pod
    reason: str
    message: str
    nominated_node: str | None = None


class Emit(Struct, frozen=True):
    """Record an event about a pod."""

    pod: Pod
    type: str
    reason: str
    action: str
    note: str
    related: Pod | None = None
    reporter: str = ""


class Evict(Struct, frozen=True):
    """Make room for a pod: the victims go, and lower pods nominated to the node lose their nomination."""

    preemptor: Pod
    node_name: str
    victims: tuple[Pod, ...]
    lose_nomination: tuple[Pod, ...] = ()
    reporter: str = ""


class FollowUp(Struct, frozen=True):
    """Let a PostFilter plugin write what it said it would."""

    pod: Pod
    write: Callable[[], Awaitable[None]]


Intent: TypeAlias = Bind | AskExtenders | PatchStatus | Emit | Evict | FollowUp


class Outcome(Struct, frozen=True):
    """What came of scheduling one pod: the decision, if one was made, and what is to be done about it."""

    decision: Decision | None
    intents: list[Intent]
    attempt: int = 0
    """How often the pod has been tried, this time included."""

    @property
    def is_committed(self) -> bool:
        """Is the pod on its way to a node?"""
        return bool(self.intents) and isinstance(self.intents[0], Bind)
