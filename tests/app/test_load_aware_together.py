"""Load-aware scheduling with all its real parts: exporters, Prometheus, annotator, API server and scheduler."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bayplan.app.annotator.live import AnnotatorOptions, LiveAnnotator
from bayplan.app.annotator.policy_source import PolicySource
from bayplan.app.shell.process import ServiceOptions
from bayplan.controllers.node_annotator.prometheus import PrometheusAccess
from bayplan.controllers.spare_capacity.settings import SpareSettings
from bayplan.framework.config.model import LeaderElection, SchedulerConfig
from bayplan.objects.spare import CPU_MILLI, LEDGER, MEMORY_MIB
from tests.app.annotator.test_live import CPU, MEM, node, shows, value
from tests.support.control_plane import ControlPlane
from tests.support.live import Cluster, client_of, close, config_of, running, until
from tests.support.processes import ProcessGroup, free_ports
from tests.support.prometheus import PrometheusServer, SyntheticNodes, programs_or_skip, quick_rules

pytestmark = [pytest.mark.kube, pytest.mark.slow]

POLICY = """\
apiVersion: scheduler.policy.crane.io/v1alpha1
kind: DynamicSchedulerPolicy
spec:
  syncPolicy:
  - {name: cpu_usage_avg_5m, period: 2s}
  - {name: mem_usage_avg_5m, period: 2s}
  predicate:
  - {name: cpu_usage_avg_5m, maxLimitPecent: 0.65}
  - {name: mem_usage_avg_5m, maxLimitPecent: 0.65}
  priority:
  - {name: cpu_usage_avg_5m, weight: 0.2}
  - {name: mem_usage_avg_5m, weight: 0.2}
"""
INSTANCES = {f"node-0{number}": f"10.7.0.{number}:9100" for number in (1, 2, 3)}
FALLS_WITHIN_S = 20.0
"""The averages are over five seconds here; the rest is one evaluation, one query and one write."""
AT_ONCE_S = 5.0
CLOSE_AFTER_S = 8.0
REFUSED = re.compile(
    r"0/3 nodes are available: "
    r"1 node\(s\) whose Load\[mem_usage_avg_5m\] is too high \(above 0\.65\), "
    r"2 Insufficient memory\."
)


@pytest.fixture
def exporters() -> Iterator[SyntheticNodes]:
    with SyntheticNodes(list(INSTANCES.values())) as played:
        yield played


@pytest.fixture
def prometheus(exporters: SyntheticNodes, tmp_path: Path) -> Iterator[PrometheusServer]:
    """It scrapes the nodes that are played, and this machine by a real node exporter."""
    programs, processes = programs_or_skip(), ProcessGroup()
    (port,) = free_ports(1)
    try:
        command = [programs.node_exporter, f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
        processes.start(command, tmp_path / "node_exporter.log")
        targets = [exporters.address, f"127.0.0.1:{port}"]
        with PrometheusServer(programs, tmp_path, targets, rules=quick_rules("5s")) as server:
            yield server
    finally:
        processes.close()


@asynccontextmanager
async def annotating(plane: ControlPlane, prometheus: PrometheusServer, policy: Path) -> AsyncIterator[LiveAnnotator]:
    options = AnnotatorOptions(
        service=ServiceOptions(election=LeaderElection(leader_elect=False)),
        prometheus=PrometheusAccess(address=prometheus.address, timeout_s=2.0),
        policy=PolicySource(str(policy)),
        spare=SpareSettings(grow_per_minute=1.0, close_after_s=CLOSE_AFTER_S),
    )
    client, _ = client_of(plane.kubeconfig())
    live = LiveAnnotator(client, options, spare_pause_s=0.5)
    task = asyncio.ensure_future(live.run())
    try:
        yield live
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await close(client)


def load_aware(policy: Path) -> SchedulerConfig:
    plugins = {
        "filter": {"enabled": [{"name": "Dynamic"}]},
        "score": {"enabled": [{"name": "Dynamic", "weight": 3}]},
        "multiPoint": {"enabled": [{"name": "SpareCapacity"}]},
    }
    arguments = [
        {"name": "Dynamic", "args": {"policyConfigPath": str(policy)}},
        {"name": "SpareCapacity", "args": {"closeAfter": f"{CLOSE_AFTER_S:g}s"}},
    ]
    return config_of(profiles=[{"schedulerName": "bayplan", "plugins": plugins, "pluginConfig": arguments}])


async def pod(cluster: Cluster, name: str, amounts: dict[str, str], **spec: Any) -> None:
    made = cluster.pod_manifest(name, **spec)
    made["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": amounts}
    await cluster.create(made)


async def spare_pod(cluster: Cluster, name: str) -> None:
    await pod(cluster, name, {CPU_MILLI: "100", MEMORY_MIB: "64"})


async def the_annotations_say_what_prometheus_says(cluster: Cluster, prometheus: PrometheusServer) -> None:
    for metric in (CPU, MEM):
        asked = await asyncio.to_thread(prometheus.wait_for, metric, 4)
        for name, instance in INSTANCES.items():
            await shows(cluster, name, metric, asked[instance] / 100, off=0.02)
    # The machine under the tests has a load that nobody chose.
    assert 0 < (await value(cluster, "this-machine", MEM) or 0) < 1


async def test_from_the_exporters_to_the_pods(
    cluster: Cluster, control_plane: ControlPlane, exporters: SyntheticNodes, prometheus: PrometheusServer,
    tmp_path: Path,
) -> None:  # fmt: skip
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    for name, instance in INSTANCES.items():
        await cluster.create(node(name, instance.partition(":")[0]))
    await cluster.create(node("this-machine", "127.0.0.1"))
    exporters.load(INSTANCES["node-03"], memory=0.9)
    async with annotating(control_plane, prometheus, policy) as annotator:
        await the_annotations_say_what_prometheus_says(cluster, prometheus)
        await shows(cluster, "node-03", MEM, 0.9, off=0.001)
        await cluster.delete("this-machine", "Node")
        for name in ("node-01", "node-02"):
            await pod(cluster, f"full-{name}", {"cpu": "1", "memory": "7Gi"}, nodeName=name)
        async with running(control_plane, config=load_aware(policy)) as scheduler:
            await a_hot_node_is_refused_until_it_cools(cluster, exporters)
            await spare_pod(cluster, "spare-before")
            assert await cluster.bound("spare-before") == "node-03"
            await asyncio.to_thread(prometheus.kill)
            await only_guaranteed_pods_are_placed(cluster)
            shown = scheduler.live.render_metrics().decode(), annotator.render_metrics().decode()
            assert "bayplan_spare_closed_nodes 3.0" in shown[0]
            assert 'bayplan_annotator_prometheus_up{metric="mem_usage_avg_5m"} 0.0' in shown[1]
            assert 'bayplan_spare_nodes{state="closed"} 3.0' in shown[1]
            prometheus.start()
            assert await cluster.bound("spare-after", timeout_s=60) == "node-03"


async def a_hot_node_is_refused_until_it_cools(cluster: Cluster, exporters: SyntheticNodes) -> None:
    await pod(cluster, "web", {"cpu": "100m", "memory": "2Gi"})
    event = await cluster.event("web", "FailedScheduling")
    assert REFUSED.match(event["message"]), event["message"]
    assert event["type"] == "Warning"
    exporters.load(INSTANCES["node-03"], memory=0.1)

    async def is_cool() -> bool:
        return (await value(cluster, "node-03", MEM) or 1.0) <= 0.65

    await until(is_cool, "the annotation to fall", FALLS_WITHIN_S)
    assert await cluster.bound("web", timeout_s=AT_ONCE_S) == "node-03"


async def only_guaranteed_pods_are_placed(cluster: Cluster) -> None:
    async def is_closed() -> bool:
        found = await asyncio.to_thread(cluster.api.get, "Node", "node-03")
        return '"cpuMilli":0,' in found["metadata"]["annotations"][LEDGER]

    began = time.monotonic()
    await until(is_closed, "the ledger to close", CLOSE_AFTER_S + 10)
    assert time.monotonic() - began > CLOSE_AFTER_S / 2, "it closed because Prometheus was gone, not before"
    await spare_pod(cluster, "spare-after")
    event = await cluster.event("spare-after", "FailedScheduling")
    assert "3 node(s) closed their spare capacity: their load is not known" in event["message"]
    await pod(cluster, "guaranteed", {"cpu": "100m", "memory": "2Gi"})
    assert await cluster.bound("guaranteed", timeout_s=AT_ONCE_S) == "node-03"
    assert not (await cluster.get("spare-after"))["spec"].get("nodeName")
    told = await asyncio.to_thread(cluster.api.list, "Event", "default")
    assert "node-03" in {each["involvedObject"]["name"] for each in told if each["reason"] == "SpareCapacityClosed"}
