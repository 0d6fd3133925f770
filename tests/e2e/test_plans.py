"""``bayplan rebalancer --plan`` as a process, under the rules that ship: a cluster is shrunk by the plan of ``fit``."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from bayplan.app.install_manifests import manifests
from tests.e2e.audit import Audit, AuditedPlane
from tests.e2e.conftest import RULES
from tests.e2e.replicas import run_cli
from tests.e2e.test_rebalancer import CONFIG, Rebalancers
from tests.support.api import Object
from tests.support.kosmos import installed
from tests.support.live import Cluster, running, until
from tests.support.rebalancing import PodWatch
from tests.support.regions import NAMESPACE, as_printed, controllers, kubelets, of_examples, settled, workload

pytestmark = [pytest.mark.kube, pytest.mark.slow]

PODS = 8
EVICTION = ("", "pods/eviction")


@pytest.fixture(scope="module", autouse=True)
def rules(plane: AuditedPlane) -> Iterator[None]:
    api = plane.api()
    with installed(api):
        texts = manifests("rebalancer"), manifests("rebalancer-plan")
        made = [each for text in texts for each in yaml.safe_load_all(text) if each["kind"] in RULES]
        for document in made:
            api.create(document)
        yield
        for document in made:
            api.delete(document["kind"], document["metadata"]["name"], document["metadata"].get("namespace"))


@pytest.fixture
async def world(cluster: Cluster) -> AsyncIterator[Cluster]:
    async with of_examples(cluster):
        yield cluster


@pytest.fixture
def rebalancers(plane: AuditedPlane, audit: Audit, tmp_path: Path) -> Iterator[Rebalancers]:
    plane.api().delete("Lease", "bayplan-rebalancer", "kube-system")
    made = Rebalancers(plane, tmp_path)
    try:
        yield made
    finally:
        made.close()


@asynccontextmanager
async def spread(world: Cluster, kind: str) -> AsyncIterator[PodWatch]:
    """Eight pods on four nodes, ready, under a disruption budget; two nodes would hold them."""
    await world.nodes(4)
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    meta = {"name": "web", "namespace": NAMESPACE}
    await world.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec})
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(running(world.plane, config=as_printed()))
        await stack.enter_async_context(controllers(world.plane))
        await stack.enter_async_context(kubelets(world))
        watch = await stack.enter_async_context(PodWatch(world).watching())
        made = workload(kind, PODS)
        made["spec"]["template"]["metadata"]["labels"] = {"app": "web"}
        made["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "800m"}}
        await world.create(made)
        await settled(world, placed=PODS, pending=0)
        await until(lambda: watch._ready() == PODS, "all pods to be ready")
        await until(lambda: is_allowed(world), "the budget to allow a disruption")
        watch.begin()
        yield watch


async def is_allowed(world: Cluster) -> bool:
    found = await asyncio.to_thread(world.api.get, "PodDisruptionBudget", "web", NAMESPACE)
    return bool(found.get("status", {}).get("disruptionsAllowed"))


async def planned(plane: AuditedPlane, path: Path) -> dict[str, Any]:
    arguments = ["fit", "--shrink", f"--config={CONFIG}", f"--kubeconfig={plane.kubeconfig()}", "-o", "yaml"]
    code, printed, told = await asyncio.to_thread(run_cli, arguments)
    assert code == 0, told
    path.write_text(printed)
    document: dict[str, Any] = yaml.safe_load(printed)
    return document


async def counts(world: Cluster) -> Counter[str]:
    """Pods by node, those on their way out included."""
    return Counter(pod["spec"].get("nodeName", "") for pod in await world.list())


async def closed(world: Cluster) -> set[str]:
    nodes: list[Object] = await asyncio.to_thread(world.api.list, "Node")
    return {each["metadata"]["name"] for each in nodes if each["spec"].get("unschedulable")}


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
async def test_a_cluster_is_shrunk_as_planned_although_the_process_is_killed_in_the_middle(
    plane: AuditedPlane, world: Cluster, audit: Audit, rebalancers: Rebalancers, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "plan.yaml"
    async with spread(world, kind) as watch:
        plan = await planned(plane, path)
        assert len(plan["empty"]) == 2
        before = await counts(world)
        arguments = ["rebalancer", f"--plan={path}", "--dry-run", f"--config={CONFIG}"]
        code, printed, _ = await asyncio.to_thread(run_cli, [*arguments, f"--kubeconfig={plane.kubeconfig()}"])
        assert code == 0
        assert f"{len(plan['moves'])} moves: {len(plan['moves'])} to make; nodes: 2 to be done" in printed
        assert (await closed(world), watch.gone) == (set(), [])

        first = rebalancers.start(f"--plan={path}")
        await until(lambda: watch.gone, "the first move", 60)
        first.kill()
        # The lease of the one that was killed runs out after 15 seconds.
        second = rebalancers.start(f"--plan={path}")
        assert await asyncio.to_thread(second.ended, 120) == 0, second.log
        after = await counts(world)
        await until(lambda: watch._ready() == PODS, "all pods to be ready")
    assert "2 empty and closed" in second.log
    assert await closed(world) == set(plan["empty"])
    assert not set(plan["empty"]) & set(after)
    # The budget was never broken, and no pod moved that the plan does not name.
    assert watch.least >= PODS - 1
    assert sorted(watch.gone) == sorted(each["name"] for each in plan["moves"])
    done = [each for each in audit.requests() if each.resource == EVICTION and each.is_done]
    assert len(done) == len(plan["moves"])
    # What fit promised: so many pods on each node that stays.
    promised = Counter({name: count for name, count in before.items() if name not in plan["empty"]})
    promised.update(each["to"] for each in plan["moves"])
    assert after == promised
    assert ("patch", "", "nodes") in audit.used()
    assert audit.refused() == []


async def test_a_plan_that_does_not_hold_any_more_ends_with_1_and_touches_nothing(
    plane: AuditedPlane, world: Cluster, rebalancers: Rebalancers, tmp_path: Path
) -> None:
    path = tmp_path / "plan.yaml"
    async with spread(world, "Deployment") as watch:
        plan = await planned(plane, path)
        others = [f"n{number}" for number in range(1, 5) if f"n{number}" not in plan["empty"]]
        for name in others:
            await asyncio.to_thread(world.api.patch, "Node", name, {"spec": {"unschedulable": True}})
        started = rebalancers.start(f"--plan={path}")
        assert await asyncio.to_thread(started.ended, 60) == 1
        assert "its replacement would find no node" in started.log
        assert await closed(world) == set(others)
        assert watch.gone == []
