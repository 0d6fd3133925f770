"""The live scheduler on the real API server, when nothing goes wrong.

Binding, events, conditions and their exact texts, other schedulers' pods, profiles, gates, a burst of pods.
"""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.support.faults import Hold
from tests.support.live import Cluster, config_of, running, scheduled_condition, until
from tests.support.witness import Witness

pytestmark = pytest.mark.kube


async def test_pods_are_bound_and_told_so(cluster: Cluster, witness: Witness) -> None:
    await cluster.nodes(2)
    async with running(cluster.plane):
        await cluster.pods(3)
        node = await cluster.bound("p1")
        await cluster.all_bound(3)
        event = await cluster.event("p1", "Scheduled")
    pod = await cluster.get("p1")
    condition = scheduled_condition(pod)
    assert condition is not None
    assert condition["status"] == "True"
    assert event["type"] == "Normal"
    assert event["action"] == "Binding"
    assert event["message"] == f"Successfully assigned {cluster.namespace}/p1 to {node}"
    assert event["reportingComponent"] == "bayplan"
    assert event["reportingInstance"] == f"bayplan-{socket.gethostname()}"
    assert event["involvedObject"]["uid"] == pod["metadata"]["uid"]


async def test_a_pod_that_fits_nowhere_is_told_why_in_kube_schedulers_words(cluster: Cluster, witness: Witness) -> None:
    await cluster.node("full", cpu="1")
    await cluster.node("reserved", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    await cluster.pod("there", cpu="600m", nodeName="full")
    text = (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). "
        "no new claims to deallocate, preemption: 0/2 nodes are available: "
        "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    )
    theirs = await asyncio.to_thread(cluster.plane.start_kube_scheduler, verbosity=2)
    try:
        async with running(cluster.plane):
            await cluster.pod("p1", cpu="800m")
            await cluster.pod("p2", cpu="800m", schedulerName="default-scheduler")
            condition, real = await cluster.unschedulable("p1"), await cluster.unschedulable("p2")
            event = await cluster.event("p1", "FailedScheduling")
    finally:
        await asyncio.to_thread(theirs.stop)
    assert (condition["reason"], condition["message"]) == ("Unschedulable", text)
    times = ("lastTransitionTime",)
    assert {k: v for k, v in condition.items() if k not in times} == {k: v for k, v in real.items() if k not in times}
    assert (event["type"], event["action"], event["message"]) == ("Warning", "Scheduling", text)


@pytest.mark.parametrize("others", [0, 2])
async def test_a_new_node_takes_a_waiting_pod_without_waiting_for_a_flush(
    cluster: Cluster, witness: Witness, others: int
) -> None:
    await cluster.nodes(others, cpu="1")
    async with running(cluster.plane):
        await cluster.pod("p1", cpu="2")
        condition = await cluster.unschedulable("p1")
        await asyncio.sleep(1.5)  # long enough for a longer backoff to begin where there is one
        await cluster.node("new")
        assert await cluster.bound("p1") == "new"
    text = "0/2 nodes are available: 2 Insufficient cpu." if others else "no nodes available to schedule pods"
    assert condition["message"].startswith(text)


async def test_a_condition_that_stays_the_same_is_written_once(cluster: Cluster) -> None:
    await cluster.node("n1", cpu="1")
    async with running(cluster.plane) as run:
        await cluster.pod("p1", cpu="2")
        first = await cluster.unschedulable("p1")
        queue = run.live.engine.queue
        (queued,) = [entry for _, entry in queue.entries()]
        await until(lambda: queued.pod.condition("PodScheduled") is not None, "the watch to show the condition")
        for _ in range(2):
            queue.activate([queued.pod])
            run.live._executor.woken.set()
            await until(lambda: queue.where(queued.pod.uid) == "unschedulable", "the end of another attempt")
        assert queued.attempts == 3
        await until(lambda: run.live._recorder.waiting == 0, "events to be written")
        await asyncio.sleep(0.1)
    assert run.faults.count("PATCH", "/p1/status$") == 1
    assert scheduled_condition(await cluster.get("p1")) == first
    _, event = await cluster.events("p1", "FailedScheduling")
    assert event["series"]["count"] == 2, "the same about the same version of a pod becomes a series"


async def test_pods_of_other_schedulers_are_left_alone(cluster: Cluster) -> None:
    await cluster.node()
    async with running(cluster.plane) as run:
        await cluster.pod("theirs", schedulerName="default-scheduler")
        await cluster.pod("ours")
        await cluster.bound("ours")
        await asyncio.sleep(0.3)
    theirs = await cluster.get("theirs")
    assert "nodeName" not in theirs["spec"]
    assert scheduled_condition(theirs) is None
    assert run.faults.count("POST", "/theirs/") == 0


async def test_the_real_kube_scheduler_works_beside_it_on_the_same_nodes(cluster: Cluster) -> None:
    await cluster.nodes(2, cpu="1")
    async with Witness(cluster.plane, ("bayplan", "default-scheduler")) as witness:
        theirs = await asyncio.to_thread(cluster.plane.start_kube_scheduler, verbosity=2)
        try:
            async with running(cluster.plane):
                for number in range(1, 6):
                    await cluster.pod(f"a{number}", schedulerName="default-scheduler")
                    await cluster.pod(f"b{number}")
                await cluster.all_bound(10)
                ours, real = await cluster.event("b1", "Scheduled"), await cluster.event("a1", "Scheduled")
        finally:
            await asyncio.to_thread(theirs.stop)
        await witness.judge()
    assert (ours["reportingComponent"], real["reportingComponent"]) == ("bayplan", "default-scheduler")
    same = ("type", "reason", "action", "kind", "apiVersion")
    assert {key: ours[key] for key in same} == {key: real[key] for key in same}
    assert ours["involvedObject"].keys() == real["involvedObject"].keys()


async def test_each_profile_schedules_its_own_pods_by_its_own_rules(cluster: Cluster, witness: Witness) -> None:
    await cluster.node("n1", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    careless = {
        "schedulerName": "careless",
        "plugins": {"filter": {"disabled": [{"name": "TaintToleration"}]}},
    }
    config = config_of(profiles=[{"schedulerName": "bayplan"}, careless])
    async with running(cluster.plane, config=config):
        await cluster.pod("strict")
        await cluster.pod("careless", schedulerName="careless")
        assert await cluster.bound("careless") == "n1"
        event = await cluster.event("careless", "Scheduled")
        condition = await cluster.unschedulable("strict")
    assert event["reportingComponent"] == "careless"
    assert "untolerated taint" in condition["message"]


async def test_nothing_is_written_about_a_gated_pod_until_its_gate_opens(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    async with running(cluster.plane) as run:
        await cluster.pod("p1", schedulingGates=[{"name": "example.com/wait"}])
        await until(lambda: run.live.engine.queue.pending()["gated"] == 1, "the pod to be gated")
        await asyncio.sleep(0.3)
        assert run.faults.count("PATCH", "/p1") == run.faults.count("POST", "/p1") == 0
        assert run.faults.count("POST", "/events$") == 0
        await asyncio.to_thread(cluster.api.patch, "Pod", "p1", {"spec": {"schedulingGates": None}}, cluster.namespace)
        await cluster.bound("p1")


async def test_a_burst_is_bound_and_events_catch_up(cluster: Cluster, witness: Witness) -> None:
    await cluster.nodes(5, cpu="16")
    async with running(cluster.plane) as run:
        await cluster.pods(150)
        await cluster.all_bound(150)
        await until(lambda: run.live._recorder.waiting == 0, "events to be written", timeout_s=20)
        await until(lambda: run.live.engine.cache.assumed_count == 0, "the binds to be confirmed")
    events = await asyncio.to_thread(cluster.api.list, "Event", cluster.namespace)
    assert len([one for one in events if one["reason"] == "Scheduled"]) == 150


async def test_stopping_lets_binds_under_way_end_and_starts_no_more(cluster: Cluster) -> None:
    await cluster.node()
    async with running(cluster.plane) as run:
        hold = Hold()
        run.faults.on("POST", "/under-way/binding$", hold)
        await cluster.pod("under-way")
        await hold.reached.wait()
        stopping = asyncio.ensure_future(run.stop())
        await until(lambda: run.live.is_stopping, "the stop to begin")
        await cluster.pod("too-late")
        hold.go.set()
        await stopping
    assert await cluster.bound("under-way") == "n1"
    assert await cluster.event("under-way", "Scheduled")
    assert "nodeName" not in (await cluster.get("too-late"))["spec"]


async def test_stopping_takes_no_longer_than_it_must_when_binds_hang(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayplan.app.scheduler.live.SHUTDOWN_S", 0.3)
    await cluster.node()
    async with running(cluster.plane) as run:
        hold = Hold()
        run.faults.on("POST", "/binding$", hold)
        await cluster.pods(5)
        await hold.reached.wait()
        await run.stop()
        assert not hold.go.is_set(), "it ended although no bind was answered"


async def test_a_part_that_breaks_ends_the_whole(cluster: Cluster) -> None:
    """A scheduler that no longer hears of the cluster must not go on as if it did: it ends, to be started anew."""
    async with running(cluster.plane) as run:
        informer = run.live.informers[0]
        informer._follow = None  # type: ignore[method-assign,assignment]
        await cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": cluster.namespace + "-b"}})
        assert informer.kind.name == "Namespace"
        with pytest.raises(TypeError):
            await asyncio.wait_for(asyncio.shield(run.task), 5)
