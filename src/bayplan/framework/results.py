"""
What plugins answer beside a verdict: nodes that are left, reasons made on the spot, nominations, "not yet".

``bayplan.framework`` hands these names on to plugin authors; the engine reads what is in them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bayplan.framework.snapshot import Codes
from bayplan.framework.status import SUCCESS, Reason, Status
from bayplan.objects.pod import Pod

if TYPE_CHECKING:
    from bayplan.framework.preemption.victims import Candidate


@dataclass(frozen=True, slots=True)
class PreFilterResult:
    """Only these nodes can fit.  Several plugins' sets are intersected."""

    node_names: frozenset[str]
    reason: str = ""
    """Why the others cannot, where the plugin has more to say than that it left them out."""

    def __post_init__(self) -> None:
        if not isinstance(self.node_names, (frozenset, set)):
            raise TypeError(f"node_names is a set of node names, got {self.node_names!r}")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What ``filter`` returns when its reasons are made on the spot: code ``k`` means ``statuses[k - 1]``."""

    codes: Codes
    statuses: tuple[Status | Reason, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.statuses, tuple) or not all(isinstance(s, (Status, Reason)) for s in self.statuses):
            raise TypeError(f"statuses is a tuple of Status or Reason, got {self.statuses!r}")


@dataclass(frozen=True, slots=True)
class Nomination:
    """Where the pod shall go once room is made; an empty name clears an earlier nomination."""

    node_name: str


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """What PostFilter found: a nomination to write (``None`` leaves it), and the pods that must go."""

    nomination: Nomination | None = None
    victims: tuple[Pod, ...] = ()
    status: Status = SUCCESS
    candidates: Sequence[Candidate] = ()
    """All that it chose from, if extenders may have a say in that; see ``PostFilterPlugin.choose``."""
    follow_up: Callable[[], Awaitable[None]] | None = None
    """
    What is to be written if the decision is carried out; ``explain`` never calls it.  It goes with any status: one
    that gives something back says no now, and the change brings the pod in again.
    """

    def __post_init__(self) -> None:
        if self.nomination is not None and not isinstance(self.nomination, Nomination):
            raise TypeError(f"nomination is a Nomination or None, got {self.nomination!r}")
        if not isinstance(self.victims, tuple) or not all(isinstance(victim, Pod) for victim in self.victims):
            raise TypeError(f"victims is a tuple of pods, got {self.victims!r}")
        if not isinstance(self.status, Status):
            raise TypeError(f"status is a Status, got {self.status!r}")
        if self.victims and not (self.nomination and self.nomination.node_name):
            raise ValueError("victims without a nomination: name the node they make room on")


@dataclass(frozen=True, slots=True)
class Wait:
    """Permit's "not yet": hold the pod for at most this long, until someone allows or rejects it."""

    timeout_s: float

    def __post_init__(self) -> None:
        if not isinstance(self.timeout_s, (int, float)) or self.timeout_s != self.timeout_s:
            raise TypeError(f"timeout_s is a number of seconds, got {self.timeout_s!r}")
        if self.timeout_s < 0:
            raise ValueError(f"timeout_s is 0 or more seconds, got {self.timeout_s!r}")
