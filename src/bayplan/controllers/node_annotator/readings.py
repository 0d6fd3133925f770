"""The latest answer for each metric, and how asking for it goes. `controller` keeps one `Reading` for each metric."""

from __future__ import annotations

from dataclasses import dataclass, field

from bayplan.backoff import Backoff
from bayplan.controllers.node_annotator.node_index import Loads
from bayplan.controllers.node_annotator.queries import pause_s

_FIRST_RETRY_S = 2.0
_MAX_RETRY_S = 30.0


@dataclass(slots=True)
class Reading:
    """One metric of all nodes."""

    metric: str
    period_s: float
    at: float = float("-inf")
    """When it was asked for; nothing came yet if that is never."""
    loads: Loads = field(default_factory=Loads)
    problem: str = ""
    """Why the last question got no answer, if it did not."""
    retry_s: float = 0.0
    backoff: Backoff = field(default_factory=lambda: Backoff(_FIRST_RETRY_S, _MAX_RETRY_S))
    next_at: float = float("-inf")
    """When it is asked for again."""

    @property
    def pause_s(self) -> float:
        """How long to wait before asking again."""
        return min(self.retry_s, pause_s(self.period_s)) if self.problem else pause_s(self.period_s)

    @property
    def is_awaited(self) -> bool:
        """Has the first question not been answered yet, in one way or the other?"""
        return self.at == float("-inf") and not self.problem

    def succeed(self, loads: Loads, at: float) -> None:
        self.loads, self.at = loads, at
        self.problem, self.retry_s = "", 0.0
        self.backoff.succeeded()

    def fail(self, problem: str) -> None:
        """Ask again soon at first, then less often; not longer than half a minute, since nodes are waiting."""
        self.retry_s = self.backoff.failed()
        self.problem = problem

    def value(self, node: str, newer_than: float) -> float | None:
        """A node's load, if there is one that was taken after `newer_than`."""
        return self.loads.by_node.get(node) if self.at > newer_than else None
