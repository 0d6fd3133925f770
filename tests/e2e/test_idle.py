"""All services on a cluster where nothing happens, for ten minutes: nobody complains.  ``make soak`` runs it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bayplan.app.install_manifests import manifests
from tests.e2e.audit import AuditedPlane
from tests.support.api import Api
from tests.support.definitions import defined
from tests.support.kosmos import KINDS, example
from tests.support.live import Cluster, node_manifest, until
from tests.support.processes import ProcessGroup
from tests.support.prometheus import PrometheusServer, SyntheticNodes, programs_or_skip, quick_rules

pytestmark = [pytest.mark.kube, pytest.mark.slow, pytest.mark.soak]

IDLE_S = 600.0
NODES = ("n1", "n2", "n3")
GROUP = "cluster.open-cluster-management.io"
HUB_KINDS = ("ManagedCluster", "ManagedClusterSet", "ManagedClusterSetBinding", "Placement", "PlacementDecision")


class Service:
    """One process, and what it says above info."""

    def __init__(self, name: str, log: Path) -> None:
        self.name, self._log = name, log

    def said(self, event: str) -> bool:
        return any(each.get("event") == event for each in self._entries())

    def complaints(self) -> list[str]:
        """Also what is not a log line at all."""
        return [str(each) for each in self._entries() if each.get("level") not in ("debug", "info")]

    def _entries(self) -> list[dict[str, str]]:
        entries = []
        for line in self._log.read_text().splitlines():
            try:
                entries.append(dict(json.loads(line)))
            except ValueError:
                entries.append({"event": line})
        return entries


@pytest.fixture
def hub(plane: AuditedPlane) -> Iterator[Api]:
    """The kinds of all services, and a placement of two clusters."""
    api = plane.api()
    documents = [*yaml.safe_load_all(manifests("crds")), *yaml.safe_load_all(manifests("placement-crds"))]
    with defined(api, documents, (*KINDS, *HUB_KINDS)):
        labels = {f"{GROUP}/clusterset": "all"}
        for manifest in (
            {"kind": "ManagedClusterSet", "metadata": {"name": "all"}},
            {
                "kind": "ManagedClusterSetBinding",
                "metadata": {"name": "all", "namespace": "default"},
                "spec": {"clusterSet": "all"},
            },
        ):
            api.create({"apiVersion": f"{GROUP}/v1beta2", **manifest})
        for name in ("east", "west"):
            api.create(
                {
                    "apiVersion": f"{GROUP}/v1",
                    "kind": "ManagedCluster",
                    "metadata": {"name": name, "labels": labels},
                    "spec": {"hubAcceptsClient": True},
                }
            )
        placement = {"metadata": {"name": "both", "namespace": "default"}, "spec": {"clusterSets": ["all"]}}
        api.create({"apiVersion": f"{GROUP}/v1beta1", "kind": "Placement", **placement})
        api.create(
            {**example("workloadpolicy-example-1.yaml"), "metadata": {"name": "regions", "namespace": "default"}}
        )
        yield api


async def test_ten_idle_minutes_of_all_services_log_nothing_above_info(
    plane: AuditedPlane, cluster: Cluster, hub: Api, tmp_path: Path
) -> None:
    for name in NODES:
        await cluster.create(node_manifest(name))
    processes = ProcessGroup()
    with (
        SyntheticNodes(list(NODES), memory=0.4, cpu=0.3) as nodes,
        PrometheusServer(programs_or_skip(), tmp_path, [nodes.address], rules=quick_rules()) as prometheus,
    ):
        prometheus.wait_for("mem_usage_avg_5m", len(NODES))

        def start(name: str, *flags: str) -> Service:
            log = tmp_path / f"{name}.log"
            command = [sys.executable, "-m", "bayplan", name, f"--kubeconfig={plane.kubeconfig()}", *flags]
            processes.start([*command, "--log-format=json"], log)
            return Service(name, log)

        try:
            services = [start(name, "--secure-port=0") for name in ("scheduler", "rebalancer", "placement")]
            services.append(start("annotator", "--health-port=0", f"--prometheus-address={prometheus.address}"))
            for service in services:
                await until(lambda service=service: service.said("leading"), f"{service.name} to lead", 30)
            await cluster.pods(4)
            await cluster.all_bound(4)
            await asyncio.sleep(IDLE_S)
            await cluster.pod("after")
            await cluster.bound("after")
        finally:
            processes.close()
    assert {service.name: service.complaints() for service in services} == {service.name: [] for service in services}
