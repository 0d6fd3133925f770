"""What every live service shares: first it sees the cluster, then it leads, then it works, and it ends in good order."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, cast

import pytest

from bayplan.app.shell.metrics import SERVICE_GAUGES, PrometheusMetrics
from bayplan.app.shell.service import Service
from bayplan.kube.informer import Informer
from bayplan.kube.leader_election import LeaderElection

pytestmark = pytest.mark.virtual_time


class FakeKind:
    called = "Pod"


class FakeInformer:
    """Has seen everything when a test says so."""

    kind = FakeKind()
    bad_objects, lists, watches, refused = 1, 2, 3, ""

    def __init__(self) -> None:
        self.synced = asyncio.Event()
        self.is_running = False

    async def run(self) -> None:
        self.is_running = True
        await asyncio.Event().wait()


class FakeElection:
    """Leads when a test says so."""

    name = "lease"

    def __init__(self) -> None:
        self.turn = asyncio.Event()
        self.released = False

    def is_leader(self) -> bool:
        return self.turn.is_set() and not self.released

    async def acquire(self) -> None:
        await self.turn.wait()

    async def hold(self) -> None:
        await asyncio.Event().wait()

    async def release(self) -> None:
        self.released = True


class Counting(Service):
    """Says what happens to it."""

    def __init__(self, election: FakeElection, informer: FakeInformer) -> None:
        metrics = PrometheusMetrics({}, SERVICE_GAUGES, {})
        super().__init__(cast(LeaderElection, election), metrics)
        self.informers = [cast("Informer[Any]", informer)]
        self.steps: list[str] = []
        self.began = asyncio.Event()

    def publish(self) -> None:
        self.steps.append("publish")

    async def work(self) -> None:
        self.steps.append("work")
        self.began.set()
        await asyncio.Event().wait()

    async def stop(self, lost: bool) -> None:
        self.steps.append(f"stop, lost={lost}, working={self.is_working()}, may write={self.supervisor.may_write()}")


async def turns(count: int = 5) -> None:
    """Let the loop take every task as far as it gets."""
    for _ in range(count):
        await asyncio.sleep(0)


async def test_it_sees_the_cluster_then_leads_then_works_and_gives_the_lease_back_last() -> None:
    election, informer = FakeElection(), FakeInformer()
    service = Counting(election, informer)
    running = asyncio.ensure_future(service.run())
    election.turn.set()
    await turns()
    assert informer.is_running
    assert (service.is_ready(), service.is_working(), service.steps) == (False, False, [])
    informer.synced.set()
    await service.began.wait()
    assert (service.is_ready(), service.is_working(), service.is_stopping) == (True, True, False)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert service.steps == ["work", "stop, lost=False, working=False, may write=True"]
    assert election.released
    assert service.is_stopping


async def test_a_replica_that_does_not_lead_is_ready_and_does_not_work() -> None:
    election, informer = FakeElection(), FakeInformer()
    service = Counting(election, informer)
    informer.synced.set()
    running = asyncio.ensure_future(service.run())
    await turns()
    assert (service.is_ready(), service.is_working(), service.steps) == (True, False, [])
    page = service.render_metrics().decode()
    assert service.steps == ["publish"]
    assert "bayplan_working 0.0" in page
    assert 'leader_election_master_status{name="lease"} 0.0' in page
    assert 'bayplan_bad_objects{kind="Pod"} 1.0' in page
    election.turn.set()
    await service.began.wait()
    assert "bayplan_working 1.0" in service.render_metrics().decode()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
