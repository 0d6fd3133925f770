"""The controller of spare capacity on the real API server; the test plays the annotator."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bayplan.app.shell.metrics import PrometheusMetrics
from bayplan.app.spare_capacity import live as spare_capacity
from bayplan.app.spare_capacity.live import LiveSpareCapacity
from bayplan.clock import SystemClock
from bayplan.controllers.spare_capacity.settings import SpareSettings
from bayplan.objects.pod import Pod
from bayplan.objects.spare import CPU_MILLI, LEDGER, MEMORY_MIB, Ledger, read_ledger
from bayplan.objects.third_party.crane_annotations import format_load
from bayplan.testing import node, pod
from tests.support.control_plane import ControlPlane
from tests.support.live import Cluster, client_of, close, until

pytestmark = [pytest.mark.kube, pytest.mark.slow]

SETTINGS = SpareSettings(grow_per_minute=1.0, most_share=1.0, samples_above=2)


@asynccontextmanager
async def running(plane: ControlPlane) -> AsyncIterator[tuple[LiveSpareCapacity, PrometheusMetrics]]:
    client, _ = client_of(plane.kubeconfig())
    metrics = PrometheusMetrics(spare_capacity.COUNTERS, spare_capacity.GAUGES, {})
    live = LiveSpareCapacity(client, SystemClock(), metrics, lambda: None, settings=SETTINGS, look_every_s=0.2)
    tasks = [asyncio.ensure_future(each.run()) for each in live.informers]
    await asyncio.gather(*(each.synced.wait() for each in live.informers))
    tasks.append(asyncio.ensure_future(live.run()))
    try:
        yield live, metrics
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await close(client)


async def measure(cluster: Cluster, cpu: float, memory: float, at: float | None = None) -> None:
    now = time.time() if at is None else at
    loads = {"cpu_usage_avg_5m": format_load(cpu, now), "mem_usage_avg_5m": format_load(memory, now)}
    await asyncio.to_thread(cluster.api.patch, "Node", "n1", {"metadata": {"annotations": loads}})


async def ledger(cluster: Cluster) -> Ledger | None:
    node = await asyncio.to_thread(cluster.api.get, "Node", "n1")
    return read_ledger(node["metadata"].get("annotations", {}).get(LEDGER))


async def node_events(cluster: Cluster, reason: str) -> list[dict[str, Any]]:
    found = await asyncio.to_thread(cluster.api.list, "Event", "default")
    return [each for each in found if each["reason"] == reason]


async def spare_pod(cluster: Cluster, name: str) -> None:
    made = cluster.pod_manifest(name, nodeName="n1")
    amounts = {CPU_MILLI: "500", MEMORY_MIB: "1024"}
    made["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
    await cluster.create(made)


async def test_a_ledger_is_written_follows_the_load_and_closes_when_it_is_old(
    cluster: Cluster, control_plane: ControlPlane
) -> None:
    await cluster.node("n1")  # 4 cores, 8Gi
    await measure(cluster, 0.25, 0.25)
    async with running(control_plane) as (_, metrics):

        async def is_at(cpu_milli: int) -> bool:
            found = await ledger(cluster)
            return found is not None and found.cpu_milli == cpu_milli

        await until(lambda: is_at(1600), "the first ledger")
        found = await ledger(cluster)
        assert found is not None
        assert found.cpu_because == "1600m = 0.65 x 4 - 1 used - 0 expected"
        await measure(cluster, 0.5, 0.25, time.time() + 1)
        await until(lambda: is_at(600), "a smaller ledger")
        await measure(cluster, 0.25, 0.25, time.time() - 1000)
        await until(lambda: is_at(0), "a closed ledger")
        event = (await until(lambda: node_events(cluster, "SpareCapacityClosed"), "an event about the node"))[0]
        assert event["involvedObject"]["name"] == "n1"
        assert event["type"] == "Warning"
        assert 'bayplan_spare_nodes{state="closed"} 1.0' in metrics.render().decode()


async def test_a_node_that_goes_while_ledgers_are_written_disturbs_nothing(
    cluster: Cluster, control_plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("n1", "n2"):
        await cluster.node(name)
    client, _ = client_of(control_plane.kubeconfig())
    metrics = PrometheusMetrics(spare_capacity.COUNTERS, spare_capacity.GAUGES, {})
    live = LiveSpareCapacity(client, SystemClock(), metrics, lambda: None, settings=SETTINGS)
    tasks = [asyncio.ensure_future(each.run()) for each in live.informers]
    await asyncio.gather(*(each.synced.wait() for each in live.informers))

    async def go_meanwhile(*_: object) -> None:
        live._drop_node("n1")

    monkeypatch.setattr(live, "_write", go_meanwhile)
    try:
        assert list((await live.step()).closed) == ["n1", "n2"]
        tasks.append(asyncio.ensure_future(live._recorder.run()))
        told = await until(lambda: node_events(cluster, "SpareCapacityClosed"), "an event about the other node")
        assert "n2" in {each["involvedObject"]["name"] for each in told}
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await close(client)


async def test_ledgers_are_written_no_faster_than_the_rate_and_those_of_busy_nodes_first(
    cluster: Cluster, control_plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    nodes = [f"n{number}" for number in range(1, 9)]
    busy = {"cpu_usage_avg_5m": format_load(0.95, now), "mem_usage_avg_5m": format_load(0.5, now)}
    client, _ = client_of(control_plane.kubeconfig())
    metrics = PrometheusMetrics(spare_capacity.COUNTERS, spare_capacity.GAUGES, {})
    settings = SpareSettings(samples_above=1)
    live = LiveSpareCapacity(client, SystemClock(), metrics, lambda: None, settings=settings, qps=10, burst=2)
    done: list[tuple[str, float]] = []

    async def patch(kind: str, namespace: str, name: str, body: object) -> None:
        done.append((name, time.monotonic()))

    async def evict(pod: Pod) -> None:
        done.append((pod.name, time.monotonic()))

    monkeypatch.setattr(live._writer, "patch", patch)
    monkeypatch.setattr(live._writer, "evict", evict)
    monkeypatch.setattr(spare_capacity, "MAX_NODE_EVENTS", 0)
    for name in nodes:
        live._put_node(node(name).annotation(busy if name == "n8" else {}).build())
    live._put_pod(pod("spare").request({CPU_MILLI: 500, MEMORY_MIB: 512}).on("n8").build())
    await live.step()
    await close(client)
    assert [name for name, _ in done[:2]] == ["n8", "spare"]
    assert sorted(name for name, _ in done) == sorted([*nodes, "spare"])
    # Two at once, and six more at ten a second.
    assert done[-1][1] - done[0][1] >= 0.5


async def test_a_spare_pod_is_evicted_from_a_busy_node_and_a_guaranteed_one_is_not(
    cluster: Cluster, control_plane: ControlPlane
) -> None:
    await cluster.node("n1")
    await spare_pod(cluster, "spare")
    await cluster.pod("guaranteed", nodeName="n1")
    async with running(control_plane) as (_, metrics):
        for _ in range(3):
            await measure(cluster, 0.95, 0.5)
            await asyncio.sleep(1.1)

        async def is_going() -> bool:
            pod = await cluster.find("spare")
            return pod is None or "deletionTimestamp" in pod["metadata"]

        await until(is_going, "the spare pod to go")
        event = await cluster.event("spare", "SpareEvicted")
        assert event["message"] == "Evicted from spare capacity: cpu of node n1 is in use at 95%, above 85%"
        assert "deletionTimestamp" not in (await cluster.get("guaranteed"))["metadata"]
        assert 'bayplan_spare_evictions_total{result="evicted"} 1.0' in metrics.render().decode()
