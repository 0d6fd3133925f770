"""``bayplan rebalancer`` as a process, under the rules that ship for it: moves, a kill in the middle, a dry run."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from bayplan.app.install_manifests import manifests
from tests.e2e.audit import Audit, AuditedPlane
from tests.e2e.conftest import RULES
from tests.e2e.replicas import Replica, run_cli
from tests.e2e.test_permissions import metrics
from tests.support.kosmos import EXAMPLES, installed
from tests.support.live import Cluster, running, until
from tests.support.processes import ProcessGroup, free_ports
from tests.support.rebalancing import PodWatch
from tests.support.regions import (
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

ACCOUNT = "/api/v1/namespaces/kube-system/serviceaccounts/bayplan-rebalancer"
CONFIG = EXAMPLES / "scheduler-config.yaml"
AT_ONCE = {"mode": "Auto", "stabilizationSeconds": 0, "intervalSeconds": 0}
# Read only after an answer that was lost.
AFTER_TROUBLE = {("get", "", "pods"), ("get", "kosmos.io", "workloadpolicies")}
# For events that repeat, and for a kind that is not served here.
NOT_HERE = {("patch", "events.k8s.io", "events"), ("watch", "resource.k8s.io", "devicetaintrules")}


@pytest.fixture(scope="module", autouse=True)
def rules(plane: AuditedPlane) -> Iterator[None]:
    api = plane.api()
    with installed(api):
        made = [each for each in yaml.safe_load_all(manifests("rebalancer")) if each["kind"] in RULES]
        for document in made:
            api.create(document)
        yield
        for document in made:
            api.delete(document["kind"], document["metadata"]["name"], document["metadata"].get("namespace"))


@pytest.fixture
async def world(cluster: Cluster) -> AsyncIterator[Cluster]:
    async with of_examples(cluster):
        yield cluster


class Rebalancers:
    """Starts processes."""

    def __init__(self, plane: AuditedPlane, folder: Path) -> None:
        self._plane, self._folder = plane, folder
        self._processes = ProcessGroup()
        self.count = 0

    def start(self, *flags: str) -> Replica:
        self.count += 1
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        token = str(self._plane.api().call("POST", f"{ACCOUNT}/token", body)["status"]["token"])
        document = yaml.safe_load(self._plane.kubeconfig().read_text())
        document["users"][0]["user"] = {"token": token}
        kubeconfig = self._folder / f"rebalancer-{self.count}.kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(document))
        command = [sys.executable, "-m", "bayplan", "rebalancer", f"--config={CONFIG}", f"--kubeconfig={kubeconfig}"]
        command += ["--secure-port=0", *flags]
        return Replica(self._processes.start(command, self._folder / f"rebalancer-{self.count}.log"), token)

    def close(self) -> None:
        self._processes.close()


@pytest.fixture
def rebalancers(plane: AuditedPlane, audit: Audit, tmp_path: Path) -> Iterator[Rebalancers]:
    plane.api().delete("Lease", "bayplan-rebalancer", "kube-system")
    made = Rebalancers(plane, tmp_path)
    try:
        yield made
    finally:
        made.close()


def allowed() -> set[tuple[str, str, str]]:
    found: set[tuple[str, str, str]] = set()
    for document in yaml.safe_load_all(manifests("rebalancer")):
        for rule in document.get("rules", ()):
            found.update(product(rule["verbs"], rule["apiGroups"], rule["resources"]))
    return found


async def prepared(world: Cluster) -> None:
    for name, region in (("a1", "regionA"), ("b1", "regionB")):
        await world.create(region_node(name, region))
    await world.create(policy({"regionA": 5, "regionB": 3}, rebalance=AT_ONCE))
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    meta = {"name": "web", "namespace": NAMESPACE}
    await world.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec})


async def change(world: Cluster, numbers: dict[str, int]) -> None:
    listed = [{"name": name, "replicas": number} for name, number in numbers.items()]
    patch = {"spec": {"allocationPolicy": listed}}
    await asyncio.to_thread(world.api.patch, "WorkloadPolicy", "regions", patch, NAMESPACE)


async def test_killed_in_the_middle_another_finishes_and_every_rule_that_ships_is_used(
    plane: AuditedPlane, world: Cluster, audit: Audit, rebalancers: Rebalancers
) -> None:
    await prepared(world)
    (port,) = free_ports(1)
    async with running(plane, config=as_printed()), controllers(plane), kubelets(world):
        async with PodWatch(world).watching() as watch:
            await world.create(workload("Deployment", 8))
            await settled(world, placed=8, pending=0)
            await until(lambda: watch._ready() == 8, "all pods to be ready")
            watch.begin()
            first = rebalancers.start()
            await until(lambda: first.identity, "the first to lead", 30)
            await change(world, {"regionA": 1, "regionB": 7})
            await until(lambda: watch.gone, "the first move", 30)
            first.kill()
            # The lease of the one that was killed runs out after 15 seconds.
            second = rebalancers.start(f"--secure-port={port}")

            async def is_reached() -> bool:
                return await domains(world, "region") == {"regionA": 1, "regionB": 7}

            await until(is_reached, "the numbers", 90)
            assert len(watch.gone) == 4
            assert watch.least >= 7
        assert await asyncio.to_thread(metrics, port, plane.tokens["admin"]) == 200
        with suppress(TimeoutError):
            await until(lambda: not allowed() - audit.used() - AFTER_TROUBLE - NOT_HERE, "every rule to be used", 10)
        assert allowed() - audit.used() - AFTER_TROUBLE - NOT_HERE == set()
        assert audit.refused() == []
        assert "may not" not in second.log


async def test_told_to_stop_it_gives_the_lease_back_and_ends_with_0(
    plane: AuditedPlane, world: Cluster, rebalancers: Rebalancers
) -> None:
    await prepared(world)
    started = rebalancers.start("--log-format=json")
    path = "Lease", "bayplan-rebalancer", "kube-system"

    def holder() -> str:
        found = plane.api().find(*path)
        return str(found["spec"].get("holderIdentity") or "") if found else ""

    await until(holder, "it to lead", 30)
    started.signal(signal.SIGTERM)
    assert await asyncio.to_thread(started.ended) == 0
    assert holder() == ""
    assert all(json.loads(line)["event"] for line in started.log.splitlines())


async def test_a_dry_run_of_a_live_cluster_shows_the_plan_and_writes_nothing(
    plane: AuditedPlane, world: Cluster
) -> None:
    await prepared(world)
    arguments = ["rebalancer", "--dry-run", f"--config={CONFIG}", f"--kubeconfig={plane.kubeconfig()}"]
    async with running(plane, config=as_printed()), controllers(plane), kubelets(world):
        await world.create(workload("Deployment", 8))
        await settled(world, placed=8, pending=0)
        code, printed, _ = await asyncio.to_thread(run_cli, arguments)
        assert code == 0
        assert "1 of 1 policies are satisfied; nothing to move" in printed
        await change(world, {"regionA": 3, "regionB": 5})
        code, printed, _ = await asyncio.to_thread(run_cli, arguments)
        assert code == 1
        assert "2 moves are planned" in printed
        code, printed, _ = await asyncio.to_thread(run_cli, [*arguments, "-o", "json"])
    document: dict[str, Any] = json.loads(printed)
    (found,) = document["policies"]
    assert [(each["wave"], each["fromDomain"], each["toDomain"]) for each in found["moves"]] == [
        (1, "regionA", "regionB"), (2, "regionA", "regionB"),
    ]  # fmt: skip
    assert await domains(world, "region") == {"regionA": 5, "regionB": 3}
    stored = await asyncio.to_thread(world.api.get, "WorkloadPolicy", "regions", NAMESPACE)
    assert "status" not in stored
