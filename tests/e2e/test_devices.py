"""``kill -9`` while a claim is given its devices: the next process goes on, and nothing leaks or is given away twice."""

from __future__ import annotations

import asyncio

import pytest

from tests.e2e.audit import Audit
from tests.e2e.replicas import STARTING_S, Replicas
from tests.support.devices import claim, devices, pod_with, set_up, stored
from tests.support.live import Cluster, until
from tests.support.webhooks import BINDS, gated
from tests.support.witness import Witness

pytestmark = [pytest.mark.kube, pytest.mark.slow]

GROUP = "resource.k8s.io"
STATUS = (GROUP, "UPDATE", "resourceclaims/status")
POD_STATUS = ("", "UPDATE", "pods/status")
RESOURCE = "example.com/gpu"


async def all_claims(cluster: Cluster) -> dict[str, list[str]]:
    """By name, the devices they have."""
    found = await asyncio.to_thread(cluster.api.list, "ResourceClaim", cluster.namespace)
    return {each["metadata"]["name"]: devices(each) for each in found}


@pytest.mark.parametrize(
    ("about", "had"),
    [
        pytest.param(STATUS, [], id="before the status of the claim"),
        pytest.param(BINDS, ["gpu-0"], id="between the status of the claim and the bind"),
    ],
)
async def test_the_next_process_goes_on_with_the_claim(
    about: tuple[str, str, str], had: list[str], cluster: Cluster, replicas: Replicas, witness: Witness, audit: Audit
) -> None:
    await set_up(cluster, "gpu-0", "gpu-1")
    first = replicas.start()
    await until(replicas.leader, "a leader", STARTING_S)
    async with gated(cluster, about) as gate:
        await claim(cluster, "first")
        await pod_with(cluster, "p1", "first")
        await asyncio.wait_for(gate.reached.wait(), 20)
        before = await stored(cluster, "first")
        first.kill()
    assert devices(before) == had
    assert not (await cluster.get("p1"))["spec"].get("nodeName")

    replicas.start()
    assert await cluster.bound("p1", timeout_s=STARTING_S) == "n1"
    after = await stored(cluster, "first")
    pod = await cluster.get("p1")
    assert [each["uid"] for each in after["status"]["reservedFor"]] == [pod["metadata"]["uid"]]
    if had:
        assert after["status"]["allocation"] == before["status"]["allocation"]
    await claim(cluster, "second")
    await pod_with(cluster, "p2", "second")
    assert await cluster.bound("p2") == "n1"
    assert await all_claims(cluster) == {"first": ["gpu-0"], "second": ["gpu-1"]}


@pytest.mark.parametrize(
    ("about", "after"),
    [
        pytest.param(STATUS, 0, id="made, without devices"),
        pytest.param(POD_STATUS, 1, id="with devices, unknown to the pod"),
        pytest.param(BINDS, 0, id="known to the pod, which is not bound"),
    ],
)
async def test_a_claim_for_an_extended_resource_that_was_left_behind_is_replaced_or_used(
    about: tuple[str, str, str], after: int, cluster: Cluster, replicas: Replicas, witness: Witness, audit: Audit
) -> None:
    """Of the writes to the pod's status the first names the node that it will be bound to."""
    await set_up(cluster, "gpu-0", "gpu-1")
    amounts = {RESOURCE: "1"}
    container = {"name": "c", "image": "web:1", "resources": {"requests": amounts, "limits": amounts}}
    first = replicas.start()
    await until(replicas.leader, "a leader", STARTING_S)
    async with gated(cluster, about, after) as gate:
        await cluster.pod("p1", containers=[container])
        await asyncio.wait_for(gate.reached.wait(), 20)
        (left,) = await all_claims(cluster)
        first.kill()

    replicas.start()
    assert await cluster.bound("p1", timeout_s=STARTING_S) == "n1"
    told = (await cluster.get("p1"))["status"]["extendedResourceClaimStatus"]

    async def only_its_own() -> bool:
        return list(await all_claims(cluster)) == [told["resourceClaimName"]]

    await until(only_its_own, f"{left} to be gone, or to be the pod's own", 20)
    await cluster.pod("p2", containers=[container])
    assert await cluster.bound("p2") == "n1"
    given = sorted(name for each in (await all_claims(cluster)).values() for name in each)
    assert given == ["gpu-0", "gpu-1"]
