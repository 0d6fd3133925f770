"""The rebalancer beside the live scheduler, on the real API server with real controllers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from bayplan.app.rebalancer.live import LiveRebalancer
from bayplan.controllers.rebalancer.controller import Settings
from tests.support.api import Object
from tests.support.control_plane import ControlPlane
from tests.support.kosmos import installed
from tests.support.live import Cluster, running, until
from tests.support.rebalancing import PodWatch, condition, policy_status, rebalancing, says
from tests.support.regions import (
    LABEL,
    NAMESPACE,
    as_printed,
    controllers,
    domains,
    kubelets,
    of_examples,
    policy,
    region_node,
    settled,
    workload,
)

pytestmark = [pytest.mark.kube, pytest.mark.slow]

AT_ONCE = {"mode": "Auto", "intervalSeconds": 0, "stabilizationSeconds": 0}
COST = "controller.kubernetes.io/pod-deletion-cost"


@pytest.fixture(scope="module", autouse=True)
def kinds(control_plane: ControlPlane) -> Iterator[None]:
    with installed(control_plane.api()):
        yield


@pytest.fixture
async def world(cluster: Cluster) -> AsyncIterator[Cluster]:
    async with of_examples(cluster):
        yield cluster


def budget(**spec: Any) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


@asynccontextmanager
async def placed(
    world: Cluster, kind: str = "Deployment", numbers: tuple[int, int] = (5, 3), **spec: Any
) -> AsyncIterator[PodWatch]:
    """Five pods in one region and three in the other, ready, under a disruption budget; and who watches them."""
    for name, region in (("a1", "regionA"), ("a2", "regionA"), ("b1", "regionB"), ("b2", "regionB")):
        await world.create(region_node(name, region))
    await world.create(policy({"regionA": numbers[0], "regionB": numbers[1]}, rebalance=AT_ONCE, **spec))
    await world.create(budget(maxUnavailable=1))
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(running(world.plane, config=as_printed()))
        await stack.enter_async_context(controllers(world.plane))
        await stack.enter_async_context(kubelets(world))
        watch = await stack.enter_async_context(PodWatch(world).watching())
        await world.create(workload(kind, sum(numbers)))
        await settled(world, placed=sum(numbers), pending=0)
        await until(lambda: watch._ready() == sum(numbers), "all pods to be ready")
        await until(lambda: allowed(world), "the budget to allow a disruption")
        watch.begin()
        yield watch


async def allowed(world: Cluster) -> bool:
    found = await asyncio.to_thread(world.api.get, "PodDisruptionBudget", "web", NAMESPACE)
    return bool(found.get("status", {}).get("disruptionsAllowed"))


async def change(world: Cluster, numbers: dict[str, int], **spec: Any) -> None:
    listed = [{"name": name, "replicas": number} for name, number in numbers.items()]
    patch = {"spec": {"allocationPolicy": listed, **spec}}
    await asyncio.to_thread(world.api.patch, "WorkloadPolicy", "regions", patch, NAMESPACE)


async def are(world: Cluster, numbers: dict[str, int], timeout_s: float = 40.0) -> None:
    async def reached() -> bool:
        return await domains(world, "region") == numbers

    await until(reached, f"{numbers}", timeout_s)


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
async def test_new_numbers_are_reached_in_two_moves_within_the_disruption_budget(world: Cluster, kind: str) -> None:
    async with placed(world, kind) as watch, rebalancing(world.plane, as_printed()) as live:
        await says(world, "Satisfied", "NumbersMet")
        await change(world, {"regionA": 3, "regionB": 5})
        await are(world, {"regionA": 3, "regionB": 5})
        await says(world, "Satisfied", "NumbersMet")
        await asyncio.sleep(1.5)
        metrics = live.render_metrics().decode()
    assert len(watch.gone) == 2, watch.gone
    assert watch.least >= 7
    assert 'bayplan_rebalancer_moves_total{result="moved"} 2.0' in metrics
    status = await policy_status(world)
    assert status["domains"] == [
        {"name": "regionA", "desired": 3, "current": 3, "ready": 3, "pending": 0},
        {"name": "regionB", "desired": 5, "current": 5, "ready": 5, "pending": 0},
    ]
    assert {key: status[key] for key in ("desired", "current", "ready", "pending", "observedGeneration")} == {
        "desired": 8, "current": 8, "ready": 8, "pending": 0, "observedGeneration": 2,
    }  # fmt: skip
    assert (await condition(world, "Valid"))["status"] == "True"


@pytest.mark.parametrize("mode", ["Off", "DryRun"])
async def test_without_auto_nothing_moves(world: Cluster, mode: str) -> None:
    async with placed(world) as watch, rebalancing(world.plane, as_printed()):
        await change(world, {"regionA": 3, "regionB": 5}, rebalance={"mode": mode})
        await says(world, "Satisfied", "PodsMisplaced")
        await asyncio.sleep(2.0)
        assert await domains(world, "region") == {"regionA": 5, "regionB": 3}
        found = await condition(world, "Rebalancing")
    assert watch.gone == []
    assert found.get("reason") == ("DryRun" if mode == "DryRun" else None)
    if mode == "DryRun":
        assert found["message"].count("(regionA -> regionB)") == 2


async def test_nothing_moves_while_a_domain_is_not_ready(world: Cluster) -> None:
    async with placed(world) as watch, rebalancing(world.plane, as_printed()):
        await ready(world, False, "b1", "b2")
        await change(world, {"regionA": 3, "regionB": 5})
        found = await says(world, "Rebalancing", "OnHold")
        assert found["message"] == "domain regionB is not ready: 2 of 2 nodes"
        await asyncio.sleep(1.0)
        assert watch.gone == []
        await ready(world, True, "b1", "b2")
        await are(world, {"regionA": 3, "regionB": 5})
    assert len(watch.gone) == 2


async def ready(world: Cluster, is_ready: bool, *names: str) -> None:
    status = {"status": {"conditions": [{"type": "Ready", "status": "True" if is_ready else "False"}]}}
    for name in names:
        await asyncio.to_thread(world.api.patch, "Node", name, status, None, "status")


async def test_one_that_was_killed_halfway_is_followed_by_one_that_finishes(world: Cluster) -> None:
    async with placed(world) as watch:
        async with rebalancing(world.plane, as_printed()):
            await change(world, {"regionA": 1, "regionB": 7})
            await until(lambda: watch.gone, "the first move")
        assert len(watch.gone) < 4, "it was stopped in the middle"
        async with rebalancing(world.plane, as_printed()):
            await are(world, {"regionA": 1, "regionB": 7}, 60)
            await says(world, "Satisfied", "NumbersMet")
    assert len(watch.gone) == 4
    assert watch.least >= 7


async def test_a_budget_that_allows_nothing_is_waited_for(world: Cluster) -> None:
    async with placed(world) as watch, rebalancing(world.plane, as_printed()):
        await asyncio.to_thread(
            world.api.patch, "PodDisruptionBudget", "web", {"spec": {"maxUnavailable": 0}}, NAMESPACE
        )
        await until(lambda: refuses(world), "the budget to allow nothing")
        await change(world, {"regionA": 3, "regionB": 5})
        found = await says(world, "Rebalancing", "EvictionRefused")
        assert found["message"].endswith("The disruption budget web needs 8 healthy pods and has 8 currently")
        await asyncio.sleep(1.0)
        assert watch.gone == []
        await asyncio.to_thread(
            world.api.patch, "PodDisruptionBudget", "web", {"spec": {"maxUnavailable": 1}}, NAMESPACE
        )
        await are(world, {"regionA": 3, "regionB": 5}, 60)
    assert watch.least >= 7


async def refuses(world: Cluster) -> bool:
    return not await allowed(world)


async def test_scaling_in_keeps_the_policy(world: Cluster) -> None:
    async with placed(world, numbers=(5, 3)), rebalancing(world.plane, as_printed()):

        async def all_have_costs() -> bool:
            return all(COST in pod["metadata"].get("annotations", {}) for pod in await world.list())

        await until(all_have_costs, "every pod to have a cost")
        await asyncio.to_thread(world.api.patch, "Deployment", "web", {"spec": {"replicas": 5}}, NAMESPACE)
        await are(world, {"regionA": 3, "regionB": 2})


async def test_a_policy_that_cannot_be_used_says_so_and_stops_nobody_else(world: Cluster) -> None:
    async with placed(world), rebalancing(world.plane, as_printed()):
        # What the API server lets pass: it does not look into keys of expressions.
        broken = policy({"regionA": 1})
        broken["metadata"]["name"] = "broken"
        expressions = [{"key": "no such key!", "operator": "Exists"}]
        broken["spec"]["labelSelector"] = {"matchExpressions": expressions}
        await world.create(broken)

        async def told() -> Object | None:
            found = await condition(world, "Valid", "broken")
            return found or None

        found = await until(told, "the broken policy to be told")
        assert (found["status"], found["reason"]) == ("False", "Invalid")
        assert found["message"].startswith("spec.labelSelector.matchExpressions[0].key: ")
        await change(world, {"regionA": 3, "regionB": 5})
        await are(world, {"regionA": 3, "regionB": 5})


async def test_the_status_is_written_only_when_it_says_something_new(world: Cluster) -> None:
    async with placed(world), rebalancing(world.plane, as_printed()):
        await says(world, "Rebalancing", "NothingToMove")
        await asyncio.sleep(0.5)
        found = await asyncio.to_thread(world.api.get, "WorkloadPolicy", "regions", NAMESPACE)
        await asyncio.to_thread(world.api.patch, "Node", "a1", {"metadata": {"labels": {"x": "y"}}})
        await asyncio.sleep(1.5)
        again = await asyncio.to_thread(world.api.get, "WorkloadPolicy", "regions", NAMESPACE)
    assert again["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]


async def test_a_rolling_update_under_required_is_left_alone(world: Cluster) -> None:
    """With matchLabelKeys every revision has its numbers, and the rebalancer keeps out of it."""
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}
    async with placed(world, matchLabelKeys=["pod-template-hash"]) as watch, rebalancing(world.plane, as_printed()):
        template = {"spec": {"containers": [{"name": "c", "image": "web:2"}]}}
        patch = {"spec": {"strategy": strategy, "template": template}}
        await asyncio.to_thread(world.api.patch, "Deployment", "web", patch, NAMESPACE)

        async def is_done() -> bool:
            found = await asyncio.to_thread(world.api.get, "Deployment", "web", NAMESPACE)
            status = found["status"]
            return bool(
                status.get("observedGeneration") == found["metadata"]["generation"]
                and status.get("updatedReplicas") == status.get("replicas") == status.get("availableReplicas") == 8
            )

        await until(is_done, "the rollout", 60)
        await are(world, {"regionA": 5, "regionB": 3})
        await says(world, "Satisfied", "NumbersMet")
    assert len(watch.gone) == 8, "none beside those that the update replaced"
    assert watch.least >= 7


async def test_a_cost_in_the_template_and_a_label_that_is_only_on_the_deployment_are_named_in_the_status(
    world: Cluster,
) -> None:
    async with placed(world), rebalancing(world.plane, as_printed()):
        await says(world, "Satisfied", "NumbersMet")
        assert await condition(world, "Effective") == {}
        annotated = {"spec": {"template": {"metadata": {"annotations": {COST: "100"}}}}}
        await asyncio.to_thread(world.api.patch, "Deployment", "web", annotated, NAMESPACE)
        found = await says(world, "Effective", "OwnDeletionCosts", 60)
        assert f"have a {COST} that the rebalancer did not write" in found["message"]
        moved = {"metadata": {"labels": {LABEL: "regions"}},
                 "spec": {"template": {"metadata": {"labels": {LABEL: None}}}}}  # fmt: skip
        await asyncio.to_thread(world.api.patch, "Deployment", "web", moved, NAMESPACE)
        found = await says(world, "Effective", "PodsWithoutLabel", 60)
        assert found["status"] == "False"
        assert f"write the label {LABEL}: regions under spec.template.metadata.labels" in found["message"]


async def test_costs_can_be_switched_off(world: Cluster) -> None:
    live: LiveRebalancer
    async with placed(world), rebalancing(world.plane, as_printed(), settings=Settings(writes_costs=False)) as live:
        await says(world, "Satisfied", "NumbersMet")
        assert live.is_ready()
        assert not any(COST in pod["metadata"].get("annotations", {}) for pod in await world.list())
