"""
The rebalancer as a process: ``bayplan rebalancer`` calls ``run_rebalancer``.

Wiring, and only wiring: ``controllers.rebalancer`` plans with the engine of a ``MovingService``; what it wants done
goes through the API writer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from bayplan.app.rebalancer.moving_service import MovingService
from bayplan.app.scheduler.named_clusters import warn_of_others
from bayplan.app.shell.process import Build, ServiceOptions, run_service
from bayplan.controllers.rebalancer.controller import Rebalancer, Settings
from bayplan.controllers.rebalancer.observed import POLICY
from bayplan.engine.scheduler import MakeProfiles
from bayplan.errors import ConflictError, UnprocessableError
from bayplan.framework.config.model import SchedulerConfig
from bayplan.kube.client import Client
from bayplan.kube.informer import SILENCE_S
from bayplan.kube.leader_election import LeaderElection
from bayplan.kube.writer import ApiWriter
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import WorkloadPolicy
from bayplan.plugins.defaults import OWN_PLUGINS
from bayplan.plugins.leaf_node_workload_policy.reading import WORKLOADS
from bayplan.plugins.plugin_set import make_profiles, registry

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalancerOptions:
    """What the command line says."""

    service: ServiceOptions
    config: SchedulerConfig
    has_config: bool
    """Was a configuration given?  Without one, Bayplan's own plugins join the profile."""
    plugins: Sequence[str] = field(default=())
    settings: Settings = field(default_factory=Settings)


def run_rebalancer(options: RebalancerOptions) -> int:
    """Run until stopped; the exit code."""
    return run_service(options.service, building(options))


def building(options: RebalancerOptions) -> Build:
    make = profiles_of(options)

    def build(client: Client, election: LeaderElection | None) -> LiveRebalancer:
        live = LiveRebalancer(client, make(), election=election, settings=options.settings)
        warn_of_others(live.engine.profiles.values(), client.endpoint)
        log.info("configured", profiles=",".join(live.engine.profiles))
        return live

    return build


def profiles_of(options: RebalancerOptions) -> Callable[[], MakeProfiles]:
    """Plugins are looked up at once; what their configuration gives cause for is told when profiles are made."""
    known, extra = registry(options.plugins)
    names = extra if options.has_config else (*OWN_PLUGINS, *extra)
    return lambda: make_profiles(options.config, known, names, lambda text: log.warning("configuration", text=text))


class LiveRebalancer(MovingService):
    """One rebalancer process."""

    READS = (POLICY, *WORKLOADS)

    def __init__(
        self,
        client: Client,
        make: MakeProfiles,
        *,
        election: LeaderElection | None = None,
        settings: Settings | None = None,
        silence_s: float = SILENCE_S,
    ) -> None:
        super().__init__(client, make, election=election, silence_s=silence_s)
        self.rebalancer = Rebalancer(
            self._observed, PolicyWriter(self._writer), self._recorder, self._clock, settings, self.metrics
        )

    @property
    def moving(self) -> int:
        return self.rebalancer.moving

    async def step(self) -> float | None:
        return await self.rebalancer.step()

    async def prepare(self) -> None:
        await super().prepare()
        log.info("synced", nodes=len(self.engine.cache.nodes), policies=len(self._observed.policies()))


class PolicyWriter:
    """A ``RebalanceWriter`` over the API."""

    def __init__(self, writer: ApiWriter) -> None:
        self._writer = writer

    async def evict(self, pod: Pod) -> None:
        await self._writer.evict(pod)

    async def annotate(self, pod: Pod, annotations: dict[str, str]) -> None:
        """With the UID as precondition."""
        patch = {"metadata": {"uid": pod.uid, "annotations": annotations}}
        try:
            await self._writer.patch("Pod", pod.namespace, pod.name, patch)
        except UnprocessableError as error:
            raise ConflictError(409, error.message, reason="Conflict", method="PATCH") from error

    async def write_status(self, policy: WorkloadPolicy, status: dict[str, Any]) -> None:
        await self._writer.patch(POLICY, policy.namespace, policy.name, {"status": status}, subresource="status")
