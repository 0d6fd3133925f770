"""
What every live service is: kinds that it watches, work that only the leader does, metrics, and an end in good order.

``LiveScheduler``, ``LiveRebalancer``, ``LiveAnnotator``, ``LivePlacement`` and ``LiveShadow`` are services;
``app.shell.process`` runs one as a process.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from bayplan.app.shell.http_server import Listing, Page
from bayplan.app.shell.lifecycle import Supervisor
from bayplan.app.shell.metrics import PrometheusMetrics
from bayplan.kube.informer import Informer
from bayplan.kube.leader_election import LeaderElection


class Service(ABC):
    """One live service, which runs once."""

    informers: Sequence[Informer[Any]] = ()
    """What it watches; made by the service itself."""
    pages: Sequence[Page] = ()
    """What can be read of it on its port, beside health and metrics."""
    listings: Sequence[Listing] = ()

    def __init__(self, election: LeaderElection | None, metrics: PrometheusMetrics) -> None:
        self.supervisor = Supervisor(election)
        self.metrics = metrics
        self._is_working = False

    async def run(self) -> None:
        """Until cancelled, or until the lease is lost, or a part that should run for ever breaks."""
        await self.supervisor.run(self._run(), self._end)

    @property
    def is_stopping(self) -> bool:
        return self.supervisor.is_stopping

    def is_synced(self) -> bool:
        """Has it seen the whole cluster?"""
        return all(informer.synced.is_set() for informer in self.informers)

    def is_ready(self) -> bool:
        """Could it take over now?"""
        return self.is_synced()

    def is_working(self) -> bool:
        """Does it lead, and do what only the leader does?"""
        return self._is_working

    def render_metrics(self) -> bytes:
        """The metrics page, with gauges as they are now."""
        self.publish()
        publish_watching(self.metrics, self.informers)
        election = self.supervisor.election
        if election is not None:
            self.metrics.gauge("leader_election_master_status", float(election.is_leader()), name=election.name)
        self.metrics.gauge("bayplan_working", float(self.is_working()))
        return self.metrics.render()

    # -- what a service says of itself --

    @abstractmethod
    def publish(self) -> None:
        """Set the gauges of its own."""

    async def prepare(self) -> None:
        """What comes before it leads: see the whole cluster, unless it begins with that later."""
        await self.sync()

    @abstractmethod
    async def work(self) -> None:
        """What only the leader does, for ever."""

    @abstractmethod
    async def stop(self, lost: bool) -> None:
        """End what is under way; ``lost``: the lease is another's by now, so nothing may be written any more."""

    # -- for services --

    async def sync(self) -> None:
        """Start the informers and wait until each has seen all there is."""
        for informer in self.informers:
            self.supervisor.keep_running(informer.run())
        await asyncio.gather(*(informer.synced.wait() for informer in self.informers))

    async def _run(self) -> None:
        await self.prepare()
        await self.supervisor.lead()
        self._is_working = True
        await self.work()

    async def _end(self, lost: bool) -> None:
        self._is_working = False
        await self.stop(lost)


def publish_watching(metrics: PrometheusMetrics, informers: Iterable[Informer[Any]]) -> None:
    """How reading each kind goes."""
    gauge = metrics.gauge
    for informer in informers:
        kind = informer.kind.called
        gauge("bayplan_bad_objects", informer.bad_objects, kind=kind)
        gauge("bayplan_unreadable_kinds", float(bool(informer.refused)), kind=kind)
        gauge("bayplan_lists", informer.lists, kind=kind)
        gauge("bayplan_watches", informer.watches, kind=kind)
