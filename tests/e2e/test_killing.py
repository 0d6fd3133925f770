"""kill -9 again and again while pods arrive: all of them get bound, none twice, and no node gets too much."""

from __future__ import annotations

import asyncio

import pytest

from tests.e2e.audit import Audit
from tests.e2e.replicas import Replicas
from tests.support.live import Cluster, until
from tests.support.witness import Witness

pytestmark = [pytest.mark.kube, pytest.mark.slow]

BATCH = 25
PODS_PER_NODE = 100


async def arrive(cluster: Cluster, count: int, pause_s: float) -> None:
    """Pods in batches; they take up nine tenths of the cluster, so that one bound too many shows."""
    await cluster.nodes(-(-count // PODS_PER_NODE), cpu="11", pods=PODS_PER_NODE + 10)
    for start in range(0, count, BATCH):
        await cluster.pods(BATCH, f"p{start}-", cpu="100m")
        await asyncio.sleep(pause_s)


async def kill_leaders(replicas: Replicas, every_s: float) -> None:
    """For ever: let a leader work for a while, kill it, start another process."""
    while True:
        leader = await until(replicas.leader, "a leader", 30)
        await asyncio.sleep(every_s)
        if leader.is_running():
            leader.kill()
        replicas.start()


@pytest.mark.parametrize(
    ("count", "pause_s", "every_s"),
    [
        pytest.param(500, 0.4, 1.5, id="500 pods"),
        pytest.param(2000, 0.4, 2.0, id="2000 pods", marks=pytest.mark.soak),
    ],
)
async def test_no_pod_is_lost_or_bound_twice_when_leaders_are_killed(
    count: int, pause_s: float, every_s: float, cluster: Cluster, replicas: Replicas, witness: Witness, audit: Audit
) -> None:
    replicas.start()
    replicas.start()
    killing = asyncio.ensure_future(kill_leaders(replicas, every_s))
    try:
        await arrive(cluster, count, pause_s)
    finally:
        killing.cancel()
        await asyncio.gather(killing, return_exceptions=True)
    replicas.start()
    bound = await cluster.all_bound(count, timeout_s=60)

    assert len(bound) == count
    assert sum(not each.is_running() for each in replicas.all) >= 2, "nobody was killed"
    assert audit.outside_leadership() == []
