"""
Moves under way: the pod that was evicted, the one that came in its place, and what became of that.

``controller`` has one ``Flights`` for each policy, ``plan_run`` one for each namespace.  Nothing of it is needed after
a restart: pods that are missing or not ready count against the budget anyway, so that a new process waits for them as
the old one would have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from bayplan.controllers.rebalancer.observed import SIZED, controller_of, is_ready
from bayplan.controllers.rebalancer.planner import Move
from bayplan.objects.pod import Pod

FIRST_BOUNCE_S = 600.0
MAX_BOUNCE_S = 6 * 3600.0

MOVED, BOUNCED = "moved", "bounced"


@dataclass(slots=True)
class Flight:
    """One move that was begun."""

    move: Move
    started_at: float
    known: frozenset[str]
    """Uids of the controller's pods when it began; any other is new."""
    replacement: Pod | None = None
    is_outdated: bool = False
    """Has the policy changed since?  Then it is no matter where the replacement goes."""

    @property
    def controller(self) -> str:
        return controller_of(self.move.pod)


@dataclass(frozen=True, slots=True)
class Landing:
    """How a move ended."""

    flight: Flight
    result: str
    domain: str


@dataclass(slots=True)
class Flights:
    """The moves of one policy, and what bounced back."""

    under_way: list[Flight] = field(default_factory=list)
    _bounced: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    """(controller, domain) to when it may be tried again, and how long it was to wait."""

    def begin(self, move: Move, pods: Iterable[Pod], now: float) -> None:
        flight = Flight(move, now, frozenset())
        flight.known = frozenset(pod.uid for pod in pods if controller_of(pod) == flight.controller)
        self.under_way.append(flight)

    def follow(self, pods: list[Pod], wanted: dict[str, int]) -> None:
        """Find out which new pods are the replacements; ``wanted`` are sizes of controllers that are known."""
        by_uid = {pod.uid: pod for pod in pods}
        claimed = {flight.replacement.uid for flight in self.under_way if flight.replacement is not None}
        for flight in list(self.under_way):
            if flight.replacement is not None:
                flight.replacement = by_uid.get(flight.replacement.uid)
            if flight.replacement is None:
                own = (pod for pod in pods if controller_of(pod) == flight.controller)
                new = next((pod for pod in own if pod.uid not in flight.known and pod.uid not in claimed), None)
                flight.replacement = new
                if new is not None:
                    claimed.add(new.uid)
            if flight.replacement is None and self._is_made_up_for(flight, pods, wanted):
                self.under_way.remove(flight)

    def landed(self, domains: dict[str, str], full: Collection[str] = ()) -> list[Landing]:
        """
        The moves whose replacement is ready, with where.

        Args:
            domains: those of pods, by uid.
            full: the domains that have too many pods.  Any other will do, also if it is not the one that was planned.
        """
        ended = []
        for flight in list(self.under_way):
            if flight.replacement is not None and is_ready(flight.replacement):
                self.under_way.remove(flight)
                domain = domains.get(flight.replacement.uid, "")
                is_fine = domain == flight.move.target or (domain not in full and domain != flight.move.source)
                result = MOVED if is_fine or flight.is_outdated else BOUNCED
                ended.append(Landing(flight, result, domain))
        return ended

    def late(self, now: float, deadline_s: float) -> list[Flight]:
        return [flight for flight in self.under_way if now - flight.started_at >= deadline_s]

    # -- what bounced back --

    def remember(self, landing: Landing, now: float) -> None:
        """A replacement went elsewhere: not again for a while, and longer each time."""
        key = landing.flight.controller, landing.flight.move.target
        _, waited = self._bounced.get(key, (0.0, FIRST_BOUNCE_S / 2))
        waits = min(2 * waited, MAX_BOUNCE_S)
        self._bounced[key] = now + waits, waits

    def bounced(self, now: float) -> frozenset[tuple[str, str]]:
        return frozenset(key for key, (until, _) in self._bounced.items() if until > now)

    def next_retry(self, now: float) -> float | None:
        return min((until for until, _ in self._bounced.values() if until > now), default=None)

    def forget_targets(self) -> None:
        """The policy says something else now: what bounced may stay, and what is under way may go anywhere."""
        self._bounced.clear()
        for flight in self.under_way:
            flight.is_outdated = True

    def _is_made_up_for(self, flight: Flight, pods: list[Pod], wanted: dict[str, int]) -> bool:
        """The controller wants fewer pods by now, and has them, or is gone with all of them: no more will come."""
        size = wanted.get(flight.controller)
        is_gone = all(pod.uid != flight.move.pod.uid for pod in pods)
        own = [pod for pod in pods if controller_of(pod) == flight.controller]
        if size is None and flight.controller.partition("/")[0] in SIZED:
            return not own
        return size is not None and is_gone and len(own) >= size
