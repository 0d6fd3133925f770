"""Admission webhooks on binds, called by the real API server: one that denies for ever, and one that is gone."""

from __future__ import annotations

import asyncio

import pytest
import trustme

from tests.support.live import Cluster, running, until
from tests.support.processes import free_ports
from tests.support.webhooks import NAME, registered, serving
from tests.support.witness import Witness

pytestmark = pytest.mark.kube


async def test_a_pod_whose_bind_is_denied_for_ever_backs_off_while_others_go_on(
    cluster: Cluster, witness: Witness
) -> None:
    ca = trustme.CA()
    await cluster.node("n1", cpu="1")
    asked: list[str] = []

    def denies(name: str) -> bool:
        asked.append(name)
        return name == "denied"

    async with serving(ca, denies) as port, registered(cluster, ca, port), running(cluster.plane) as run:
        await cluster.pod("denied", cpu="800m")
        condition = await cluster.unschedulable("denied")
        event = await cluster.event("denied", "FailedScheduling")
        # It must not keep the room that the others need, nor their turn.
        await cluster.pods(3, cpu="300m")
        await asyncio.gather(*(cluster.bound(f"p{number}") for number in (1, 2, 3)))
        await until(lambda: run.live.engine.queue.pending()["backoff"] == 1, "the pod to back off")
    assert asked.count("denied") <= 3
    assert condition["reason"] == "SchedulerError"
    for text in (condition["message"], event["message"]):
        assert f'admission webhook "{NAME}" denied the request: not on my watch' in text


async def test_with_the_webhook_gone_pods_wait_and_are_told_and_bound_once_it_is_back(
    cluster: Cluster, witness: Witness
) -> None:
    ca = trustme.CA()
    await cluster.node()
    (port,) = free_ports(1)
    async with running(cluster.plane):
        async with registered(cluster, ca, port):
            await cluster.pods(3)
            condition = await cluster.unschedulable("p1")
        await cluster.all_bound(3)
    assert f'failed calling webhook "{NAME}"' in condition["message"]
