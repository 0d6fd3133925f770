"""The walk of a newcomer: kubectl, kube-controller-manager, kube-scheduler and Bayplan in one cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.kubectl import Kubectl
from tests.e2e.replicas import Replicas
from tests.support.control_plane import ControlPlane
from tests.support.live import Cluster, node_manifest, until
from tests.support.witness import Witness

pytestmark = [pytest.mark.kube, pytest.mark.slow]

CONTROLLERS = "deployment,replicaset,garbagecollector"


@pytest.fixture
def controllers(plane: ControlPlane, cluster: Cluster) -> Iterator[None]:
    with plane.start_controller_manager(CONTROLLERS):
        yield


def deployment(name: str, namespace: str, replicas: int, scheduler: str, cpu: str = "500m") -> dict[str, Any]:
    container = {"name": "main", "image": "web:1", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"schedulerName": scheduler, "containers": [container]},
            },
        },
    }


async def test_the_walk_with_kubectl(
    controllers: None, cluster: Cluster, kubectl: Kubectl, replicas: Replicas, witness: Witness
) -> None:
    space = cluster.namespace
    kubectl.apply(node_manifest("n1"), node_manifest("n2"))
    replicas.start()

    kubectl.apply(deployment("web", space, 4, "bayplan"))
    bound = await cluster.all_bound(4, timeout_s=30)
    assert {pod["spec"]["nodeName"] for pod in bound} == {"n1", "n2"}
    name, node = bound[0]["metadata"]["name"], bound[0]["spec"]["nodeName"]
    await cluster.event(name, "Scheduled")
    told = kubectl("describe", "pod", name, "-n", space)
    assert "Scheduled" in told
    assert f"Successfully assigned {space}/{name} to {node}" in told

    kubectl.apply(deployment("big", space, 1, "bayplan", cpu="6"))
    waiting = await until(lambda: pending(kubectl, space), "the big pod", 20)
    condition = await cluster.unschedulable(waiting, timeout_s=20)
    assert condition["reason"] == "Unschedulable"
    assert condition["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")
    await cluster.event(waiting, "FailedScheduling")
    assert "0/2 nodes are available: 2 Insufficient cpu." in kubectl("describe", "pod", waiting, "-n", space)

    kubectl.apply(node_manifest("n3", cpu="8"))
    assert await cluster.bound(waiting) == "n3"


def pending(kubectl: Kubectl, namespace: str) -> str | None:
    found = kubectl("get", "pods", "-n", namespace, "-l", "app=big", "-o", "name")
    return found.strip().removeprefix("pod/") or None


async def test_two_schedulers_share_the_nodes_and_each_minds_its_own_pods(
    plane: ControlPlane, cluster: Cluster, replicas: Replicas, witness: Witness
) -> None:
    await cluster.nodes(3, cpu="8")
    replicas.start()
    with plane.start_kube_scheduler(verbosity=0):
        await cluster.pods(15, "ours-")
        await cluster.pods(15, "theirs-", schedulerName="default-scheduler")
        await cluster.pods(3, "nobodys-", schedulerName="somebody-else")
        await cluster.all_bound(30, timeout_s=30)

    for event in cluster.api.list("Event", cluster.namespace):
        if event["reason"] == "Scheduled":
            whose = event["involvedObject"]["name"].partition("-")[0]
            assert (whose, event["reportingComponent"]) in {("ours", "bayplan"), ("theirs", "default-scheduler")}
    untouched = [pod for pod in await cluster.list() if pod["metadata"]["name"].startswith("nobodys-")]
    assert [pod["status"] for pod in untouched] == [{"phase": "Pending", "qosClass": "Burstable"}] * 3
