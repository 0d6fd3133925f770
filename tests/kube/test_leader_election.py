"""Leader election: who may take the lease when, judged by one's own clock alone, and when a leader must stop.

``LeaseServer`` keeps one Lease with resource versions, as the API server does; time is a number the test moves.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from structlog.testing import capture_logs

from bayplan.errors import LeadershipLostError, TransportError
from bayplan.kube.leader_election import LeaderElection, running_time
from tests.kube.scripted import Answer, Request, ScriptedTransport, client_on, error, said
from tests.support.live import Cluster, client_of, close

pytestmark = pytest.mark.virtual_time

LEASE_S, DEADLINE_S, RETRY_S = 15.0, 10.0, 0.01


@dataclass
class LeaseServer:
    """Answers like the API server; ``down`` makes it answer nothing, ``deaf`` loses answers to writes."""

    lease: dict[str, Any] | None = None
    version: int = 0
    down: bool = False
    deaf: bool = False
    writes: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, request: Request) -> Answer:
        if self.down:
            return TransportError("down")
        if request.method == "GET":
            return said(200, self.lease) if self.lease is not None else error(404)
        if request.method == "POST" and self.lease is not None:
            return error(409, "already exists")
        if request.method == "PUT" and (self.lease or {})["metadata"].get("resourceVersion") != request.body[
            "metadata"
        ].get("resourceVersion"):
            return error(409, "the object has been modified")
        self.store(request.body)
        return TransportError("lost") if self.deaf else said(200, self.lease)

    def store(self, lease: dict[str, Any]) -> None:
        self.version += 1
        self.lease = {**lease, "metadata": {**lease["metadata"], "resourceVersion": str(self.version)}}
        self.writes.append(self.lease["spec"])

    @property
    def spec(self) -> dict[str, Any]:
        assert self.lease is not None
        found: dict[str, Any] = self.lease["spec"]
        return found


class Time:
    """One machine's clock."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def candidate(server: LeaseServer, identity: str, time: Time, **settings: float) -> LeaderElection:
    times = {"lease_s": LEASE_S, "renew_deadline_s": DEADLINE_S, "retry_s": RETRY_S} | settings
    return LeaderElection(client_on(ScriptedTransport(server)), identity=identity, monotonic=time, **times)  # type: ignore[arg-type]


async def test_the_first_takes_the_lease_and_the_second_waits() -> None:
    server, time = LeaseServer(), Time()
    one, two = candidate(server, "one", time), candidate(server, "two", time)
    assert await one._try()
    assert not await two._try()
    assert one.is_leader()
    assert not two.is_leader()
    assert two.holder == "one"
    spec = server.spec
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == ("one", 15, 0)


async def test_a_lease_that_nobody_renews_is_taken_after_its_time_and_not_before() -> None:
    server, time = LeaseServer(), Time()
    one, two = candidate(server, "one", time), candidate(server, "two", time)
    await one._try()
    assert not await two._try()
    time.now += LEASE_S - 0.1
    assert not await two._try()
    time.now += 0.2
    assert await two._try()
    assert (server.spec["holderIdentity"], server.spec["leaseTransitions"]) == ("two", 1)
    assert not await one._try(), "the first one sees who leads now"


@pytest.mark.parametrize("renewed", ["1999-01-01T00:00:00.000000Z", "2999-01-01T00:00:00.000000Z", ""])
async def test_the_times_another_machine_writes_are_never_believed(renewed: str) -> None:
    """Its clock may be off by years: only what we saw, when we saw it, counts."""
    server, time = LeaseServer(), Time()
    other = {
        "holderIdentity": "other",
        "leaseDurationSeconds": 15,
        "renewTime": renewed,
        "leaseTransitions": 4,
    }
    server.store({"metadata": {"name": "l"}, "spec": other})
    one = candidate(server, "one", time)
    assert not await one._try()
    time.now += 14
    assert not await one._try()
    server.store({"metadata": {"name": "l"}, "spec": other | {"renewTime": renewed + "x"}})
    time.now += 2
    assert not await one._try(), "it was renewed a moment ago, whatever the time says"
    time.now += 15.1
    assert await one._try()
    assert server.spec["leaseTransitions"] == 5


async def test_a_leader_counts_from_before_it_asked_and_stops_before_others_start() -> None:
    server, time = LeaseServer(), Time()
    one, two = candidate(server, "one", time), candidate(server, "two", time)
    await one._try()
    await two._try()
    for _ in range(3):
        time.now += 4
        assert await one._try()
        assert not await two._try()
    server.down = True
    time.now += DEADLINE_S - 0.1
    assert one.is_leader()
    time.now += 0.2
    assert not one.is_leader()
    server.down = False
    assert not await two._try(), "the other one still waits"
    time.now += LEASE_S - DEADLINE_S
    assert await two._try()


async def test_a_leader_that_slept_past_its_deadline_does_not_believe_it_leads() -> None:
    server, time = LeaseServer(), Time()
    one = candidate(server, "one", time)
    await one._try()
    time.now += 3600
    assert not one.is_leader()


async def test_who_waits_says_once_for_whom() -> None:
    server, time = LeaseServer(), Time()
    await candidate(server, "one", time).acquire()
    with capture_logs() as logs:
        waiting = asyncio.ensure_future(candidate(server, "two", time).acquire())
        await asyncio.sleep(0.2)
        waiting.cancel()
    assert [(each["event"], each["holder"]) for each in logs] == [("waiting for the lease", "one")]


async def test_hold_ends_when_the_lease_is_anothers() -> None:
    server, time = LeaseServer(), Time()
    one = candidate(server, "one", time)
    await one.acquire()
    holding = asyncio.ensure_future(one.hold())
    await asyncio.sleep(0.05)
    assert not holding.done()
    server.store({"metadata": {"name": "l"}, "spec": {"holderIdentity": "other", "renewTime": "x"}})
    with pytest.raises(LeadershipLostError, match="lost the lease bayplan-scheduler: other holds it now"):
        await asyncio.wait_for(holding, 2)
    assert not one.is_leader()


async def test_hold_bears_short_trouble_and_ends_at_the_deadline() -> None:
    server, time = LeaseServer(), Time()
    one = candidate(server, "one", time)
    await one.acquire()
    holding = asyncio.ensure_future(one.hold())
    server.down = True
    time.now += DEADLINE_S / 2
    await asyncio.sleep(0.05)
    assert not holding.done()
    server.down = False
    await asyncio.sleep(0.05)
    assert one.is_leader()
    server.down = True
    time.now += DEADLINE_S + 0.1
    with pytest.raises(LeadershipLostError):
        await asyncio.wait_for(holding, 2)


async def test_a_renewal_whose_answer_was_lost_is_not_counted_but_does_no_harm() -> None:
    server, time = LeaseServer(), Time()
    one = candidate(server, "one", time)
    await one._try()
    time.now += 5
    server.deaf = True
    assert not await one._try()
    server.deaf = False
    time.now += 1
    assert await one._try()
    assert server.spec["leaseTransitions"] == 0


async def test_of_two_that_take_an_expired_lease_at_once_one_wins() -> None:
    server, time = LeaseServer(), Time()
    server.store({"metadata": {"name": "l"}, "spec": {"holderIdentity": "gone", "leaseDurationSeconds": 15}})
    candidates = [candidate(server, str(number), time) for number in range(4)]
    assert not any([await each._try() for each in candidates])
    time.now += 16
    results = await asyncio.gather(*(each._try() for each in candidates))
    assert sum(results) == 1
    assert sum(each.is_leader() for each in candidates) == 1


async def test_release_gives_the_lease_to_the_next_at_once() -> None:
    server, time = LeaseServer(), Time()
    one, two = candidate(server, "one", time), candidate(server, "two", time)
    await one._try()
    await two._try()
    await one.release()
    assert server.spec["holderIdentity"] == ""
    assert not one.is_leader()
    assert await two._try()


@pytest.mark.parametrize("trouble", ["down", "held by another", "never held"])
async def test_release_never_raises_and_never_takes_from_another(trouble: str) -> None:
    server, time = LeaseServer(), Time()
    one = candidate(server, "one", time)
    if trouble != "never held":
        await one._try()
    server.down = trouble == "down"
    if trouble == "held by another":
        server.store({"metadata": {"name": "l"}, "spec": {"holderIdentity": "other"}})
    writes = len(server.writes)
    await one.release()
    assert len(server.writes) == writes


async def test_what_others_wrote_into_the_lease_stays() -> None:
    server, time = LeaseServer(), Time()
    server.store({"metadata": {"name": "l", "labels": {"a": "b"}}, "spec": {"strategy": "x"}})
    await candidate(server, "one", time)._try()
    assert server.lease is not None
    assert server.lease["metadata"]["labels"] == {"a": "b"}
    assert server.spec["strategy"] == "x"


async def test_a_part_of_a_second_is_rounded_up_since_others_wait_for_it() -> None:
    server = LeaseServer()
    await candidate(server, "one", Time(), lease_s=2.4)._try()
    assert server.spec["leaseDurationSeconds"] == 3


def test_the_clock_runs_on_while_the_machine_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert running_time() > 0
    monkeypatch.delattr("time.CLOCK_BOOTTIME", raising=False)
    assert running_time() > 0


# -- real --


@pytest.fixture
async def pair(cluster: Cluster) -> AsyncIterator[tuple[LeaderElection, LeaderElection, Time]]:
    """Two candidates for a fresh lease on the real API server, on one clock."""
    time, clients = Time(), [client_of(cluster.plane.kubeconfig())[0] for _ in range(2)]
    one, two = (
        LeaderElection(
            client, identity=identity, namespace=cluster.namespace, name="lease", retry_s=0.2, monotonic=time
        )
        for client, identity in zip(clients, ("one", "two"), strict=True)
    )
    yield one, two, time
    for client in clients:
        await close(client)


@pytest.mark.kube
async def test_on_the_real_api_server_the_lease_goes_from_one_to_the_other(
    pair: tuple[LeaderElection, LeaderElection, Time],
) -> None:
    one, two, time = pair
    results = await asyncio.gather(one._try(), two._try())
    assert sum(results) == 1
    leader, other = (one, two) if results[0] else (two, one)
    time.now += 5
    assert await leader._try()
    assert not await other._try()
    await leader.release()
    assert await other._try()
    time.now += 15.1
    assert not await leader._try(), "it must see the lease unchanged for that long itself"
    time.now += 15.1
    assert await leader._try()
