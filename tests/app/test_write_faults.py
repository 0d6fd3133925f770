"""What can go wrong between a decision and a bind, each on the real API server.

Conflicts, lost answers, throttling, server errors, refused events, and pods and nodes that change while in flight.
The witness checks every time that no pod was on two nodes, no node was overfull and no pod was forgotten.
"""

from __future__ import annotations

import asyncio
import time

import pytest

from bayplan.framework import CycleState, PermitPlugin
from bayplan.framework.results import Wait
from bayplan.objects.pod import Pod
from tests.support.faults import Answer, Delay, Hold, LostAnswer, LostRequest
from tests.support.live import Cluster, running, scheduled_condition, until
from tests.support.witness import Witness

pytestmark = pytest.mark.kube

BINDING = "/binding$"


async def test_a_pod_that_somebody_else_bound_first_is_left_there(cluster: Cluster, witness: Witness) -> None:
    await cluster.nodes(2, cpu="1")
    async with running(cluster.plane) as run:
        hold = Hold()
        run.faults.on("POST", BINDING, hold, times=1)
        await cluster.pod("p1", cpu="800m")
        await hold.reached.wait()
        (_, _, binding) = next(body for body in run.faults.bodies if body[1].endswith("/binding"))
        chosen = binding["target"]["name"]
        other = "n2" if chosen == "n1" else "n1"
        await cluster.bind("p1", other)
        hold.go.set()
        cache = run.live.engine.cache
        uid = (await cluster.get("p1"))["metadata"]["uid"]
        await until(lambda: cache.pod(uid) and not cache.is_assumed(uid), "the cache to learn of it")
        await until(lambda: run.live._executor.binding_cycles == 0, "the binding cycle to end")
        await cluster.pod("p2", cpu="800m")
        assert await cluster.bound("p2") == chosen, "the room that was not used is free again"
        await asyncio.sleep(0.3)
    pod = await cluster.get("p1")
    condition = scheduled_condition(pod)
    assert pod["spec"]["nodeName"] == other
    assert condition is not None
    assert condition["status"] == "True"
    assert await cluster.events("p1", "FailedScheduling") == []
    assert run.faults.count("POST", f"/p1{BINDING}") == 1


async def test_a_bind_whose_answer_was_lost_counts_as_done(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    async with running(cluster.plane) as run:
        run.faults.on("POST", BINDING, LostAnswer(), times=1)
        await cluster.pod()
        await cluster.bound()
        event = await cluster.event("p1", "Scheduled")
    assert event["message"].endswith(" to n1")
    assert await cluster.events("p1", "FailedScheduling") == []
    assert run.faults.count("POST", BINDING) == 1, "it was read, not bound again"


async def test_a_bind_that_never_arrived_is_sent_again(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    async with running(cluster.plane) as run:
        run.faults.on("POST", BINDING, LostRequest(), times=2)
        await cluster.pod()
        await cluster.bound()
        await cluster.event("p1", "Scheduled")
    assert run.faults.count("POST", BINDING) == 3
    assert await cluster.events("p1", "FailedScheduling") == []


async def test_a_bind_that_takes_longer_than_our_patience_is_settled_by_reading(
    cluster: Cluster, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayplan.kube.writer.BIND_TIMEOUT_S", 0.3)
    await cluster.node()
    async with running(cluster.plane) as run:
        run.faults.on("POST", BINDING, Delay(5, answer=True), times=1)
        await cluster.pod()
        await cluster.event("p1", "Scheduled")
    assert run.faults.count("POST", BINDING) == 1


async def test_throttling_is_obeyed(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    async with running(cluster.plane) as run:
        run.faults.on("POST", BINDING, Answer(429, "slow down", headers={"Retry-After": "1"}), times=1)
        started = time.monotonic()
        await cluster.pod()
        await cluster.bound()
        assert time.monotonic() - started > 0.8
    assert await cluster.events("p1", "FailedScheduling") == []


async def test_throttling_makes_for_fewer_binds_at_once_until_it_is_over(cluster: Cluster, witness: Witness) -> None:
    await cluster.nodes(3, cpu="16")
    async with running(cluster.plane) as run:
        pace = run.live._writer._pace
        usual = pace.limit
        run.faults.on("POST", BINDING, Answer(429, "slow down", headers={"Retry-After": "1"}), times=10)
        await cluster.pods(40, cpu="100m")
        await until(lambda: pace.limit < usual, "fewer binds at once")
        await cluster.all_bound(40)
        lowest = pace.limit
        await cluster.pods(40, cpu="100m", prefix="later")
        await cluster.all_bound(80)
        assert lowest < pace.limit <= usual
    assert run.faults.count("POST", BINDING) == 90
    assert await cluster.events("p1", "FailedScheduling") == []


async def test_server_errors_that_pass_are_waited_out(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    async with running(cluster.plane) as run:
        run.faults.on("POST|PATCH", "", Answer(500, "etcdserver: leader changed"), times=2)
        await cluster.pod()
        await cluster.bound()
        await cluster.event("p1", "Scheduled")
    assert await cluster.events("p1", "FailedScheduling") == []


async def test_a_pod_whose_bind_always_fails_backs_off_while_others_go_on(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    async with running(cluster.plane) as run:
        broken = run.faults.on("POST", f"/bad{BINDING}", Answer(500, "no luck"))
        await cluster.pod("bad")
        condition = await cluster.unschedulable("bad")
        await cluster.pods(5)
        await cluster.all_bound(5)
        tries = broken.hits
        assert tries == 4, "a server error is taken for an answer at some point"
        run.faults.clear()
        await cluster.bound("bad")
    assert condition["reason"] == "SchedulerError"
    assert 'running Bind plugin "DefaultBinder"' in condition["message"]
    assert "no luck" in condition["message"]


async def test_events_that_are_refused_do_not_keep_pods_from_being_bound(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    async with running(cluster.plane) as run:
        run.faults.on("POST", "/events$", Answer(403, "no events for you", "Forbidden"))
        await cluster.pods(10)
        await cluster.all_bound(10)
        await until(lambda: run.live._recorder.dropped == 10, "the events to be dropped")


async def test_events_that_hang_do_not_keep_pods_from_being_bound(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    async with running(cluster.plane) as run:
        hold = Hold()
        run.faults.on("POST", "/events$", hold)
        await cluster.pods(10)
        await cluster.all_bound(10)
        hold.go.set()
        await cluster.event("p1", "Scheduled")


async def test_a_pod_deleted_in_flight_gives_its_room_back(cluster: Cluster, witness: Witness) -> None:
    await cluster.node("n1", cpu="1")
    async with running(cluster.plane) as run:
        hold = Hold()
        run.faults.on("POST", f"/p1{BINDING}", hold, times=1)
        await cluster.pod("p1", cpu="800m")
        await hold.reached.wait()
        await cluster.delete("p1")
        hold.go.set()
        await until(lambda: run.live.engine.cache.pod_count == 0, "the room to be free")
        await cluster.pod("p2", cpu="800m")
        await cluster.bound("p2")
        assert await cluster.events("p1", "FailedScheduling") == []


async def test_a_pod_made_anew_under_the_same_name_in_flight_is_scheduled_for_itself(
    cluster: Cluster, witness: Witness
) -> None:
    await cluster.nodes(2, cpu="1")
    async with running(cluster.plane) as run:
        first, second = Hold(), Hold()
        run.faults.on("POST", f"/p1{BINDING}", first, times=1)
        run.faults.on("POST", f"/p1{BINDING}", second, times=1)
        await cluster.pod("p1", nodeSelector={"kubernetes.io/hostname": "n1"})
        await first.reached.wait()
        old = await cluster.get("p1")
        await cluster.delete("p1")
        new = await cluster.pod("p1", nodeSelector={"kubernetes.io/hostname": "n2"})
        await second.reached.wait()
        # The bind meant for the old pod arrives first, and finds a pod of that name.
        first.go.set()
        await until(lambda: run.live._executor.binding_cycles == 1, "the first cycle to end")
        second.go.set()
        assert await cluster.bound("p1") == "n2"
        cache = run.live.engine.cache
        await until(lambda: cache.assumed_count == 0 and cache.pod_count, "the bind to be confirmed")
        assert [(pod.uid, pod.node_name) for pod in cache.pods()] == [(new["metadata"]["uid"], "n2")]
    assert witness.nodes_of(old["metadata"]["uid"]) == []


async def test_a_node_deleted_in_flight_is_not_chosen_again(cluster: Cluster, witness: Witness) -> None:
    await cluster.node("n1", cpu="2")
    async with running(cluster.plane) as run:
        hold = Hold()
        run.faults.on("POST", f"/p1{BINDING}", hold, times=1)
        await cluster.pod("p1")
        await hold.reached.wait()
        await cluster.delete("n1", "Node")
        await until(lambda: len(run.live.engine.cache.nodes) == 0, "the node to be gone")
        hold.go.set()
        await cluster.node("n2")
        await cluster.pod("p2")
        assert await cluster.bound("p2") == "n2"
        # The API server does not look whether the node exists: the pod is on a ghost, and known to be there.
        assert await cluster.bound("p1") == "n1"
        await until(lambda: run.live.engine.cache.assumed_count == 0, "the bind to be confirmed")
        await cluster.delete("p1")
        await until(lambda: run.live.engine.cache.pod_count == 1, "the ghost to go")


async def test_a_node_tainted_in_flight_takes_no_more_pods(cluster: Cluster, witness: Witness) -> None:
    await cluster.node("n1")
    async with running(cluster.plane) as run:
        hold = Hold()
        run.faults.on("POST", f"/p1{BINDING}", hold, times=1)
        await cluster.pod("p1")
        await hold.reached.wait()
        taint = {"spec": {"taints": [{"key": "going", "effect": "NoSchedule"}]}}
        await asyncio.to_thread(cluster.api.patch, "Node", "n1", taint)
        await until(lambda: run.live.engine.cache.nodes.objects[0].taints, "the taint to be seen")
        hold.go.set()
        assert await cluster.bound("p1") == "n1"
        await cluster.pod("p2")
        condition = await cluster.unschedulable("p2")
    assert "untolerated taint" in condition["message"]
    assert run.faults.count("POST", BINDING) == 1


async def test_a_status_on_its_way_is_never_written_after_the_bind(cluster: Cluster, witness: Witness) -> None:
    """A slow "not scheduled" must not arrive when the pod has a node."""
    async with running(cluster.plane) as run:
        hold = Hold()
        run.faults.on("PATCH", "/p1/status$", hold, times=1)
        await cluster.pod("p1")
        await hold.reached.wait()
        await cluster.node("n1")
        await until(lambda: run.live._executor.binding_cycles == 1, "the next attempt")
        await asyncio.sleep(0.2)
        assert run.faults.count("POST", BINDING) == 0, "the bind waits for the patch"
        hold.go.set()
        await cluster.bound("p1")
    condition = scheduled_condition(await cluster.get("p1"))
    assert condition is not None
    assert condition["status"] == "True"


async def test_binds_that_are_not_answered_hold_scheduling_back(
    cluster: Cluster, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayplan.app.scheduler.live.MAX_UNANSWERED", 3)
    await cluster.node()
    async with running(cluster.plane) as run:
        hold = Hold()
        run.faults.on("POST", BINDING, hold)
        await cluster.pods(3, prefix="first")
        await until(lambda: run.live._writer.binding == 3, "three binds under way")
        await cluster.pods(4, prefix="later")
        queue = run.live.engine.queue
        await until(lambda: queue.pending()["active"] == 4, "the others to wait in the queue")
        await asyncio.sleep(0.2)
        assert queue.pending()["active"] == 4
        hold.go.set()
        await cluster.all_bound(7)


class Patient(PermitPlugin):
    """Holds pods with the label ``hold`` for a long time."""

    name = "Patient"

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Wait | None:
        return Wait(60.0) if "hold" in pod.labels else None


async def test_pods_that_wait_on_permit_are_in_nobodys_way(
    cluster: Cluster, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many they are: a gang that waits for its last member must not keep it from being bound."""
    monkeypatch.setattr("bayplan.app.scheduler.live.MAX_UNANSWERED", 2)
    monkeypatch.setattr("bayplan.kube.writer.MAX_BINDING", 2)
    await cluster.node()
    async with running(cluster.plane, plugins=[Patient]) as run:
        for number in range(1, 6):
            await cluster.pod(f"held{number}", metadata={"labels": {"hold": "yes"}})
        waiting = run.live.engine.waiting
        await until(lambda: len(list(waiting.list())) == 5, "five pods to wait")
        await cluster.pods(3)
        await asyncio.gather(*(cluster.bound(f"p{number}") for number in (1, 2, 3)))
        for held in waiting.list():
            held.allow("Patient")
        await cluster.all_bound(8)
