"""
The node annotator as a process: ``bayplan annotator`` calls ``run_annotator``.

Wiring, and only wiring: what is written when is ``controllers.node_annotator``'s to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from bayplan.app.annotator.policy_source import PolicySource
from bayplan.app.shell.metrics import ATTEMPT, SERVICE_GAUGES, Declared, PrometheusMetrics
from bayplan.app.shell.process import ServiceOptions, run_service
from bayplan.app.shell.service import Service
from bayplan.app.spare_capacity import live
from bayplan.app.spare_capacity.live import LOOK_EVERY_S, LiveSpareCapacity
from bayplan.clock import SystemClock
from bayplan.controllers.node_annotator import annotator_metrics
from bayplan.controllers.node_annotator.controller import NodeAnnotator
from bayplan.controllers.node_annotator.prometheus import PrometheusAccess, PrometheusClient
from bayplan.controllers.node_annotator.watched import EVENTS, NODES, SCHEDULED, AddressedNode, ScheduledEvent
from bayplan.controllers.spare_capacity.settings import SpareSettings
from bayplan.errors import InputError
from bayplan.kube.client import MERGE_PATCH, Client, path_of
from bayplan.kube.informer import SILENCE_S, Informer
from bayplan.kube.leader_election import LeaderElection
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy

log = structlog.get_logger()

SHUTDOWN_S = 5.0
POLICY_PAUSE_S = 10.0
WRITE_TIMEOUT_S = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorOptions:
    """What the command line says."""

    service: ServiceOptions
    prometheus: PrometheusAccess
    policy: PolicySource
    qps: float = 50.0
    burst: int = 100
    spare: SpareSettings | None = None
    """Keep ledgers of spare capacity, by these settings."""


def run_annotator(options: AnnotatorOptions) -> int:
    """Run until stopped; the exit code."""
    options.prometheus.check()
    options.policy.check()

    def build(client: Client, election: LeaderElection | None) -> LiveAnnotator:
        return LiveAnnotator(client, options, election=election)

    return run_service(options.service, build)


class LiveAnnotator(Service):
    """One annotator process."""

    def __init__(
        self,
        client: Client,
        options: AnnotatorOptions,
        *,
        election: LeaderElection | None = None,
        silence_s: float = SILENCE_S,
        policy_pause_s: float = POLICY_PAUSE_S,
        spare_pause_s: float = LOOK_EVERY_S,
    ) -> None:
        super().__init__(election, PrometheusMetrics(*_declared()))
        self._client = client
        self._source = options.policy
        self._policy_pause_s = policy_pause_s
        self._prometheus = PrometheusClient(options.prometheus)
        self.annotator = NodeAnnotator(
            DynamicSchedulerPolicy(),
            self._prometheus,
            self._write,
            clock=SystemClock(),
            metrics=self.metrics,
            qps=options.qps,
            burst=options.burst,
        )
        informers: list[Informer[Any]] = [
            Informer[AddressedNode](
                client,
                NODES,
                added=self._put,
                changed=lambda _, node: self._put(node),
                deleted=lambda node: self.annotator.drop_node(node.name),
                silence_s=silence_s,
                essential=True,
            ),
            Informer[ScheduledEvent](
                client,
                EVENTS,
                added=self._bound,
                changed=self._bound_again,
                deleted=lambda event: None,
                field_selector=SCHEDULED,
                silence_s=silence_s,
            ),
        ]
        self.spare: LiveSpareCapacity | None = None
        if options.spare is not None:
            self.spare = LiveSpareCapacity(
                client, SystemClock(), self.metrics, self.supervisor.check_lead,
                settings=options.spare, silence_s=silence_s, look_every_s=spare_pause_s,
                qps=options.qps, burst=options.burst,
            )  # fmt: skip
            informers += self.spare.informers
        self.informers = informers

    def publish(self) -> None:
        self.annotator.publish()

    async def prepare(self) -> None:
        self.annotator.use(await self._source.read(self._client))
        self.supervisor.keep_running(self._follow_policy())
        await self.sync()
        log.info("synced", nodes=len(self.informers[0].objects()))

    async def work(self) -> None:
        if self.spare is not None:
            self.supervisor.keep_running(self.spare.run())
        await self.annotator.run()

    async def stop(self, lost: bool) -> None:
        await self.annotator.close(0.0 if lost else SHUTDOWN_S)
        await self._prometheus.close()

    async def _follow_policy(self) -> None:
        """Look for changes now and then.  A policy with mistakes changes nothing: the last good one stays."""
        problem = ""
        while True:
            await asyncio.sleep(self._policy_pause_s)
            try:
                policy = await self._source.changed(self._client)
            except InputError as error:
                if str(error) != problem:
                    problem = str(error)
                    self.metrics.counter("bayplan_annotator_policy_reloads_total", result="error")
                    for line in problem.splitlines():
                        log.error("policy not taken", problem=line)
                continue
            problem = ""
            if policy is not None:
                self.annotator.use(policy)
                self.metrics.counter("bayplan_annotator_policy_reloads_total", result="success")
                log.info("policy taken", metrics=",".join(policy.metrics))

    # -- what comes and goes --

    def _put(self, node: AddressedNode) -> None:
        self.annotator.put_node(node.name, node.internal_ips, node.annotations)

    def _bound(self, event: ScheduledEvent) -> None:
        node, at = event.node, event.at
        if node is not None and at is not None:
            self.annotator.bound(node, at)

    def _bound_again(self, old: ScheduledEvent, new: ScheduledEvent) -> None:
        """An event that is counted up tells of another pod; one that only moved in the store does not."""
        if old.at != new.at:
            self._bound(new)

    async def _write(self, name: str, annotations: Mapping[str, str]) -> None:
        await self._client.send(
            "PATCH",
            path_of(NODES, name=name),
            body={"metadata": {"annotations": annotations}},
            content_type=MERGE_PATCH,
            timeout_s=WRITE_TIMEOUT_S,
            guard=self.supervisor.check_lead,
        )


def _declared() -> tuple[dict[str, Declared], dict[str, Declared], dict[str, Declared]]:
    counters = {name: Declared(*about) for name, about in annotator_metrics.COUNTERS.items()}
    gauges = {name: Declared(*about) for name, about in annotator_metrics.GAUGES.items()}
    histograms = {name: Declared(*about, ATTEMPT) for name, about in annotator_metrics.HISTOGRAMS.items()}
    counters, gauges = {**counters, **live.COUNTERS}, {**gauges, **live.GAUGES}
    return counters, {**gauges, **SERVICE_GAUGES}, histograms
