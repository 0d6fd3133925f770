"""The annotator live: a real Prometheus with the shipped rules, a real node exporter, the real API server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bayplan.app.annotator.live import AnnotatorOptions, LiveAnnotator
from bayplan.app.annotator.policy_source import PolicySource
from bayplan.app.shell.process import ServiceOptions
from bayplan.controllers.node_annotator.prometheus import PrometheusAccess
from bayplan.framework.config.model import LeaderElection
from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client
from bayplan.objects.third_party import crane_annotations
from tests.support.live import Cluster, node_manifest, until
from tests.support.processes import ProcessGroup, free_ports
from tests.support.prometheus import (
    PrometheusPrograms,
    PrometheusServer,
    SyntheticNodes,
    programs_or_skip,
    quick_rules,
)

pytestmark = [pytest.mark.kube, pytest.mark.slow]

POLICY = """\
apiVersion: scheduler.policy.crane.io/v1alpha1
kind: DynamicSchedulerPolicy
spec:
  syncPolicy:
  - {name: cpu_usage_avg_5m, period: 2s}
  - {name: mem_usage_avg_5m, period: 2s}
  - {name: mem_usage_max_avg_1h, period: 4s}
  hotValue:
  - {timeRange: 5m, count: 5}
  - {timeRange: 1m, count: 2}
"""
CPU, MEM, HOT = "cpu_usage_avg_5m", "mem_usage_avg_5m", "node_hot_value"


@pytest.fixture(scope="session")
def programs() -> PrometheusPrograms:
    return programs_or_skip()


@pytest.fixture
def nodes() -> Iterator[SyntheticNodes]:
    with SyntheticNodes(["10.7.0.1:9100", "10.7.0.2", "by-name", "[fd00::7]:9100"]) as played:
        yield played


@pytest.fixture
def prometheus(programs: PrometheusPrograms, nodes: SyntheticNodes, tmp_path: Path) -> Iterator[PrometheusServer]:
    with PrometheusServer(programs, tmp_path, [nodes.address], rules=quick_rules("5s")) as server:
        server.wait_for(CPU, 4)
        yield server


def node(name: str, *addresses: str) -> dict[str, Any]:
    made = node_manifest(name)
    made["status"]["addresses"] = [{"type": "InternalIP", "address": each} for each in addresses]
    return made


async def four_nodes(cluster: Cluster) -> None:
    for made in (node("n1", "10.7.0.1"), node("n2", "10.7.0.2"), node("by-name"), node("n4", "10.7.0.4", "fd00::7")):
        await cluster.create(made)


@asynccontextmanager
async def running(cluster: Cluster, address: str, policy: PolicySource, **more: Any) -> AsyncIterator[LiveAnnotator]:
    options = AnnotatorOptions(
        service=ServiceOptions(election=LeaderElection(leader_elect=False)),
        prometheus=PrometheusAccess(address=address, timeout_s=2.0, **more),
        policy=policy,
    )
    client = Client(Credentials(str(cluster.plane.kubeconfig())))
    live = LiveAnnotator(client, options, policy_pause_s=0.2)
    task = asyncio.ensure_future(live.run())
    try:
        yield live
        assert not task.done(), task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await client.close()


async def annotations(cluster: Cluster, name: str) -> dict[str, str]:
    found = await asyncio.to_thread(cluster.api.get, "Node", name)
    return dict(found["metadata"].get("annotations") or {})


async def value(cluster: Cluster, name: str, key: str) -> float | None:
    reading = crane_annotations.read((await annotations(cluster, name)).get(key))
    return None if reading is None else reading.value


async def shows(
    cluster: Cluster, name: str, key: str, expected: float, off: float = 0.02, wait_s: float = 30.0
) -> None:
    async def is_shown() -> bool:
        shown = await value(cluster, name, key)
        return shown is not None and abs(shown - expected) <= off

    await until(is_shown, f"{name} to show {key} {expected}, shows {await value(cluster, name, key)}", wait_s)


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    return file


async def test_nodes_show_what_prometheus_says_by_address_port_name_and_ipv6(
    cluster: Cluster, nodes: SyntheticNodes, prometheus: PrometheusServer, policy_file: Path
) -> None:
    await four_nodes(cluster)
    loads = {"10.7.0.1:9100": 0.2, "10.7.0.2": 0.4, "by-name": 0.6, "[fd00::7]:9100": 0.8}
    for instance, load in loads.items():
        nodes.load(instance, cpu=load / 2, memory=load)
    async with running(cluster, prometheus.address, PolicySource(str(policy_file))):
        for name, load in zip(("n1", "n2", "by-name", "n4"), loads.values(), strict=True):
            await shows(cluster, name, MEM, load, off=0.001)
            await shows(cluster, name, CPU, load / 2)
        shown = await annotations(cluster, "n4")
        assert {CPU, MEM, "mem_usage_max_avg_1h", HOT} <= shown.keys()
        assert shown[HOT].startswith("0,")
        asked = await asyncio.to_thread(prometheus.query, MEM)
        assert await value(cluster, "n1", MEM) == pytest.approx(asked["10.7.0.1:9100"] / 100, abs=0.001)
        nodes.load("10.7.0.1:9100", memory=0.9)
        await shows(cluster, "n1", MEM, 0.9, off=0.001)


async def test_prometheus_killed_leaves_values_as_they_are_until_it_is_back(
    cluster: Cluster, nodes: SyntheticNodes, prometheus: PrometheusServer, policy_file: Path
) -> None:
    await four_nodes(cluster)
    async with running(cluster, prometheus.address, PolicySource(str(policy_file))) as live:
        await shows(cluster, "n1", MEM, 0.1, off=0.001)
        await asyncio.to_thread(prometheus.kill)
        await until(
            lambda: b'prometheus_up{metric="mem_usage_avg_5m"} 0.0' in live.render_metrics(), "the outage to show"
        )
        before = await annotations(cluster, "n1")
        await asyncio.sleep(3)
        assert (await annotations(cluster, "n1"))[MEM] == before[MEM]
        nodes.load("10.7.0.1:9100", memory=0.5)
        prometheus.start()
        await shows(cluster, "n1", MEM, 0.5, off=0.001, wait_s=60)
        assert b'prometheus_up{metric="mem_usage_avg_5m"} 1.0' in live.render_metrics()


async def test_pods_that_a_node_gets_make_it_hot_even_without_prometheus(cluster: Cluster, policy_file: Path) -> None:
    await cluster.create(node("n1", "10.7.0.1"))
    async with running(cluster, f"127.0.0.1:{free_ports(1)[0]}", PolicySource(str(policy_file))):
        for number in range(10):
            event = scheduled_event(cluster.namespace, number, "n1")
            path = f"/apis/events.k8s.io/v1/namespaces/{cluster.namespace}/events"
            await asyncio.to_thread(cluster.api.call, "POST", path, event)
        await shows(cluster, "n1", HOT, 7)
        assert (await annotations(cluster, "n1")).keys() >= {HOT}


def scheduled_event(namespace: str, number: int, node_name: str) -> dict[str, Any]:
    """As kube-scheduler writes them."""
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"web-{number}.1", "namespace": namespace},
        "eventTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "type": "Normal",
        "reason": "Scheduled",
        "action": "Binding",
        "note": f"Successfully assigned {namespace}/web-{number} to {node_name}",
        "regarding": {"kind": "Pod", "namespace": namespace, "name": f"web-{number}", "apiVersion": "v1"},
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-x",
    }


async def test_a_changed_policy_file_is_followed_and_a_broken_one_is_not(
    cluster: Cluster, nodes: SyntheticNodes, prometheus: PrometheusServer, policy_file: Path
) -> None:
    await cluster.create(node("n1", "10.7.0.1"))
    async with running(cluster, prometheus.address, PolicySource(str(policy_file))) as live:
        await shows(cluster, "n1", MEM, 0.1, off=0.001)
        policy_file.write_text(POLICY.replace("period: 4s", "period: never"))
        await until(lambda: b'reloads_total{result="error"} 1.0' in live.render_metrics(), "the mistake to be noticed")
        nodes.load("10.7.0.1:9100", memory=0.3)
        await shows(cluster, "n1", MEM, 0.3, off=0.001)
        policy_file.write_text(POLICY.replace("mem_usage_max_avg_1h", "mem_usage_active"))
        await shows(cluster, "n1", "mem_usage_active", 0.3, off=0.001)


async def test_a_policy_in_a_config_map_is_followed(
    cluster: Cluster, nodes: SyntheticNodes, prometheus: PrometheusServer
) -> None:
    await cluster.create(node("n1", "10.7.0.1"))
    config_map: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "policy", "namespace": cluster.namespace},
        "data": {"policy.yaml": POLICY},
    }
    await cluster.create(config_map)
    source = PolicySource(config_map=f"{cluster.namespace}/policy")
    async with running(cluster, prometheus.address, source):
        await shows(cluster, "n1", MEM, 0.1, off=0.001)
        changed = {"data": {"policy.yaml": POLICY.replace("mem_usage_max_avg_1h", "mem_usage_active")}}
        await asyncio.to_thread(cluster.api.patch, "ConfigMap", "policy", changed, cluster.namespace)
        await shows(cluster, "n1", "mem_usage_active", 0.1, off=0.001)


async def test_a_real_node_exporter_is_read_as_well(
    cluster: Cluster, programs: PrometheusPrograms, tmp_path: Path, policy_file: Path
) -> None:
    (port,) = free_ports(1)
    processes = ProcessGroup()
    await cluster.create(node("here", "127.0.0.1"))
    try:
        command = [programs.node_exporter, f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
        processes.start(command, tmp_path / "node_exporter.log")
        with PrometheusServer(programs, tmp_path, [f"127.0.0.1:{port}"]) as prometheus:
            (loaded,) = (await asyncio.to_thread(prometheus.wait_for, MEM, 1)).values()
            async with running(cluster, prometheus.address, PolicySource(str(policy_file))):
                await shows(cluster, "here", MEM, loaded / 100, off=0.1)
                await shows(cluster, "here", CPU, 0.5, off=0.55)
    finally:
        processes.close()
