"""
Rollouts: pods of workloads whose template changed are replaced step by step, as pods of the new revision become ready.

A ``Timetable`` of every simulation; ``timed_changes`` begins rollouts.  What a step is, each controller says.
"""

from __future__ import annotations

from collections.abc import Callable

from bayplan.clock import Clock
from bayplan.objects.pod import Pod
from bayplan.simulator.cluster import SimulatedCluster
from bayplan.simulator.controllers.pod_makers import Step
from bayplan.simulator.controllers.workloads import Key, Updatable, Workloads, key_of

AsMade = Callable[[Pod], Pod]
CarryOut = Callable[[Updatable, Step, AsMade], None]


class Rollouts:
    """The workloads that are on their way to another revision or size."""

    is_endless = False

    def __init__(self, cluster: SimulatedCluster, workloads: Workloads, clock: Clock, carry_out: CarryOut) -> None:
        self.begun: dict[Key, Updatable] = {}
        """Every workload that got another template."""
        self._under_way: dict[Key, Updatable] = {}
        self._cluster = cluster
        self._workloads = workloads
        self._clock = clock
        self._carry_out = carry_out
        self._seen = -1
        self._due: float | None = None
        """When the next pod has been ready for long enough."""

    def update(self, thing: Updatable, as_made: AsMade = lambda pod: pod) -> None:
        """A workload says something else now; ``as_made`` may alter the pods that it makes at once."""
        step = self._workloads.update(thing, self._cluster)
        if step.is_rollout:
            self.begun[key_of(thing)] = thing
        self._under_way[key_of(thing)] = thing
        self._carry_out(thing, step, as_made)

    def next_at(self) -> float | None:
        if not self._under_way:
            return None
        return self._clock.now() if self._cluster.revision != self._seen else self._due

    async def happen(self, now: float) -> None:
        self._seen = self._cluster.revision
        for key, thing in list(self._under_way.items()):
            if not self._workloads.knows(thing) or self._workloads.is_rolled(thing, self._cluster):
                del self._under_way[key]
            else:
                self._carry_out(thing, self._workloads.roll(thing, self._cluster), lambda pod: pod)
        waits = [
            seconds
            for thing in self._under_way.values()
            for seconds in self._cluster.waits(self._workloads.pods_of(thing, self._cluster), _min_ready(thing))
        ]
        self._due = now + min(waits) if waits else None


def _min_ready(thing: Updatable) -> int:
    return getattr(thing.spec, "min_ready_seconds", 0)
