"""Dynamic and SpareCapacity with the live scheduler on the real API server; the test plays the annotator."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from bayplan.framework.config.model import SchedulerConfig
from bayplan.objects.spare import CPU_MILLI, LEDGER, MEMORY_MIB, Ledger
from bayplan.objects.third_party.crane_annotations import format_load
from tests.support.control_plane import ControlPlane
from tests.support.live import Cluster, config_of, running

pytestmark = [pytest.mark.kube, pytest.mark.slow]

MEM = "mem_usage_avg_5m"
AT_ONCE_S = 5.0
"""Well within the five minutes after which waiting pods are tried again anyway."""


def load_aware(**args: Any) -> SchedulerConfig:
    plugins = {
        "filter": {"enabled": [{"name": "Dynamic"}]},
        "score": {"enabled": [{"name": "Dynamic", "weight": 3}]},
        "multiPoint": {"enabled": [{"name": "SpareCapacity"}]},
    }
    profile = {"schedulerName": "bayplan", "plugins": plugins, "pluginConfig": [{"name": "Dynamic", "args": args}]}
    return config_of(profiles=[profile])


async def annotate(cluster: Cluster, node: str, **annotations: str | None) -> None:
    await asyncio.to_thread(cluster.api.patch, "Node", node, {"metadata": {"annotations": annotations}})


def spare_pod(cluster: Cluster, name: str) -> dict[str, Any]:
    made = cluster.pod_manifest(name)
    amounts = {CPU_MILLI: "500", MEMORY_MIB: "256"}
    made["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
    return made


async def test_a_node_over_its_limit_is_refused_and_the_pod_is_placed_soon_after_its_load_falls(
    cluster: Cluster, control_plane: ControlPlane
) -> None:
    await cluster.node("node-03")
    await annotate(cluster, "node-03", **{MEM: format_load(0.89633, time.time())})
    async with running(control_plane, config=load_aware()):
        await cluster.pod("p1")
        event = await cluster.event("p1", "FailedScheduling")
        assert event["message"].startswith(
            "0/1 nodes are available: 1 node(s) whose Load[mem_usage_avg_5m] is too high (above 0.65)."
        )
        await annotate(cluster, "node-03", **{MEM: format_load(0.8, time.time())})
        await asyncio.sleep(1.5)
        assert not (await cluster.get("p1"))["spec"].get("nodeName")
        await annotate(cluster, "node-03", **{MEM: format_load(0.5, time.time())})
        assert await cluster.bound("p1", timeout_s=AT_ONCE_S) == "node-03"


async def test_a_load_dated_three_days_ahead_keeps_no_pod_away_and_is_counted(
    cluster: Cluster, control_plane: ControlPlane
) -> None:
    await cluster.node("n1")
    await annotate(cluster, "n1", **{MEM: format_load(0.9, time.time() + 3 * 86_400)})
    async with running(control_plane, config=load_aware()) as scheduler:
        await cluster.pod("p1")
        assert await cluster.bound("p1") == "n1"
        assert 'bayplan_load_ahead_nodes{metric="mem_usage_avg_5m"} 1.0' in scheduler.live.render_metrics().decode()


async def test_with_a_load_that_is_too_old_guaranteed_pods_are_placed_and_spare_pods_are_not(
    cluster: Cluster, control_plane: ControlPlane
) -> None:
    await cluster.node("n1")
    an_hour_ago = time.time() - 3600
    stale = Ledger(2000, 4096, an_hour_ago).as_text()
    await annotate(cluster, "n1", **{MEM: format_load(0.9, an_hour_ago), LEDGER: stale})
    async with running(control_plane, config=load_aware()) as scheduler:
        await cluster.create(spare_pod(cluster, "spare"))
        event = await cluster.event("spare", "FailedScheduling")
        assert "1 node(s) closed their spare capacity: their load is not known" in event["message"]
        await cluster.pod("guaranteed")
        assert await cluster.bound("guaranteed") == "n1"
        metrics = scheduler.live.render_metrics().decode()
        assert 'bayplan_load_unknown_nodes{metric="mem_usage_avg_5m"} 1.0' in metrics
        assert "bayplan_spare_closed_nodes 1.0" in metrics
        await annotate(cluster, "n1", **{LEDGER: Ledger(2000, 4096, time.time()).as_text()})
        assert await cluster.bound("spare", timeout_s=AT_ONCE_S) == "n1"
        pod = await cluster.get("spare")
        assert pod["status"]["qosClass"] == "BestEffort"
