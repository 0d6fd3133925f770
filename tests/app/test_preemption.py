"""Preemption on the real API server: what victims and preemptor are told, in which order, and when it fails."""

from __future__ import annotations

import asyncio

import pytest

from tests.support.api import Object
from tests.support.faults import Answer
from tests.support.live import Cluster, running, until
from tests.support.witness import Witness

pytestmark = pytest.mark.kube


async def _priorities(cluster: Cluster) -> None:
    for name, value in (("low", 1), ("middle", 10), ("high", 100)):
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
        await cluster.create(kind | {"value": value})


async def _terminating(cluster: Cluster, name: str) -> Object:
    async def gone() -> Object | None:
        pod = await cluster.get(name)
        return pod if pod["metadata"].get("deletionTimestamp") else None

    return await until(gone, f"{name} to be deleted")  # type: ignore[no-any-return]


async def test_a_victim_is_told_why_and_makes_room(cluster: Cluster, witness: Witness) -> None:
    await _priorities(cluster)
    await cluster.node("n1", cpu="1")
    async with running(cluster.plane) as run:
        await cluster.pod("low", cpu="800m", priorityClassName="low")
        await cluster.bound("low")
        await cluster.pod("high", cpu="800m", priorityClassName="high")
        victim = await _terminating(cluster, "low")

        async def nominated() -> bool:
            return bool((await cluster.get("high"))["status"].get("nominatedNodeName") == "n1")

        await until(nominated, "the nomination")
        preemptor, condition = await cluster.get("high"), await cluster.unschedulable("high")
        event = await cluster.event("low", "Preempted")
        assert "nodeName" not in preemptor["spec"], "the victim still runs"
        await cluster.delete("low")  # as its kubelet would, once its containers have ended
        assert await cluster.bound("high") == "n1"
    (target,) = [one for one in victim["status"]["conditions"] if one["type"] == "DisruptionTarget"]
    assert (target["status"], target["reason"]) == ("True", "PreemptionByScheduler")
    assert target["message"] == "bayplan: preempting to accommodate a higher priority pod"
    assert condition["message"] == "0/1 nodes are available: 1 Insufficient cpu."
    assert (event["type"], event["action"]) == ("Normal", "Preempting")
    assert event["message"] == f"Preempted by pod {preemptor['metadata']['uid']} on node n1"
    assert event["related"]["uid"] == preemptor["metadata"]["uid"]
    order = [path.rsplit("/", 1)[-1] for method, path in run.faults.seen if method in ("PATCH", "DELETE")]
    assert order.index("low") > order.index("status"), "the condition comes before the deletion"
    assert [body for _, path, body in run.faults.bodies if path.endswith("/low") and "preconditions" in body] == [
        {"preconditions": {"uid": victim["metadata"]["uid"]}}
    ]


async def test_a_pod_that_lost_its_place_to_a_higher_one_loses_its_nomination(
    cluster: Cluster, witness: Witness
) -> None:
    await _priorities(cluster)
    await cluster.node("n1", cpu="1")

    async def nominated(name: str) -> str | None:
        status: Object = (await cluster.get(name))["status"]
        return status.get("nominatedNodeName")

    async with running(cluster.plane):
        await cluster.pod("low", cpu="800m", priorityClassName="low")
        await cluster.bound("low")
        await cluster.pod("middle", cpu="800m", priorityClassName="middle")
        await until(lambda: nominated("middle"), "the first nomination")
        await cluster.pod("high", cpu="800m", priorityClassName="high")
        await until(lambda: nominated("high"), "the second nomination")

        async def cleared() -> bool:
            return await nominated("middle") is None

        await until(cleared, "the first nomination to be cleared")
        await cluster.delete("low")
        assert await cluster.bound("high") == "n1"
        assert "nodeName" not in (await cluster.get("middle"))["spec"]


async def test_a_preemption_that_is_refused_is_tried_again_but_not_in_a_rush(
    cluster: Cluster, witness: Witness
) -> None:
    await _priorities(cluster)
    await cluster.node("n1", cpu="1")
    async with running(cluster.plane) as run:
        await cluster.pod("low", cpu="800m", priorityClassName="low")
        await cluster.bound("low")
        refused = run.faults.on("DELETE", "/low$", Answer(403, "not today", "Forbidden"))
        await cluster.pod("high", cpu="800m", priorityClassName="high")
        await until(lambda: refused.hits >= 1, "the first try")
        await asyncio.sleep(0.5)
        assert refused.hits == 1, "a pause lies between two tries"
        run.faults.clear()
        await _terminating(cluster, "low")
        await cluster.delete("low")
        assert await cluster.bound("high") == "n1"


async def test_a_victim_that_is_gone_already_is_no_failure(cluster: Cluster, witness: Witness) -> None:
    await _priorities(cluster)
    await cluster.node("n1", cpu="1")
    async with running(cluster.plane) as run:
        await cluster.pod("low", cpu="800m", priorityClassName="low")
        await cluster.bound("low")
        run.faults.on("PATCH", "/low/status$", Answer(404, "pods not found", "NotFound"))
        await cluster.pod("high", cpu="800m", priorityClassName="high")
        await until(lambda: run.faults.count("PATCH", "/low/status$") == 1, "the first try")
        await cluster.delete("low")
        assert await cluster.bound("high") == "n1"
    metrics = run.live.render_metrics().decode()
    assert 'scheduler_preemption_goroutines_execution_total{result="success"} 1.0' in metrics
