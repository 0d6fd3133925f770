"""Claims, slices and classes that come, go and change on the real API server while pods wait for devices or have some."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.api import Object
from tests.support.devices import DRIVER, claim, create, devices, pod_with, publish, set_up, stored
from tests.support.faults import Answer, Delay, Hold
from tests.support.live import Cluster, running, until

pytestmark = pytest.mark.kube

MOST_USERS = 256
NOTHING_LEFT = "1 cannot allocate all claims"


async def call(cluster: Cluster, act: str, *arguments: Any) -> Any:
    return await asyncio.to_thread(getattr(cluster.api, act), *arguments)


async def users(cluster: Cluster, name: str) -> list[str]:
    return [each["name"] for each in (await stored(cluster, name))["status"].get("reservedFor", ())]


async def change_slice(cluster: Cluster, generation: int, *names: str) -> None:
    """The driver publishes other devices."""
    spec = {"pool": {"name": "n1", "generation": generation, "resourceSliceCount": 1}}
    await call(
        cluster, "patch", "ResourceSlice", "n1-gpus", {"spec": {**spec, "devices": [{"name": each} for each in names]}}
    )


async def says(cluster: Cluster, name: str, text: str) -> None:
    """Wait until the pod is told so."""

    async def is_told() -> bool:
        return text in (await cluster.unschedulable(name))["message"]

    await until(is_told, f"{name} to be told {text!r}", 15)


async def test_a_bind_that_fails_gives_the_reservation_back_and_keeps_the_devices(cluster: Cluster) -> None:
    await set_up(cluster, "gpu-0")
    await claim(cluster, "c")
    async with running(cluster.plane) as run:
        run.faults.on("POST", "/binding$", Answer(400), times=1)
        await pod_with(cluster, "p1", "c")
        assert await cluster.bound("p1") == "n1"
        written = [body["status"] for _, path, body in run.faults.bodies if path.endswith("/resourceclaims/c/status")]
    assert [sorted(each) for each in written] == [["allocation", "reservedFor"], ["reservedFor"], ["reservedFor"]]
    assert written[1]["reservedFor"][0]["$patch"] == "delete"
    assert devices(await stored(cluster, "c")) == ["gpu-0"]
    assert await users(cluster, "c") == ["p1"]


async def test_a_reservation_that_is_given_back_slowly_does_not_go_after_the_pod_was_bound(cluster: Cluster) -> None:
    await set_up(cluster, "gpu-0")
    await claim(cluster, "c")
    async with running(cluster.plane) as run:
        hold = Hold(then=Answer(400))
        run.faults.on("POST", "/binding$", hold, times=1)
        await pod_with(cluster, "p1", "c")
        await asyncio.wait_for(hold.reached.wait(), 10)
        slow = run.faults.on("PATCH", "/resourceclaims/c/status$", Delay(3.0), times=1)
        hold.go.set()
        assert await cluster.bound("p1", timeout_s=20) == "n1"
        assert slow.hits == 1
    assert await users(cluster, "c") == ["p1"]


async def test_devices_of_a_claim_that_nobody_uses_are_given_back_if_the_pod_cannot_go_there(cluster: Cluster) -> None:
    await set_up(cluster, "gpu-0")
    await cluster.node("n2")
    pool = {"name": "n2", "generation": 1, "resourceSliceCount": 1}
    other = {"driver": DRIVER, "nodeName": "n2", "pool": pool, "devices": [{"name": "gpu-9"}]}
    await create(cluster, "ResourceSlice", "n2-gpus", other)
    await claim(cluster, "c")
    async with running(cluster.plane):
        await pod_with(cluster, "p1", "c", nodeSelector={"kubernetes.io/hostname": "n1"})
        assert await cluster.bound("p1") == "n1"
        await cluster.delete("p1")
        # As the controller does while nobody gives the devices back.
        await call(
            cluster, "patch", "ResourceClaim", "c", {"status": {"reservedFor": None}}, cluster.namespace, "status"
        )
        await pod_with(cluster, "p2", "c", nodeSelector={"kubernetes.io/hostname": "n2"})
        assert await cluster.bound("p2") == "n2"
    assert devices(await stored(cluster, "c")) == ["gpu-9"]
    assert await users(cluster, "c") == ["p2"]


async def test_a_claim_has_at_most_256_users_and_the_next_pod_waits_for_one_to_go(cluster: Cluster) -> None:
    await cluster.node(cpu="64", pods=300)
    await publish(cluster, "gpu-0")
    await claim(cluster, "c")
    async with running(cluster.plane):
        await pod_with(cluster, "p1", "c")
        assert await cluster.bound("p1") == "n1"
        given = (await stored(cluster, "c"))["status"]["reservedFor"]
        others: list[Object] = [
            {"resource": "pods", "name": f"other-{number}", "uid": f"other-{number}"}
            for number in range(MOST_USERS - 1)
        ]
        await reserve(cluster, [*given, *others])
        await pod_with(cluster, "p2", "c")
        await says(cluster, "p2", "resourceclaim in use")
        await reserve(cluster, [*given, *others[1:]])
        assert await cluster.bound("p2") == "n1"
    assert len(await users(cluster, "c")) == MOST_USERS


async def reserve(cluster: Cluster, consumers: list[Object]) -> None:
    body = {"status": {"reservedFor": consumers}}
    await call(cluster, "patch", "ResourceClaim", "c", body, cluster.namespace, "status")


async def test_many_pods_that_share_a_claim_are_all_bound(cluster: Cluster) -> None:
    await set_up(cluster, "gpu-0")
    await claim(cluster, "c")
    async with running(cluster.plane):
        await asyncio.gather(*(pod_with(cluster, f"p{number}", "c", cpu="1m") for number in range(40)))
        await cluster.all_bound(40, timeout_s=60)
    assert sorted(await users(cluster, "c")) == sorted(f"p{number}" for number in range(40))


async def test_a_claim_that_is_deleted_while_its_pod_waits_can_be_made_again(cluster: Cluster) -> None:
    await set_up(cluster)
    await claim(cluster, "c")
    async with running(cluster.plane):
        await pod_with(cluster, "p1", "c")
        await says(cluster, "p1", NOTHING_LEFT)
        await call(cluster, "delete", "ResourceClaim", "c", cluster.namespace)
        await change_slice(cluster, 2, "gpu-0")
        await claim(cluster, "c")
        assert await cluster.bound("p1") == "n1"
    assert devices(await stored(cluster, "c")) == ["gpu-0"]


async def test_a_device_that_is_not_published_for_a_while_stays_with_its_claim(cluster: Cluster) -> None:
    await set_up(cluster, "gpu-0", "gpu-1")
    for name in ("first", "second", "third"):
        await claim(cluster, name)
    async with running(cluster.plane):
        await pod_with(cluster, "p1", "first")
        assert await cluster.bound("p1") == "n1"
        await change_slice(cluster, 2, "gpu-1")
        await pod_with(cluster, "p2", "second")
        assert await cluster.bound("p2") == "n1"
        await pod_with(cluster, "p3", "third")
        await says(cluster, "p3", NOTHING_LEFT)
        await change_slice(cluster, 3, "gpu-0", "gpu-1")
        await says(cluster, "p3", NOTHING_LEFT)
        await change_slice(cluster, 4, "gpu-0", "gpu-1", "gpu-2")
        assert await cluster.bound("p3") == "n1"
    assert [devices(await stored(cluster, name)) for name in ("first", "second", "third")] == [
        ["gpu-0"],
        ["gpu-1"],
        ["gpu-2"],
    ]


async def test_a_class_that_goes_keeps_nobody_from_what_it_has_and_is_waited_for_by_the_others(
    cluster: Cluster,
) -> None:
    await set_up(cluster, "gpu-0", "gpu-1")
    await claim(cluster, "first")
    await claim(cluster, "second")
    async with running(cluster.plane):
        await pod_with(cluster, "p1", "first")
        assert await cluster.bound("p1") == "n1"
        await call(cluster, "delete", "DeviceClass", "gpu")
        await pod_with(cluster, "p2", "second")
        await says(cluster, "p2", "request r0: device class gpu does not exist")
        await pod_with(cluster, "p3", "first")
        assert await cluster.bound("p3") == "n1"
        await create(cluster, "DeviceClass", "gpu", {})
        assert await cluster.bound("p2") == "n1"
    assert devices(await stored(cluster, "second")) == ["gpu-1"]


async def test_a_slice_that_goes_may_be_what_a_pool_had_too_many(cluster: Cluster) -> None:
    await set_up(cluster, "gpu-0")
    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    twin = {"driver": DRIVER, "nodeName": "n1", "pool": pool, "devices": [{"name": "gpu-0"}]}
    await create(cluster, "ResourceSlice", "n1-twin", twin)
    await claim(cluster, "c")
    async with running(cluster.plane):
        await pod_with(cluster, "p1", "c")
        await cluster.unschedulable("p1")
        await call(cluster, "delete", "ResourceSlice", "n1-twin")
        assert await cluster.bound("p1") == "n1"


async def test_a_claim_that_goes_with_its_devices_lets_the_next_pod_have_them(cluster: Cluster) -> None:
    await set_up(cluster, "gpu-0")
    await claim(cluster, "first")
    await claim(cluster, "second")
    async with running(cluster.plane):
        await pod_with(cluster, "p1", "first")
        assert await cluster.bound("p1") == "n1"
        await pod_with(cluster, "p2", "second")
        await says(cluster, "p2", NOTHING_LEFT)
        # Somebody takes the finalizer away, so that nobody gives the devices back before the claim goes.
        await call(cluster, "patch", "ResourceClaim", "first", {"metadata": {"finalizers": None}}, cluster.namespace)
        await call(cluster, "delete", "ResourceClaim", "first", cluster.namespace)
        assert await cluster.bound("p2") == "n1"
