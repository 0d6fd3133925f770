"""Claims for devices on the real API server: given, reserved, given back; two schedulers at once; a death in between."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.api import Object
from tests.support.devices import SHARED, claim, devices, named, part, pod_with, set_up, stored
from tests.support.faults import Hold, LostRequest
from tests.support.live import Cluster, config_of, running, until

pytestmark = pytest.mark.kube

STATUS = "/resourceclaims/[^/]+/status$"
OTHER = "other-scheduler"


async def test_a_claim_is_given_a_device_that_goes_to_the_next_when_it_is_given_back(cluster: Cluster) -> None:
    await set_up(cluster, "gpu-0")
    async with running(cluster.plane):
        await claim(cluster, "first")
        await pod_with(cluster, "p1", "first")
        assert await cluster.bound("p1") == "n1"
        given = await stored(cluster, "first")
        pod = await cluster.get("p1")
        assert devices(given) == ["gpu-0"]
        assert given["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
        assert [one["uid"] for one in given["status"]["reservedFor"]] == [pod["metadata"]["uid"]]
        assert "allocationTimestamp" in given["status"]["allocation"]
        await claim(cluster, "second")
        await pod_with(cluster, "p2", "second")
        condition = await cluster.unschedulable("p2")
        assert "1 cannot allocate all claims" in condition["message"]
        freed = {"status": {"allocation": None, "reservedFor": None}}
        await asyncio.to_thread(cluster.api.patch, "ResourceClaim", "first", freed, cluster.namespace, "status")
        assert await cluster.bound("p2") == "n1"
    assert devices(await stored(cluster, "second")) == ["gpu-0"]


async def test_a_claim_is_made_for_an_extended_resource(cluster: Cluster) -> None:
    await set_up(cluster, "gpu-0")
    amounts = {"example.com/gpu": "1"}
    container = {"name": "c", "image": "web:1", "resources": {"requests": amounts, "limits": amounts}}
    async with running(cluster.plane):
        await cluster.pod("p1", containers=[container])
        assert await cluster.bound("p1") == "n1"
    told = (await cluster.get("p1"))["status"]["extendedResourceClaimStatus"]
    made = await stored(cluster, told["resourceClaimName"])
    assert made["metadata"]["name"].startswith("p1-extended-resources-")
    assert devices(made) == ["gpu-0"]
    assert told["requestMappings"] == [
        {"containerName": "c", "resourceName": "example.com/gpu", "requestName": "container-0-request-0"}
    ]


FIVE = {"capacity": {"requests": {"memory": "5Gi"}}}


@pytest.mark.parametrize(
    ("published", "first", "second"),
    [
        pytest.param(["gpu-0"], {}, {}, id="the last device"),
        pytest.param([SHARED], FIVE, FIVE, id="what is left of a shared device"),
        pytest.param([part("gpu-0"), part("gpu-1")], named("gpu-0"), named("gpu-1"), id="what is left of counters"),
    ],
)
async def test_of_two_schedulers_that_want_the_same_one_gets_it(
    published: list[str | Object], first: Object, second: Object, cluster: Cluster
) -> None:
    await set_up(cluster, *published)
    await claim(cluster, "first", **first)
    await claim(cluster, "second", **second)
    others = config_of(profiles=[{"schedulerName": OTHER}])
    async with running(cluster.plane) as one, running(cluster.plane, config=others) as two:
        holds = [Hold(), Hold()]
        for run, hold in zip((one, two), holds, strict=True):
            run.faults.on("PATCH", STATUS, hold, times=1)
        await pod_with(cluster, "p1", "first")
        await pod_with(cluster, "p2", "second", schedulerName=OTHER)
        await asyncio.gather(*(hold.reached.wait() for hold in holds))
        for hold in holds:
            hold.go.set()
        (bound,) = await cluster.all_bound(1)
        loser = "p2" if bound["metadata"]["name"] == "p1" else "p1"

        async def is_settled() -> bool:
            given = [devices(await stored(cluster, name)) for name in ("first", "second")]
            return sorted(len(each) for each in given) == [0, 1]

        await until(is_settled, "one claim to have the device", 20)
        await cluster.unschedulable(loser, timeout_s=20)
        assert await is_settled()
        told = await cluster.event(loser, "FailedScheduling")
        assert "by another scheduler at the same time" in told["message"]
    assert not (await cluster.get(loser))["spec"].get("nodeName")


async def test_two_schedulers_share_a_device_as_long_as_it_lasts(cluster: Cluster) -> None:
    await set_up(cluster, SHARED)
    three = {"capacity": {"requests": {"memory": "3Gi"}}}
    others = config_of(profiles=[{"schedulerName": OTHER}])
    async with running(cluster.plane), running(cluster.plane, config=others):
        for number in range(4):
            await claim(cluster, f"c{number}", **three)
            await pod_with(cluster, f"p{number}", f"c{number}", **({"schedulerName": OTHER} if number % 2 else {}))
        assert len(await cluster.all_bound(2)) == 2
        waiting = [pod for pod in await cluster.list() if not pod["spec"].get("nodeName")]
        for pod in waiting:
            await cluster.unschedulable(pod["metadata"]["name"])
        taken = [devices(await stored(cluster, f"c{number}")) for number in range(4)]
    assert sorted(taken) == [[], [], ["gpu-0"], ["gpu-0"]]


async def test_a_scheduler_that_dies_before_the_bind_leaves_nothing_behind(cluster: Cluster) -> None:
    await set_up(cluster, "gpu-0", "gpu-1")
    await claim(cluster, "first")
    async with running(cluster.plane) as run:
        hold = Hold()
        run.faults.on("POST", "/binding$", hold, times=1)
        await pod_with(cluster, "p1", "first")
        await asyncio.wait_for(hold.reached.wait(), 10)
        # From here on nothing of it arrives, as of a process that was killed.
        run.faults.on(".*", ".*", LostRequest())
    before = await stored(cluster, "first")
    assert devices(before) == ["gpu-0"]
    async with running(cluster.plane):
        assert await cluster.bound("p1", timeout_s=20) == "n1"
        after = await stored(cluster, "first")
        assert after["status"] == before["status"]
        await claim(cluster, "second")
        await pod_with(cluster, "p2", "second")
        assert await cluster.bound("p2") == "n1"
    assert devices(await stored(cluster, "second")) == ["gpu-1"]
