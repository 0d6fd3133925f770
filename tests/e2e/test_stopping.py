"""SIGTERM at any moment: the process ends with 0, gives the lease back, and loses no pod."""

from __future__ import annotations

import asyncio
import random
import signal

import pytest

from tests.e2e.replicas import Replica, Replicas
from tests.support.live import Cluster, until
from tests.support.witness import Witness

pytestmark = [pytest.mark.kube, pytest.mark.slow]

MOMENTS = ["event=starting", "event=synced", "event=leading"]


async def stop(replica: Replica, replicas: Replicas) -> None:
    """Tell it to stop and see that it does so in order."""
    replica.signal(signal.SIGTERM)
    code = await asyncio.to_thread(replica.ended)
    lease = replicas.lease()

    # Before the command itself runs, a signal ends Python the way it ends any program.
    assert code == 0 or (code == -signal.SIGTERM and replica.log == ""), replica.log
    assert "Traceback" not in replica.log
    assert "level=error" not in replica.log
    assert not lease.get("holderIdentity")


@pytest.mark.parametrize("rounds", [2, pytest.param(20, marks=pytest.mark.soak)])
async def test_a_scheduler_that_is_told_to_stop_ends_in_order_at_any_moment(
    rounds: int, cluster: Cluster, replicas: Replicas, witness: Witness
) -> None:
    await cluster.nodes(3, cpu="32")
    arriving = asyncio.ensure_future(cluster.pods(300))
    for text in MOMENTS:
        replica = replicas.start()
        await has_said(replica, text)
        await stop(replica, replicas)
    seeded = random.Random(7)
    for _ in range(rounds):
        replica = replicas.start()
        await asyncio.sleep(seeded.uniform(0.0, 2.0))
        await stop(replica, replicas)
        replica = replicas.start()
        await has_said(replica, MOMENTS[-1])
        await asyncio.sleep(seeded.uniform(0.0, 0.7))
        await stop(replica, replicas)
    await arriving
    replicas.start()
    await cluster.all_bound(300)


async def has_said(replica: Replica, text: str) -> None:
    await until(lambda: text in replica.log, text, 20)
