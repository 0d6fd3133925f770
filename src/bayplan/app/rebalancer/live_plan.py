"""
A plan of ``bayplan fit`` carried out on a live cluster: ``bayplan rebalancer --plan`` calls ``run_plan``.

It ends by itself when the plan is done.  The lease is the rebalancer's, so that no two move pods at once.
"""

from __future__ import annotations

from typing import Any

import structlog

from bayplan.app.rebalancer.live import RebalancerOptions, profiles_of
from bayplan.app.rebalancer.moving_service import MovingService
from bayplan.app.shell.process import run_service
from bayplan.controllers.rebalancer.move_plan import MovePlan
from bayplan.controllers.rebalancer.plan_progress import Progress
from bayplan.controllers.rebalancer.plan_run import PlanRun
from bayplan.controllers.rebalancer.terms import MoveLimits
from bayplan.engine.scheduler import MakeProfiles
from bayplan.kube.client import Client
from bayplan.kube.leader_election import LeaderElection
from bayplan.kube.writer import ApiWriter
from bayplan.objects.admission.own_keys import CLOSED_FOR_ROOM
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod

log = structlog.get_logger()


def run_plan(options: RebalancerOptions, plan: MovePlan) -> tuple[int, Progress]:
    """Until it is done or told to stop: the exit code, and how far it came."""
    made: list[LivePlan] = []
    make = profiles_of(options)

    def build(client: Client, election: LeaderElection | None) -> LivePlan:
        made.append(LivePlan(client, make(), plan, election=election, limits=options.settings.limits))
        return made[0]

    code = run_service(options.service, build)
    run = made[0].run_of_plan
    return code or int(not run.is_done or not run.progress.is_fine), run.progress


class LivePlan(MovingService):
    """One process that carries out one plan."""

    def __init__(
        self,
        client: Client,
        make: MakeProfiles,
        plan: MovePlan,
        *,
        election: LeaderElection | None = None,
        limits: MoveLimits | None = None,
    ) -> None:
        super().__init__(client, make, election=election)
        self.run_of_plan = PlanRun(
            plan, self._observed, NodeWriter(self._writer), self._recorder, self._clock, limits, self.metrics
        )

    @property
    def moving(self) -> int:
        return self.run_of_plan.moving

    async def step(self) -> float | None:
        return await self.run_of_plan.step()

    def is_done(self) -> bool:
        return self.run_of_plan.is_done

    async def prepare(self) -> None:
        await super().prepare()
        # Before it leads: a long plan takes long to look through, and the lease is to be renewed in time.
        self.run_of_plan.begin()
        log.info("synced", nodes=len(self.engine.cache.nodes), moves=len(self.run_of_plan.progress.steps))


class NodeWriter:
    """A ``PlanWriter`` over the API."""

    def __init__(self, writer: ApiWriter) -> None:
        self._writer = writer

    async def evict(self, pod: Pod) -> None:
        await self._writer.evict(pod)

    async def close(self, node: Node, *, is_for_room: bool) -> None:
        patch: dict[str, Any] = {"spec": {"unschedulable": True}}
        if is_for_room:
            patch["metadata"] = {"annotations": {CLOSED_FOR_ROOM: "true"}}
        await self._writer.patch("Node", "", node.name, patch)

    async def open(self, node: Node) -> None:
        patch = {"spec": {"unschedulable": None}, "metadata": {"annotations": {CLOSED_FOR_ROOM: None}}}
        await self._writer.patch("Node", "", node.name, patch)
