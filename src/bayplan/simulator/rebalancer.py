"""
The rebalancer in virtual time: the same controller as ``bayplan rebalancer``, on the simulated cluster.

``world`` makes one where a policy asks for it; ``driver`` lets it work when the scheduler has nothing to do;
``rebalancing_report`` shows its moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from bayplan.clock import Clock
from bayplan.controllers.rebalancer.controller import MOVES, Rebalancer, is_automatic
from bayplan.controllers.rebalancer.flights import MOVED
from bayplan.controllers.rebalancer.observed import POLICY, Observed
from bayplan.controllers.rebalancer.planner import Move
from bayplan.engine.scheduler import Scheduler
from bayplan.framework.ports import NoMetrics
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import WorkloadPolicy, WorkloadPolicyStatus
from bayplan.simulator.cluster import SimulatedCluster
from bayplan.simulator.loading import Given

MAX_TURNS = 10_000
MAX_VAIN = 130
"""So often it is waited for in vain: no pod came to stay, and nothing happened from outside."""


@dataclass(frozen=True, slots=True)
class Moved:
    """One move, and when it was begun."""

    at: float
    policy: WorkloadPolicy
    move: Move


class Rebalancing:
    """A ``Timetable``: a rebalancer that writes to the simulated cluster."""

    is_endless = False

    def __init__(self, scheduler: Scheduler, cluster: SimulatedCluster, clock: Clock) -> None:
        self.observed = Observed(scheduler)
        self.moves: list[Moved] = []
        self._cluster = cluster
        self._clock = clock
        self._wake_at: float | None = None
        self._turns = 0
        self._vain = 0
        self._woke_at: float | None = None
        self._landings = _Landings()
        self._landed = 0
        self._rebalancer = Rebalancer(self.observed, self, cluster, clock, metrics=self._landings)
        self._rebalancer.on_move = self._note

    def next_at(self) -> float | None:
        """At once when something changed.  One that is refused for ever is not waited for that long."""
        if self.observed.has_news:
            return self._clock.now()
        return self._wake_at if self._vain < MAX_VAIN and self._turns < MAX_TURNS else None

    async def happen(self, now: float) -> None:
        self._turns += 1
        if not self.observed.has_news:
            self._vain += 1
            self._woke_at = now
        elif now != self._woke_at:
            self._vain = 0  # a change that it did not make itself
        self._wake_at = await self._rebalancer.step()
        if self._landings.moved != self._landed:
            self._landed, self._vain = self._landings.moved, 0

    # -- RebalanceWriter --

    async def evict(self, pod: Pod) -> None:
        await self._cluster.evict(pod)

    async def annotate(self, pod: Pod, annotations: dict[str, str]) -> None:
        self._cluster.annotate(pod, annotations)

    async def write_status(self, policy: WorkloadPolicy, status: dict[str, Any]) -> None:
        known = self._cluster.objects.get(POLICY, policy.namespace, policy.name)
        if known is not None:
            written = replace(known, status=msgspec.convert(status, WorkloadPolicyStatus))
            self._cluster.events.append(self._cluster.objects.put(written))

    def _note(self, policy: WorkloadPolicy, move: Move) -> None:
        self.moves.append(Moved(self._cluster.elapsed_s, policy, move))


class _Landings(NoMetrics):
    """Counts the replacements that came to stay."""

    def __init__(self) -> None:
        self.moved = 0

    def counter(self, name: str, value: float = 1, /, **labels: str) -> None:
        self.moved += name == MOVES and labels.get("result") == MOVED


def wants_rebalancing(given: Given) -> bool:
    """Does a policy ask for moves, or does something change that a policy is about?"""
    everything = (*given.objects, *(thing for _, thing in given.later))
    policies = [each for each in everything if isinstance(each, WorkloadPolicy)]
    return any(map(is_automatic, policies)) or bool(policies and (given.later or given.ends))
