"""
Nodes that are gone for good: after a time, machines that stick to them are set free.  Only where ``whenNodeIsGone``
says so; ``plugin`` tells of pods that wait for a node that is not there, and asks what is due.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bayplan.clock import Clock
from bayplan.objects.pod import Pod
from bayplan.plugins.sticky_vm.owners import Place


@dataclass(slots=True)
class GoneNode:
    """A node that pods wait for in vain."""

    since: float
    """When that was first noticed: a scheduler that starts anew begins to count anew."""
    waiting: dict[Place, Pod] = field(default_factory=dict)


class GoneNodes:
    """Nodes by name, each since when it was missed without being back in between."""

    def __init__(self, clock: Clock, after_s: float) -> None:
        self._clock = clock
        self._after_s = after_s
        self._nodes: dict[str, GoneNode] = {}

    def missed(self, node: str, place: Place, pod: Pod) -> None:
        gone = self._nodes.setdefault(node, GoneNode(self._clock.now()))
        gone.waiting[place] = pod

    def is_back(self, node: str) -> None:
        self._nodes.pop(node, None)

    def due(self) -> list[tuple[str, Place, Pod]]:
        """Who has waited long enough, and for which node; each is told once."""
        ended = self._clock.now() - self._after_s
        found = []
        for name, gone in self._nodes.items():
            if gone.since <= ended:
                found += [(name, place, pod) for place, pod in gone.waiting.items()]
                gone.waiting.clear()
        return found

    def next_due_s(self) -> float | None:
        """Seconds until the next machine is due; None if none waits."""
        times = [gone.since + self._after_s for gone in self._nodes.values() if gone.waiting]
        return max(0.0, min(times) - self._clock.now()) if times else None
