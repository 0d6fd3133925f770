"""The charts on the real API server: applied, run under exactly their rules, upgraded, and gone without a trace."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.charts import CHART, CRDS, VALUE_FILES, Helm, by_name, helm_or_skip
from tests.deploy.played_pods import PlayedPod
from tests.e2e.audit import Audit, AuditedPlane
from tests.e2e.kubectl import Kubectl
from tests.e2e.replicas import STARTING_S
from tests.support.binaries import binaries_or_skip
from tests.support.live import Cluster, node_manifest, until
from tests.support.processes import ProcessGroup

pytestmark = [pytest.mark.kube, pytest.mark.slow]

NAMESPACE = "bayplan-system"
SERVICES = ("scheduler", "rebalancer", "annotator", "placement", "shadow", "ui")


@pytest.fixture(scope="module")
def plane() -> Iterator[AuditedPlane]:
    binaries = binaries_or_skip()
    with tempfile.TemporaryDirectory() as folder, AuditedPlane(binaries, Path(folder)) as started:
        yield started


@pytest.fixture
def installer(plane: AuditedPlane) -> Helm:
    return Helm(helm_or_skip(), plane)


@pytest.fixture
def kubectl(plane: AuditedPlane) -> Kubectl:
    return Kubectl(plane)


@pytest.fixture
def processes() -> Iterator[ProcessGroup]:
    group = ProcessGroup()
    yield group
    group.close()


def install(helm: Helm, *arguments: str | Path) -> None:
    helm("install", "kinds", CRDS, f"--namespace={NAMESPACE}", "--create-namespace", "--set=keep=false,placement=true")
    helm("install", "bayplan", CHART, f"--namespace={NAMESPACE}", *arguments)


def uninstall(helm: Helm) -> None:
    for release in ("bayplan", "kinds"):
        helm("uninstall", release, f"--namespace={NAMESPACE}")


def is_gone(kubectl: Kubectl) -> bool:
    """Whether nothing that a chart has made is in the cluster any more."""
    names = kubectl("api-resources", "--verbs=list", "-o", "name").split()
    asked = [name for name in names if not name.startswith(("events", "componentstatuses"))]
    try:
        found = kubectl("get", ",".join(asked), "-A", "-l", "app.kubernetes.io/managed-by=Helm", "-o", "name")
    except AssertionError:
        return False  # a kind went in between
    return not found.split()


@pytest.mark.parametrize("values", VALUE_FILES, ids=lambda path: path.stem)
def test_the_api_server_takes_every_value_file(installer: Helm, kubectl: Kubectl, values: Path) -> None:
    rendered = installer("template", "bayplan", CHART, "--namespace=kube-system", f"--values={values}")
    applied = kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-", given=rendered)

    assert len(applied.splitlines()) == len(by_name(rendered))


async def test_every_service_runs_under_the_rules_of_the_chart(
    plane: AuditedPlane, installer: Helm, kubectl: Kubectl, processes: ProcessGroup, tmp_path: Path
) -> None:
    audit = Audit(plane.audit_log)
    cluster = Cluster(plane)
    await cluster.start()
    everything, plugin = CHART / "ci" / "everything.yaml", CHART / "ci" / "own-plugin.yaml"
    install(installer, f"--values={everything}", f"--values={plugin}")
    try:
        pods = [PlayedPod(plane, NAMESPACE, f"bayplan-{part}", tmp_path, processes) for part in SERVICES]
        for pod in pods:
            pod.wait_until_ready(2 * STARTING_S)
        # The chart's own plugin decides: the pod names a rack.
        for name, rack in (("n1", "r1"), ("n2", "r2")):
            node = node_manifest(name)
            node["metadata"]["labels"]["rack"] = rack
            await cluster.create(node)
        await cluster.pod("web", cpu="10m", metadata={"annotations": {"example.com/rack": "r2"}})
        assert await cluster.bound("web", STARTING_S) == "n2"

        assert audit.refused() == []
        # An upgrade that changes who decides: the objects are changed, and what is no longer wanted goes.
        installer(
            "upgrade", "bayplan", CHART, f"--namespace={NAMESPACE}", f"--values={CHART / 'ci' / 'two-profiles.yaml'}"
        )
        deployments = kubectl("get", "deployments", "-n", NAMESPACE, "-o", "name").split()
        assert deployments == ["deployment.apps/bayplan-scheduler"]
        assert "packing" in kubectl("get", "configmap", "bayplan-scheduler", "-n", NAMESPACE, "-o", "yaml")
    finally:
        processes.close()
        print(*(f"--- {log}\n{log.read_text()}" for log in tmp_path.glob("*/log")), sep="\n")
        uninstall(installer)
    await until(lambda: is_gone(kubectl), "everything to be gone", 30)
