"""What the development cluster's kubelets play, one thing after the other, on the real API server."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hack.dev_cluster.kubelets import Kubelets
from hack.dev_cluster.played import STOP_S
from tests.support.api import Object
from tests.support.live import Cluster, client_of, close, until

pytestmark = [pytest.mark.kube, pytest.mark.slow]

NODES = 2
BEARDS = "example.com/beardsecond"


class Played:
    """A cluster whose nodes are played, without a scheduler: tests name the node."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    async def pod(self, name: str, node: str = "node-1", **spec: Any) -> Object:
        """A pod that runs."""
        await self.cluster.pod(name, nodeName=node, **spec)
        return await self.until_pod(name, lambda pod: pod["status"].get("phase") == "Running", "to run")

    async def until_pod(self, name: str, is_so: Any, described: str) -> Object:
        async def found() -> Object | None:
            pod = await self.cluster.find(name)
            return pod if pod and is_so(pod) else None

        answer: Object = await until(found, f"{name} {described}", 20)
        return answer

    async def node(self, name: str = "node-1") -> Object:
        return await asyncio.to_thread(self.cluster.api.get, "Node", name)

    async def patch_status(self, status: Object, name: str = "node-1") -> None:
        await asyncio.to_thread(self.cluster.api.patch, "Node", name, {"status": status}, None, "status")

    async def delete(self, name: str, grace_s: int | None = None) -> None:
        await asyncio.to_thread(self.cluster.api.delete, "Pod", name, self.cluster.namespace, grace_s)

    async def until_gone(self, name: str, within_s: float = 20.0) -> None:
        async def is_gone() -> bool:
            return await self.cluster.find(name) is None

        await until(is_gone, f"{name} to be gone", within_s)

    async def states_until_gone(self, name: str) -> list[str]:
        """The phases it went through, each once."""
        phases = []
        while (pod := await self.cluster.find(name)) is not None:
            phases.append(pod["status"]["phase"])
            await asyncio.sleep(0.02)
        return [phase for phase, _ in itertools.groupby(phases)]


@pytest.fixture
async def played(cluster: Cluster) -> AsyncIterator[Played]:
    client, _ = client_of(cluster.plane.kubeconfig())
    ready = asyncio.Event()
    task = asyncio.ensure_future(Kubelets(client, NODES).run(ready.set))
    await asyncio.wait_for(ready.wait(), 20)
    yield Played(cluster)
    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await close(client)


def internal_ips(node: Object) -> list[str]:
    return [each["address"] for each in node["status"].get("addresses", ()) if each["type"] == "InternalIP"]


async def test_every_node_has_an_address_of_its_own(played: Played) -> None:
    await played.cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "later"}})

    async def added() -> list[str]:
        return internal_ips(await played.node("later"))

    given = await until(added, "an address of the node that was added")
    addresses = [*given, *internal_ips(await played.node("node-1")), *internal_ips(await played.node("node-2"))]
    assert len(addresses) == len(set(addresses)) == NODES + 1


async def test_a_ready_node_that_comes_without_an_address_gets_one(played: Played) -> None:
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": None, "lastTransitionTime": None}
    sizes = {"cpu": "1", "memory": "1Gi", "pods": "10"}
    status = {"conditions": [ready], "capacity": sizes, "allocatable": sizes}
    await played.cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "mine"}, "status": status})

    async def addresses() -> list[str]:
        return internal_ips(await played.node("mine"))

    await until(addresses, "an address")
    assert (await played.node("mine"))["status"]["allocatable"] == sizes


async def test_pods_with_a_host_port_run_and_know_their_host(played: Played) -> None:
    (host,) = internal_ips(await played.node())
    port = {"containerPort": 80, "hostPort": 54321, "hostIP": host, "protocol": "UDP"}
    container = {"name": "c", "image": "web:1", "ports": [port]}
    status = (await played.pod("p1", containers=[container]))["status"]
    assert (status["hostIP"], status["hostIPs"]) == (host, [{"ip": host}])
    assert status["podIP"] != host
    assert (await played.pod("p2", hostNetwork=True))["status"]["podIP"] == host
    elsewhere = (await played.pod("p3", node="node-2"))["status"]["hostIP"]
    assert [elsewhere] == internal_ips(await played.node("node-2"))


async def test_capacity_that_somebody_writes_appears_in_allocatable_and_goes_with_it(played: Played) -> None:
    before = (await played.node())["status"]["allocatable"]

    async def becomes(amount: str | None) -> None:
        async def is_so() -> bool:
            return bool((await played.node())["status"]["allocatable"].get(BEARDS) == amount)

        await until(is_so, f"allocatable to say {amount}")

    for amount in ("1k", "5", None):
        await played.patch_status({"capacity": {BEARDS: amount}})
        await becomes(amount)
    assert (await played.node())["status"]["allocatable"] == before


async def test_what_the_machine_itself_has_is_not_taken_from_its_capacity(played: Played) -> None:
    """Nodes may keep something back: allocatable is less than capacity then."""
    await played.patch_status({"allocatable": {"cpu": "6"}})
    await played.patch_status({"capacity": {"cpu": "16", BEARDS: "3"}})

    async def told() -> bool:
        return BEARDS in (await played.node())["status"]["allocatable"]

    await until(told, "the other resource")
    assert (await played.node())["status"]["allocatable"]["cpu"] == "6"


async def test_the_overhead_of_a_runtime_class_is_added_and_its_pods_run(played: Played) -> None:
    await played.cluster.create(
        {
            "apiVersion": "node.k8s.io/v1",
            "kind": "RuntimeClass",
            "metadata": {"name": "sandboxed"},
            "handler": "sandboxed",
            "overhead": {"podFixed": {"cpu": "250m"}},
        }
    )
    try:
        pod = await played.pod("p1", runtimeClassName="sandboxed")
    finally:
        await asyncio.to_thread(played.cluster.api.delete, "RuntimeClass", "sandboxed")
    assert pod["spec"]["overhead"] == {"cpu": "250m"}


async def test_a_deleted_pod_uses_the_grace_period_that_it_asks_for(played: Played) -> None:
    await played.pod("p1", terminationGracePeriodSeconds=4)
    started = asyncio.get_running_loop().time()
    await played.delete("p1")
    assert await played.states_until_gone("p1") in (["Running", "Succeeded"], ["Running"])
    assert asyncio.get_running_loop().time() - started >= 4


async def test_a_deleted_pod_with_the_default_grace_period_ends_soon_but_not_at_once(played: Played) -> None:
    await played.pod("p1")
    started = asyncio.get_running_loop().time()
    await played.delete("p1")
    assert (await played.cluster.get("p1"))["metadata"]["deletionGracePeriodSeconds"] == 30
    await played.until_gone("p1")
    assert asyncio.get_running_loop().time() - started >= STOP_S


async def test_a_hook_that_sleeps_is_waited_for_and_a_shorter_grace_period_cuts_it_short(played: Played) -> None:
    hook = {"preStop": {"sleep": {"seconds": 25}}}
    container = {"name": "c", "image": "web:1", "lifecycle": hook}
    for name in ("p1", "p2"):
        await played.pod(name, containers=[container])
        await played.delete(name)
    await asyncio.sleep(STOP_S + 1.5)
    for name in ("p1", "p2"):
        pod = await played.cluster.get(name)
        assert (pod["status"]["phase"], "deletionTimestamp" in pod["metadata"]) == ("Running", True)
    await played.delete("p1", 1)
    await played.until_gone("p1", within_s=10)
    await played.delete("p2", 0)
    await played.until_gone("p2", within_s=5)


async def test_a_pod_with_a_finalizer_has_ended_and_waits_for_it(played: Played) -> None:
    await played.pod("p1", metadata={"finalizers": ["example.com/held"]})
    await played.delete("p1")
    await played.until_pod("p1", lambda pod: pod["status"]["phase"] == "Succeeded", "to end")
    await asyncio.sleep(0.5)
    body = {"metadata": {"finalizers": None}}
    await asyncio.to_thread(played.cluster.api.patch, "Pod", "p1", body, played.cluster.namespace)
    await played.until_gone("p1")
