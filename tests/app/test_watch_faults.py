"""What can go wrong while following the cluster: a watch that is cut, outdated, silent, or missed something.

Each on the real API server. After every fault the scheduler must know exactly what there is, no more and no less.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
import structlog
import yaml

from bayplan.engine.events import Event, PodAdded, PodChanged, PodDeleted
from bayplan.engine.intents import Intent
from tests.support.faults import ERROR_410, Answer, Cut, FaultyTransport, Hold, Lines, LostRequest, Silence
from tests.support.live import Cluster, Running, knows_the_cluster, running, until
from tests.support.wire import Wire
from tests.support.witness import Witness

pytestmark = pytest.mark.kube

PODS = "/pods$"


async def test_after_410_it_lists_again_and_learns_only_what_changed(cluster: Cluster, witness: Witness) -> None:
    await cluster.nodes(2)
    async with running(cluster.plane) as run:
        await cluster.pods(4)
        await cluster.all_bound(4)
        await knows_the_cluster(run, cluster)
        informer = next(one for one in run.live.informers if one.kind.name == "Pod")
        handled = _overheard(run)
        lists, watches = informer.lists, informer.watches
        run.faults.on("WATCH", PODS, Lines([ERROR_410]), times=1)
        run.faults.on("WATCH", PODS, LostRequest(), times=2)
        assert run.faults.end_streams(PODS) == 1
        # While nobody watches: one goes, one comes, three stay.
        await cluster.delete("p1")
        await cluster.pod("p5")
        await cluster.bound("p5")
        await knows_the_cluster(run, cluster)
        assert informer.lists == lists + 1
        assert informer.watches > watches
        assert set(handled) == {"p1", "p5"}, "what did not change is not told again"


async def test_a_pod_and_a_node_that_vanish_unseen_are_noticed(cluster: Cluster, witness: Witness) -> None:
    """Deletions that no watch ever showed: only the difference between two lists tells of them."""
    await cluster.node("n1", cpu="1")
    await cluster.node("n2", cpu="1", unschedulable=True)
    async with running(cluster.plane) as run:
        await cluster.pod("p1", cpu="800m")
        await cluster.bound("p1")
        await knows_the_cluster(run, cluster)
        for path in (PODS, "/nodes$"):
            run.faults.on("WATCH", path, Lines([ERROR_410]), times=1)
            run.faults.on("WATCH", path, LostRequest(), times=2)
        assert run.faults.end_streams("/pods$|/nodes$") == 2
        await cluster.delete("p1")
        await cluster.delete("n2", "Node")
        await knows_the_cluster(run, cluster)
        await cluster.pod("p2", cpu="800m")
        assert await cluster.bound("p2") == "n1"


async def test_a_pod_on_its_way_keeps_its_room_when_everything_is_listed_again(
    cluster: Cluster, witness: Witness
) -> None:
    await cluster.node("n1", cpu="1")
    async with running(cluster.plane) as run:
        hold = Hold()
        run.faults.on("POST", "/p1/binding$", hold, times=1)
        await cluster.pod("p1", cpu="800m")
        await hold.reached.wait()
        informer = next(one for one in run.live.informers if one.kind.name == "Pod")
        run.faults.on("WATCH", PODS, Lines([ERROR_410]), times=1)
        run.faults.end_streams(PODS)
        await until(lambda: informer.lists == 2 and informer.watches == 3, "the new list and the next watch")
        assert run.live.engine.cache.assumed_count == 1
        await cluster.pod("p2", cpu="800m")
        await cluster.unschedulable("p2")
        hold.go.set()
        assert await cluster.bound("p1") == "n1"
        await knows_the_cluster(run, cluster)
        assert run.live.engine.cache.assumed_count == 0


async def test_a_watch_that_breaks_goes_on_where_it_was(cluster: Cluster, witness: Witness) -> None:
    await cluster.nodes(2)

    def prepare(faults: FaultyTransport) -> None:
        faults.on("WATCH", PODS, Cut(after=2), times=3)

    async with running(cluster.plane, prepare=prepare) as run:
        for number in range(1, 7):
            await cluster.pod(f"p{number}")
        await cluster.all_bound(6)
        await knows_the_cluster(run, cluster)
        informer = next(one for one in run.live.informers if one.kind.name == "Pod")
        assert informer.lists == 1, "no need to list again"
        assert informer.watches >= 4


async def test_a_watch_that_falls_silent_is_given_up(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()

    def prepare(faults: FaultyTransport) -> None:
        faults.on("WATCH", PODS, Silence(), times=1)

    async with running(cluster.plane, silence_s=1.0, prepare=prepare):
        await cluster.pod()
        await cluster.bound("p1", timeout_s=5)


async def test_a_quiet_cluster_keeps_its_watches_and_logs_nothing(cluster: Cluster, witness: Witness) -> None:
    await cluster.nodes(2)
    async with running(cluster.plane, silence_s=0.3) as run:
        await cluster.pods(2)
        await cluster.all_bound(2)
        await knows_the_cluster(run, cluster)
        watches = {each.kind.name: each.watches for each in run.live.informers}
        asked = run.faults.count("WATCH", "")
        with structlog.testing.capture_logs() as logs:
            await until(lambda: run.faults.count("WATCH", "") >= asked + 3 * len(watches), "questions", 30)
            await cluster.pod("p3")
            await cluster.bound("p3")
        assert {each.kind.name: each.watches for each in run.live.informers} == watches
        assert [entry for entry in logs if entry["log_level"] not in ("debug", "info")] == []


async def test_a_network_that_swallows_everything_without_a_word_is_noticed(
    cluster: Cluster, witness: Witness, tmp_path: Path
) -> None:
    """As a firewall that forgot a connection: it stays open, and nothing arrives any more."""
    await cluster.node("n1", cpu="1")
    host, port = cluster.plane.server.removeprefix("https://").split(":")
    async with Wire(host, int(port)) as wire:
        kubeconfig = _through(wire, cluster, tmp_path)
        async with running(cluster.plane, kubeconfig=kubeconfig, silence_s=1.0) as run:
            await cluster.pod("p1", cpu="800m")
            await cluster.bound("p1")
            await cluster.event("p1", "Scheduled")  # so that connections lie idle: the next bind must not trust them
            wire.freeze()
            frozen_at = time.monotonic()
            await cluster.delete("p1")
            await cluster.pod("p2", cpu="800m")
            await cluster.bound("p2", timeout_s=8)
            assert time.monotonic() - frozen_at > 0.5, "it did notice by waiting"
            await knows_the_cluster(run, cluster)


async def test_a_network_that_breaks_is_waited_for(cluster: Cluster, witness: Witness, tmp_path: Path) -> None:
    await cluster.node()
    host, port = cluster.plane.server.removeprefix("https://").split(":")
    async with (
        Wire(host, int(port)) as wire,
        running(cluster.plane, kubeconfig=_through(wire, cluster, tmp_path)) as run,
    ):
        await cluster.pod("p1")
        await cluster.bound("p1")
        await wire.cut()
        await cluster.pods(3, prefix="later")
        await asyncio.sleep(1.0)
        assert not run.task.done()
        wire.mend()
        await cluster.all_bound(4)
        await knows_the_cluster(run, cluster)


async def test_a_throttled_or_failing_list_holds_the_start_up_no_longer_than_needed(cluster: Cluster) -> None:
    await cluster.node()

    def prepare(faults: FaultyTransport) -> None:
        faults.on("GET", PODS, Answer(429, "slow down", headers={"Retry-After": "1"}), times=1)
        faults.on("GET", "/nodes$", Answer(500, "not yet"), times=2)
        faults.on("WATCH", "/nodes$", Answer(503, "not yet"), times=1)

    async with running(cluster.plane, prepare=prepare):
        await cluster.pod()
        await cluster.bound()


def _overheard(run: Running) -> list[str]:
    """The names of pods that the engine is told of from now on."""
    names: list[str] = []
    handle = run.live.engine.handle

    def overhearing(event: Event) -> list[Intent]:
        if isinstance(event, (PodAdded, PodDeleted)):
            names.append(event.pod.name)
        elif isinstance(event, PodChanged):
            names.append(event.new.name)
        return handle(event)

    run.live.engine.handle = overhearing  # type: ignore[method-assign]
    return names


def _through(wire: Wire, cluster: Cluster, folder: Path) -> Path:
    """The kubeconfig, with the wire in between."""
    document = yaml.safe_load(cluster.plane.kubeconfig().read_text())
    document["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{wire.port}"
    path = folder / "through.kubeconfig"
    path.write_text(yaml.safe_dump(document))
    return path
