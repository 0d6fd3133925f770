"""The live scheduler and claims that wait for their pod, with the real volume controller beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.api import Object
from tests.support.faults import LostAnswer
from tests.support.live import Cluster, config_of, running, until
from tests.support.witness import Witness

pytestmark = pytest.mark.kube

HOSTNAME = "kubernetes.io/hostname"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


@pytest.fixture
async def volume_controller(cluster: Cluster) -> AsyncIterator[None]:
    controllers = "persistentvolume-binder-controller"
    started = await asyncio.to_thread(cluster.plane.start_controller_manager, controllers)
    yield
    await asyncio.to_thread(started.stop)


async def storage_class(cluster: Cluster, name: str, provisioner: str = "kubernetes.io/no-provisioner") -> None:
    typed = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
    await cluster.create(typed | {"provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"})


async def local_volume(cluster: Cluster, name: str, node: str, **spec: Any) -> None:
    condition = {"key": HOSTNAME, "operator": "In", "values": [node]}
    given = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "local",
        "local": {"path": "/x"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [condition]}]}},
    }
    typed = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}}
    await cluster.create(typed | {"spec": given | spec})


async def claim(cluster: Cluster, name: str, of: str = "local") -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": of, "resources": {"requests": {"storage": "1Gi"}}}
    metadata = {"name": name, "namespace": cluster.namespace}
    await cluster.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec})


async def get(cluster: Cluster, kind: str, name: str) -> Object:
    namespace = cluster.namespace if kind == "PersistentVolumeClaim" else None
    return await asyncio.to_thread(cluster.api.get, kind, name, namespace)


async def available(cluster: Cluster, *names: str) -> None:
    """Wait until the volume controller has looked at the volumes."""

    async def all_of_them() -> bool:
        found = [await get(cluster, "PersistentVolume", name) for name in names]
        return all(one["status"].get("phase") == "Available" for one in found)

    await until(all_of_them, "volumes to be available")


def mounts(*claims: str) -> list[Object]:
    return [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]


async def test_pods_get_a_local_volume_each_and_run_where_it_is(
    cluster: Cluster, witness: Witness, volume_controller: None
) -> None:
    await cluster.nodes(2)
    await storage_class(cluster, "local")
    for number in (1, 2):
        await local_volume(cluster, f"v{number}", f"n{number}")
        await claim(cluster, f"c{number}")
    await available(cluster, "v1", "v2")
    async with running(cluster.plane, kubeconfig=cluster.plane.kubeconfig("scheduler")):
        await cluster.pod("p1", volumes=mounts("c1"))
        await cluster.pod("p2", volumes=mounts("c2"))
        nodes = {name: await cluster.bound(name, 20.0) for name in ("p1", "p2")}
    assert sorted(nodes.values()) == ["n1", "n2"]
    for number in (1, 2):
        bound = await get(cluster, "PersistentVolumeClaim", f"c{number}")
        volume = await get(cluster, "PersistentVolume", bound["spec"]["volumeName"])
        assert bound["status"]["phase"] == volume["status"]["phase"] == "Bound"
        assert volume["spec"]["claimRef"]["uid"] == bound["metadata"]["uid"]
        assert volume["metadata"]["annotations"][BOUND_BY_CONTROLLER] == "yes"
        assert volume["metadata"]["name"] == f"v{nodes[f'p{number}'][1:]}"


async def test_a_volume_keeps_what_the_scheduler_knows_nothing_of(
    cluster: Cluster, witness: Witness, volume_controller: None
) -> None:
    await cluster.node()
    await storage_class(cluster, "local")
    await local_volume(cluster, "v1", "n1", mountOptions=["ro"], persistentVolumeReclaimPolicy="Retain")
    await claim(cluster, "c1")
    await available(cluster, "v1")
    async with running(cluster.plane):
        await cluster.pod(volumes=mounts("c1"))
        await cluster.bound(timeout_s=20.0)
    spec = (await get(cluster, "PersistentVolume", "v1"))["spec"]
    assert (spec["mountOptions"], spec["local"]) == (["ro"], {"path": "/x"})


async def test_a_provisioner_is_told_the_node_and_waited_for(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    await storage_class(cluster, "made", "csi.example.com")
    await claim(cluster, "c1", "made")
    async with running(cluster.plane, kubeconfig=cluster.plane.kubeconfig("scheduler")):
        await cluster.pod(volumes=mounts("c1"))

        async def selected() -> Any:
            annotations = (await get(cluster, "PersistentVolumeClaim", "c1"))["metadata"].get("annotations", {})
            return annotations.get(SELECTED_NODE)

        assert await until(selected, "a node to be selected") == "n1"
        assert not (await cluster.get("p1"))["spec"].get("nodeName")
        await _provision(cluster, "c1")
        assert await cluster.bound() == "n1"


async def _provision(cluster: Cluster, name: str) -> None:
    """As a CSI driver's provisioner and the volume controller would."""
    wanted = await get(cluster, "PersistentVolumeClaim", name)
    reference = {"namespace": cluster.namespace, "name": name, "uid": wanted["metadata"]["uid"]}
    csi = {"driver": "csi.example.com", "volumeHandle": "h"}
    await local_volume(cluster, "made", "n1", local=None, csi=csi, claimRef=reference, storageClassName="made")
    bound = {"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {"volumeName": "made"}}
    await asyncio.to_thread(cluster.api.patch, "PersistentVolumeClaim", name, bound, cluster.namespace)


async def test_a_pod_whose_claim_is_not_bound_in_time_is_tried_again(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    await storage_class(cluster, "made", "csi.example.com")
    await claim(cluster, "c1", "made")
    args = {"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 2}}
    config = config_of(profiles=[{"schedulerName": "bayplan", "pluginConfig": [args]}])
    async with running(cluster.plane, config=config):
        await cluster.pod(volumes=mounts("c1"))
        event = await cluster.event("p1", "FailedScheduling")
        await _provision(cluster, "c1")
        await cluster.bound(timeout_s=20.0)
    text = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    assert event["message"] == text


async def test_an_answer_that_is_lost_does_not_lose_the_volume(
    cluster: Cluster, witness: Witness, volume_controller: None
) -> None:
    """The patch got through, its answer did not; written again it meets its own traces."""
    await cluster.node()
    await storage_class(cluster, "local")
    await local_volume(cluster, "v1", "n1")
    await claim(cluster, "c1")
    await available(cluster, "v1")
    async with running(cluster.plane) as live:
        live.faults.on("PATCH", "/persistentvolumes/", LostAnswer(), times=1)
        await cluster.pod(volumes=mounts("c1"))
        assert await cluster.bound(timeout_s=20.0) == "n1"
        assert await cluster.events("p1", "FailedScheduling") == []


async def test_a_claim_that_is_mounted_twice_does_not_fail_the_first_try(cluster: Cluster, witness: Witness) -> None:
    """kube-scheduler writes it twice and fails its first try with a conflict."""
    await cluster.node()
    await storage_class(cluster, "made", "csi.example.com")
    await claim(cluster, "c1", "made")
    again = {"name": "again", "persistentVolumeClaim": {"claimName": "c1"}}
    async with running(cluster.plane):
        await cluster.pod(volumes=[*mounts("c1"), again])

        async def selected() -> bool:
            return SELECTED_NODE in (await get(cluster, "PersistentVolumeClaim", "c1"))["metadata"].get(
                "annotations", {}
            )

        await until(selected, "a node to be selected")
        await _provision(cluster, "c1")
        assert await cluster.bound(timeout_s=20.0) == "n1"
        assert await cluster.events("p1", "FailedScheduling") == []
