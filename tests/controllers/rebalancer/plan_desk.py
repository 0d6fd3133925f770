"""A plan that is carried out on a cluster that does as the test pleases; for the tests of ``plan_run``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from bayplan.controllers.rebalancer.imagined_moves import cordoned, replacement_of
from bayplan.controllers.rebalancer.move_plan import MovePlan, plan_of
from bayplan.controllers.rebalancer.observed import Observed
from bayplan.controllers.rebalancer.plan_progress import Progress
from bayplan.controllers.rebalancer.plan_run import PlanRun
from bayplan.controllers.rebalancer.terms import MoveLimits
from bayplan.engine.events import Event, NodeChanged, PodAdded, PodDeleted
from bayplan.objects.admission.own_keys import CLOSED_FOR_ROOM
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import PodStatus
from bayplan.simulator.fit.planning import shrunk
from bayplan.simulator.loading import documents_of, load
from bayplan.simulator.rebalance_plan import observed_of
from tests.simulator.support import START, Manifest, node, workload, world
from tests.simulator.what_if.asking import on

QUIET: dict[str, Any] = {"seed": 0, "now": START, "warn": lambda text: None, "progress": lambda tried, total: None}
NODES = [node("n1"), node("n2"), node("n3")]
CLUSTER = [
    *NODES,
    workload("ReplicaSet", "web", cpu="1", replicas=3),
    *(on(f"web-{number}", f"n{number + 1}", "web") for number in range(3)),
]
"""Three nodes with a pod each: two can be emptied."""


def shrinking_plan(manifests: list[Manifest] = CLUSTER) -> dict[str, Any]:
    return shrunk(load(documents_of(manifests)), None, **QUIET)


class PlanDesk:
    """A run, its writer, and what becomes of the pods it evicts."""

    def __init__(
        self,
        plan: dict[str, Any] | MovePlan,
        manifests: list[Manifest] = CLUSTER,
        limits: MoveLimits | None = None,
        deadline_s: float = 100.0,
    ) -> None:
        self.world = world(*manifests, prospects=())
        self.observed: Observed = observed_of(self.world)
        self.plan = plan if isinstance(plan, MovePlan) else plan_of(plan)
        self.evicted: list[str] = []
        self.nodes: list[str] = []
        """What was done to nodes."""
        self.refusal: Exception | None = None
        self.place: Callable[[Pod], str | None] = self.decided
        self.is_ready = True
        self._limits, self._deadline_s = limits, deadline_s
        self.run = self.started()

    def started(self) -> PlanRun:
        """A process that knows nothing but the cluster."""
        clock, events = self.world.clock, self.world.cluster
        self.run = PlanRun(self.plan, self.observed, self, events, clock, self._limits, deadline_s=self._deadline_s)
        self.run.begin()
        return self.run

    # -- PlanWriter --

    async def evict(self, pod: Pod) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.evicted.append(pod.name)
        self.tell(PodDeleted(pod))
        target = self.place(pod)
        if target is not None:
            again = replacement_of(pod)
            meta = replace(again.metadata, name=f"{pod.name}x", uid=f"{pod.uid}x")
            status = PodStatus(phase="Running" if self.is_ready else "Pending")
            self.tell(PodAdded(again.evolve(metadata=meta, status=status).assigned_to(target)))

    async def close(self, node: Node, *, is_for_room: bool) -> None:
        self.nodes.append(f"close {node.name}")
        marks = {CLOSED_FOR_ROOM: "true"} if is_for_room else None
        self.change(node.name, cordoned(node).evolve(metadata=replace(node.metadata, annotations=marks)))

    async def open(self, node: Node) -> None:
        self.nodes.append(f"open {node.name}")
        spec = replace(node.spec, unschedulable=False)
        self.change(node.name, node.evolve(spec=spec, metadata=replace(node.metadata, annotations=None)))

    # -- the cluster --

    def decided(self, pod: Pod) -> str | None:
        """As the scheduler would, which knows nothing of a plan."""
        return self.world.scheduler.what_if().decide(replacement_of(pod)).node

    def change(self, name: str, new: Node) -> None:
        old = self.observed.node(name)
        assert old is not None
        self.tell(NodeChanged(old, new))

    def tell(self, event: Event) -> None:
        self.world.scheduler.handle(event)
        self.observed.note(event)

    def pod(self, name: str) -> Pod:
        return next(pod for pod in self.observed.pods("default") if pod.name == name)

    def on(self, node: str) -> list[str]:
        return sorted(pod.name for pod in self.observed.pods("default") if pod.node_name == node)

    # -- running --

    def step(self, after_s: float = 0.0) -> float | None:
        self.world.clock.advance(after_s)
        wake_at = asyncio.run(self.run.step())
        return None if wake_at is None else wake_at - self.world.clock.now()

    def finish(self, most: int = 50) -> Progress:
        for _ in range(most):
            if self.run.is_done:
                break
            self.step()
        assert self.run.is_done, self.run.progress.document()
        return self.run.progress

    def states(self) -> list[str]:
        return [step.state for step in self.run.progress.steps]
