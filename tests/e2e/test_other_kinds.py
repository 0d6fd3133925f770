"""A ConfigMap and a custom resource that only plugins read, on a live cluster: followed, explained, in a snapshot."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import yaml

from bayplan.cli.main import main
from tests.docs.pages import ROOT, blocks
from tests.e2e.audit import AuditedPlane
from tests.e2e.replicas import STARTING_S, Replicas
from tests.support import api as apis
from tests.support.definitions import defined
from tests.support.live import Cluster, node_manifest

pytestmark = pytest.mark.kube

EXAMPLE = ROOT / "examples" / "10-other-kinds"
PLUGINS = [f"--plugin={EXAMPLE}/{name}" for name in ("prefer_racks.py:PreferRacks", "no_maintenance.py:NoMaintenance")]
KIND = "Maintenance"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "maintenances.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Cluster",
        "names": {"kind": KIND, "plural": "maintenances", "singular": "maintenance"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": ANYTHING}}],
    },
}
WORK = {"apiVersion": "example.com/v1", "kind": KIND, "metadata": {"name": "new-switch"}, "spec": {"racks": ["r2"]}}


@pytest.fixture
def maintenances(plane: AuditedPlane, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(apis.KINDS, KIND, ("example.com/v1", "maintenances", False))
    with defined(plane.api(), [DEFINITION], [KIND]):
        yield


@pytest.fixture
async def racks(maintenances: None, cluster: Cluster) -> AsyncIterator[Cluster]:
    """Two racks; the second scores better and is in maintenance."""
    for name, rack in (("n1", "r1"), ("n2", "r2")):
        manifest = node_manifest(name)
        manifest["metadata"].setdefault("labels", {})["rack"] = rack
        await cluster.create(manifest)
    meta = {"name": "rack-scores", "namespace": "kube-system"}
    await cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"r1": "1", "r2": "100"}})
    await cluster.create(WORK)
    yield cluster
    await asyncio.to_thread(cluster.api.delete, "ConfigMap", "rack-scores", "kube-system")


@pytest.fixture
def rights(plane: AuditedPlane) -> Iterator[None]:
    """The rules that the page says to add."""
    api = plane.api()
    page = ROOT / "docs" / "guides" / "other-kinds.md"
    (block,) = (each for each in blocks(page, "yaml") if "kind: ClusterRole\n" in each.text)
    documents = list(yaml.safe_load_all(block.text))
    for document in documents:
        api.create(document)
    yield
    for document in documents:
        api.delete(document["kind"], document["metadata"]["name"])


async def test_the_scheduler_goes_by_them_and_follows_their_changes(
    racks: Cluster, rights: None, replicas: Replicas
) -> None:
    replica = replicas.start(*PLUGINS)

    await racks.pod("first")
    assert await racks.bound("first", STARTING_S) == "n1"

    await asyncio.to_thread(racks.api.delete, KIND, "new-switch")
    await racks.pod("second")
    assert await racks.bound("second", timeout_s=20) == "n2"
    assert "not readable" not in replica.log


async def test_a_live_explanation_and_a_snapshot_have_them(
    racks: Cluster, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    await racks.pod("web")
    kubeconfig, file = f"--kubeconfig={racks.plane.kubeconfig()}", str(tmp_path / "snapshot.yaml")
    explain = ("explain", "pod", "web", "-n", racks.namespace, "-o", "json", *PLUGINS)

    assert await asyncio.to_thread(main, [*explain, kubeconfig]) == 0
    live = json.loads(capsys.readouterr().out)
    assert await asyncio.to_thread(main, ["snapshot", "-o", file, kubeconfig, *PLUGINS]) == 0
    assert await asyncio.to_thread(main, [*explain, "-f", file]) == 0
    stored = json.loads(capsys.readouterr().out)

    assert live == stored
    assert (live["node"], [node.get("reasons") for node in live["nodes"]]) == (
        "n1",
        [None, ["node(s) were in maintenance"]],
    )
