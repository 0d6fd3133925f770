"""
WorkloadPolicy with the live scheduler on the real API server, with real controllers that make the pods.

The manifests and the scheduler configuration of the published tests are used as printed; see examples/workload-policy.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.support.api import Object
from tests.support.control_plane import ControlPlane
from tests.support.kosmos import example, example_nodes, installed
from tests.support.live import Cluster, config_of, running, scheduled_condition, until
from tests.support.regions import (
    NAMESPACE,
    as_printed,
    controllers,
    domains,
    kubelets,
    labels,
    of_examples,
    policy,
    region_node,
    settled,
    workload,
)

pytestmark = [pytest.mark.kube, pytest.mark.slow]

BACKOFF_S = 1.2
"""A pod that was turned down once may be tried again after this."""


@pytest.fixture(scope="module", autouse=True)
def kinds(control_plane: ControlPlane) -> Iterator[None]:
    with installed(control_plane.api()):
        yield


@pytest.fixture
async def world(cluster: Cluster) -> AsyncIterator[Cluster]:
    async with of_examples(cluster):
        yield cluster


def without_anti_affinity(deployment: Object) -> Object:
    changed = copy.deepcopy(deployment)
    del changed["spec"]["template"]["spec"]["affinity"]
    return changed


@pytest.mark.parametrize(
    "prepared", [copy.deepcopy, without_anti_affinity], ids=["as printed", "without anti-affinity"]
)
async def test_published_test_1_places_all_six_pods(world: Cluster, prepared: Any) -> None:
    await asyncio.gather(*(world.create(each) for each in example_nodes()))
    await world.create(example("workloadpolicy-example-1.yaml"))
    async with running(world.plane, config=as_printed()), controllers(world.plane):
        await world.create(prepared(example("clusterlink-floater-deployment-mix.yaml")))
        await settled(world, placed=6, pending=0)
    counts = await domains(world)
    assert counts["member"] >= 1
    assert counts["host"] >= 3


async def test_published_test_2_places_four_pods_and_tells_the_others_why(world: Cluster) -> None:
    await asyncio.gather(*(world.create(each) for each in example_nodes()))
    await world.create(example("workloadpolicy-example-2.yaml"))
    async with running(world.plane, config=as_printed()), controllers(world.plane):
        await world.create(example("clusterlink-floater-deployment-mix.yaml"))
        waiting = await settled(world, placed=4, pending=2)
        event = await world.event(waiting[0]["metadata"]["name"], "FailedScheduling")
    assert await domains(world) == {"member": 1, "host": 3, "": 2}
    for each in (*(scheduled_condition(one)["message"] for one in waiting), event["message"]):  # type: ignore[index]
        assert "node(s) in workload-test=member had 1/1 pods of WorkloadPolicy workload-policy-test" in each
        assert "node(s) in workload-test=host had 3/3 pods of WorkloadPolicy workload-policy-test" in each


# -- five here, three there --


@pytest.mark.parametrize(
    ("kind", "is_leaf"), [("Deployment", False), ("StatefulSet", False), ("Deployment", True)],
    ids=["deployment", "stateful set", "clusters as domains"],
)  # fmt: skip
async def test_five_pods_run_in_one_region_and_three_in_the_other(world: Cluster, kind: str, is_leaf: bool) -> None:
    await asyncio.gather(*(world.create(region_node(f"a{n}", "regionA", is_leaf=is_leaf)) for n in (1, 2)))
    await asyncio.gather(*(world.create(region_node(f"b{n}", "regionB", is_leaf=is_leaf)) for n in (1, 2)))
    await world.create(policy({"regionA": 5, "regionB": 3}))
    async with running(world.plane, config=as_printed()), controllers(world.plane), kubelets(world):
        await world.create(workload(kind, 8))
        await settled(world, placed=8, pending=0)
    assert await domains(world, "region") == {"regionA": 5, "regionB": 3}


# -- rolling updates --


async def rolled_out(world: Cluster, timeout_s: float) -> bool:
    """Change the image of a Deployment and wait until all pods are new."""
    change = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "web:2"}]}}}}
    await asyncio.to_thread(world.api.patch, "Deployment", "web", change, NAMESPACE)

    async def is_done() -> bool:
        deployment = await asyncio.to_thread(world.api.get, "Deployment", "web", NAMESPACE)
        status = deployment["status"]
        return bool(
            status.get("observedGeneration") == deployment["metadata"]["generation"]
            and status.get("updatedReplicas") == status.get("replicas") == status.get("availableReplicas") == 3
        )

    try:
        return bool(await until(is_done, "the rollout", timeout_s))
    except TimeoutError:
        return False


@pytest.mark.parametrize("keys", [["pod-template-hash"], []], ids=["with matchLabelKeys", "without"])
async def test_a_rolling_update_goes_through_with_match_label_keys(world: Cluster, keys: list[str]) -> None:
    """Without them old and new pods share the numbers, and with no pod to spare nothing moves: that is documented."""
    await world.create(region_node("a1", "regionA"))
    await world.create(region_node("b1", "regionB"))
    await world.create(policy({"regionA": 2, "regionB": 1}, matchLabelKeys=keys))
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    async with running(world.plane, config=as_printed()), controllers(world.plane), kubelets(world):
        await world.create(workload("Deployment", 3, strategy=strategy))
        await settled(world, placed=3, pending=0)
        await asyncio.sleep(0.5)
        assert await rolled_out(world, 30.0 if keys else 4.0) is bool(keys)
    if keys:
        assert await domains(world, "region") == {"regionA": 2, "regionB": 1}


# -- what brings pods back --


@pytest.fixture
async def waiting(world: Cluster) -> AsyncIterator[Cluster]:
    """A pod that asks for a policy which is not there, past its first backoff."""
    await world.create(region_node("a1", "regionA"))
    profile = {
        "schedulerName": "bayplan",
        "plugins": {"multiPoint": {"enabled": [{"name": "LeafNodeWorkloadPolicy"}]}},
    }
    async with running(world.plane, config=config_of(profiles=[profile])):
        await world.pod("p1", metadata={"labels": labels()})
        condition = await world.unschedulable("p1")
        assert 'WorkloadPolicy "regions" not found in namespace "workload-test"' in condition["message"]
        assert condition["reason"] == "Unschedulable"
        await asyncio.sleep(BACKOFF_S)
        yield world


async def bound_at_once(world: Cluster, name: str) -> None:
    """By the event that helps it: without one, it would wait for minutes."""
    assert await world.bound(name) == "a1"


async def told_again(world: Cluster, name: str, text: str) -> None:
    async def is_told() -> bool:
        condition = scheduled_condition(await world.get(name))
        return condition is not None and text in condition["message"]

    await until(is_told, f"{name} to be told: {text}")
    await asyncio.sleep(2 * BACKOFF_S)


async def test_a_policy_that_comes_later_is_used_at_once(waiting: Cluster) -> None:
    await waiting.create(policy({"regionA": 1}))
    await bound_at_once(waiting, "p1")


async def test_larger_numbers_a_pod_that_goes_and_a_node_label_wake_pods_at_once(waiting: Cluster) -> None:
    await waiting.create(policy({"regionA": 1}))
    await bound_at_once(waiting, "p1")

    full = "node(s) in region=regionA had 1/1 pods of WorkloadPolicy regions"
    await waiting.pod("p2", metadata={"labels": labels()})
    await told_again(waiting, "p2", full)
    numbers = {"spec": policy({"regionA": 2})["spec"]}
    await asyncio.to_thread(waiting.api.patch, "WorkloadPolicy", "regions", numbers, NAMESPACE)
    await bound_at_once(waiting, "p2")

    await waiting.pod("p3", metadata={"labels": labels()})
    await told_again(waiting, "p3", full.replace("1/1", "2/2"))
    await waiting.delete("p1")
    await bound_at_once(waiting, "p3")

    for name in ("p2", "p3"):
        await waiting.delete(name)
    await asyncio.to_thread(waiting.api.patch, "Node", "a1", {"metadata": {"labels": {"region": "regionB"}}})
    await waiting.pod("p4", metadata={"labels": labels()})
    await told_again(waiting, "p4", "node(s) in region=regionB were not listed by WorkloadPolicy regions")
    await asyncio.to_thread(waiting.api.patch, "Node", "a1", {"metadata": {"labels": {"region": "regionA"}}})
    await bound_at_once(waiting, "p4")


async def test_a_policy_that_goes_renews_the_reason_of_pods_that_wait(waiting: Cluster) -> None:
    await waiting.create(policy({"regionA": 0}))
    await told_again(waiting, "p1", "had 0/0 pods of WorkloadPolicy regions")
    await asyncio.to_thread(waiting.api.delete, "WorkloadPolicy", "regions", NAMESPACE)
    await told_again(waiting, "p1", 'WorkloadPolicy "regions" not found in namespace "workload-test"')


async def test_a_status_that_changes_wakes_nobody(waiting: Cluster) -> None:
    await waiting.create(policy({"regionA": 0}))
    await told_again(waiting, "p1", "had 0/0 pods")
    count = len(await waiting.events("p1", "FailedScheduling"))
    status = {"status": {"current": 0, "desired": 0}}
    await asyncio.to_thread(waiting.api.patch, "WorkloadPolicy", "regions", status, NAMESPACE, "status")
    await asyncio.sleep(1.0)
    assert len(await waiting.events("p1", "FailedScheduling")) == count
