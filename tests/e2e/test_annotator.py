"""``bayplan annotator`` as processes under the shipped rules: it writes, one leads, the next takes over."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
import yaml

from bayplan.app.install_manifests import manifests
from tests.e2e.audit import Audit, AuditedPlane
from tests.e2e.conftest import RULES
from tests.e2e.replicas import STARTING_S, Replica, Replicas
from tests.e2e.test_permissions import metrics
from tests.support.live import Cluster, node_manifest, until
from tests.support.processes import ProcessGroup, free_ports
from tests.support.prometheus import PrometheusServer, SyntheticNodes, programs_or_skip, quick_rules

pytestmark = [pytest.mark.kube, pytest.mark.slow]

ACCOUNT = "/api/v1/namespaces/kube-system/serviceaccounts/bayplan-annotator"
MEM = "mem_usage_avg_5m"
# Only where spare pods are evicted; tests/app makes that happen.
FOR_SPARE_PODS = {
    ("create", "", "pods/eviction"),
    ("create", "events.k8s.io", "events"),
    ("patch", "events.k8s.io", "events"),
}


class Annotators:
    """Starts replicas with a token of the annotator's own account."""

    def __init__(self, plane: AuditedPlane, replicas: Replicas, folder: Path, prometheus: str) -> None:
        self._plane = plane
        self._replicas = replicas
        self._folder = folder
        self._prometheus = prometheus
        self._processes = ProcessGroup()
        self.all: list[Replica] = []

    def start(self, *flags: str) -> Replica:
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        token = str(self._plane.api().call("POST", f"{ACCOUNT}/token", body)["status"]["token"])
        name = f"annotator-{len(self.all)}"
        kubeconfig = self._replicas.kubeconfig(name, token)
        command = [sys.executable, "-m", "bayplan", "annotator", f"--prometheus-address={self._prometheus}"]
        command += [f"--kubeconfig={kubeconfig}", *(flags or ("--health-port=0",))]
        replica = Replica(self._processes.start(command, self._folder / f"{name}.log"), token)
        self.all.append(replica)
        return replica

    def close(self) -> None:
        self._processes.close()
        for each in self.all:
            print(f"--- {each.server.log.name}\n{each.log}")


@pytest.fixture
def annotators(plane: AuditedPlane, cluster: Cluster, replicas: Replicas, tmp_path: Path) -> Iterator[Annotators]:
    programs = programs_or_skip()
    api = plane.api()
    for document in yaml.safe_load_all(manifests("annotator")):
        meta = document["metadata"]
        if document["kind"] in RULES and api.find(document["kind"], meta["name"], meta.get("namespace")) is None:
            api.create(document)
    api.delete("Lease", "bayplan-annotator", "kube-system")
    with (
        SyntheticNodes(["n1", "n2"], memory=0.42) as nodes,
        PrometheusServer(programs, tmp_path, [nodes.address], rules=quick_rules()) as prometheus,
    ):
        prometheus.wait_for(MEM, 2)
        started = Annotators(plane, replicas, tmp_path, prometheus.address)
        try:
            yield started
        finally:
            started.close()


def allowed() -> set[tuple[str, str, str]]:
    found: set[tuple[str, str, str]] = set()
    for document in yaml.safe_load_all(manifests("annotator")):
        for rule in document.get("rules", ()):
            found.update(product(rule["verbs"], rule["apiGroups"], rule["resources"]))
    return found - FOR_SPARE_PODS


async def shows(cluster: Cluster, name: str, load: str) -> None:
    async def is_shown() -> bool:
        node = await asyncio.to_thread(cluster.api.get, "Node", name)
        annotations = node["metadata"].get("annotations") or {}
        return str(annotations.get(MEM, "")).startswith(load)

    await until(is_shown, f"{name} to show {load}", 30)


async def test_it_writes_under_the_shipped_rules_and_uses_all_of_them(
    plane: AuditedPlane, cluster: Cluster, annotators: Annotators, audit: Audit
) -> None:
    (port,) = free_ports(1)
    await cluster.create(node_manifest("n1"))
    replica = annotators.start(f"--health-port={port}", "--spare-capacity")
    await shows(cluster, "n1", "0.42000,")
    assert await asyncio.to_thread(metrics, port, plane.tokens["admin"]) == 200
    assert await asyncio.to_thread(metrics, port, plane.tokens["nobody"]) == 403
    await until(lambda: not allowed() - audit.used(), f"every rule to be used: {allowed() - audit.used()}", 10)
    assert audit.refused() == []
    replica.signal(signal.SIGTERM)
    assert replica.ended() == 0


async def test_one_replica_leads_and_the_next_takes_over_when_it_goes(cluster: Cluster, annotators: Annotators) -> None:
    await cluster.create(node_manifest("n1"))
    first = annotators.start()
    await shows(cluster, "n1", "0.42000,")
    second = annotators.start()
    await until(lambda: "event=synced" in second.log, "the second to be there", STARTING_S)
    await cluster.create(node_manifest("n2"))
    await shows(cluster, "n2", "0.42000,")
    assert second.identity == ""
    first.signal(signal.SIGTERM)
    assert first.ended() == 0
    await until(lambda: second.identity != "", "the second to lead", 20)
    removed = {"metadata": {"annotations": {MEM: None}}}
    await asyncio.to_thread(cluster.api.patch, "Node", "n2", removed)
    await shows(cluster, "n2", "0.42000,")
