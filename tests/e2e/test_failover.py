"""Three replicas, of which one leads: it is killed or paused; another takes over, and nothing is done twice."""

from __future__ import annotations

import asyncio
import signal
import time

import pytest

from tests.e2e.audit import Audit
from tests.e2e.replicas import LEASE_S, STARTING_S, Replica, Replicas
from tests.support.live import Cluster, until
from tests.support.witness import Witness

pytestmark = [pytest.mark.kube, pytest.mark.slow]

# A replica looks every half second, may look just too early, and needs a moment to answer on a busy machine.
TAKE_OVER_S = LEASE_S + 3.0


async def leader_of(replicas: Replicas, unlike: Replica | None = None, timeout_s: float = STARTING_S) -> Replica:
    """Wait for a leader, another one than the one named."""

    async def other() -> Replica | None:
        found = await asyncio.to_thread(replicas.leader)
        return found if found is not unlike else None

    found: Replica = await until(other, "a leader", timeout_s)
    return found


async def start_three(cluster: Cluster, replicas: Replicas) -> Replica:
    await cluster.nodes(4, cpu="8")
    for _ in range(3):
        replicas.start()
    return await leader_of(replicas)


async def test_another_takes_over_when_the_leader_is_killed(
    cluster: Cluster, replicas: Replicas, witness: Witness, audit: Audit
) -> None:
    first = await start_three(cluster, replicas)
    arriving = asyncio.ensure_future(cluster.pods(60, "a"))
    await cluster.all_bound(5)
    first.kill()
    killed_at = time.monotonic()

    await leader_of(replicas, first, TAKE_OVER_S)
    took_s = time.monotonic() - killed_at
    await arriving
    await cluster.all_bound(60)

    assert took_s < TAKE_OVER_S
    assert audit.outside_leadership() == []
    assert sum(each.is_running() for each in replicas.all) == 2


async def test_a_leader_that_was_paused_binds_nothing_when_it_goes_on(
    cluster: Cluster, replicas: Replicas, witness: Witness, audit: Audit
) -> None:
    first = await start_three(cluster, replicas)
    await cluster.pods(20, "a")
    await cluster.all_bound(5)
    first.signal(signal.SIGSTOP)
    await cluster.pods(20, "b")

    await leader_of(replicas, first, TAKE_OVER_S)
    await cluster.all_bound(40)
    await asyncio.sleep(0.5)
    # While it went on it would see these pods pending, and they are: so it must look at its lease first.
    arriving = asyncio.ensure_future(cluster.pods(40, "c"))
    first.signal(signal.SIGCONT)

    assert await asyncio.to_thread(first.ended) == 1
    await arriving
    await cluster.all_bound(80)
    assert "lost the lease" in first.log
    assert audit.outside_leadership() == []


async def test_a_leader_that_is_told_to_stop_hands_over_at_once(
    cluster: Cluster, replicas: Replicas, witness: Witness, audit: Audit
) -> None:
    first = await start_three(cluster, replicas)
    first.signal(signal.SIGTERM)
    told_at = time.monotonic()

    await leader_of(replicas, first)
    took_s = time.monotonic() - told_at
    await cluster.pods(10)
    await cluster.all_bound(10)

    assert await asyncio.to_thread(first.ended) == 0
    assert took_s < LEASE_S
    assert audit.outside_leadership() == []
