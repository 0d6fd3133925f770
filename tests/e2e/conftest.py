"""Fixtures: a control plane that keeps an audit log and has Bayplan's own rules installed, and replicas on it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import yaml

from bayplan.app.install_manifests import manifests
from tests.e2e.audit import Audit, AuditedPlane
from tests.e2e.kubectl import Kubectl
from tests.e2e.replicas import Replicas
from tests.support.binaries import binaries_or_skip
from tests.support.live import Cluster
from tests.support.witness import Witness

RULES = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long runs are only for those who ask for them by name: make soak."""
    if "soak" not in config.getoption("-m"):
        soaking = [item for item in items if item.get_closest_marker("soak")]
        config.hook.pytest_deselected(items=soaking)
        items[:] = [item for item in items if item not in soaking]


@pytest.fixture(scope="session")
def plane() -> Iterator[AuditedPlane]:
    """The control plane of this folder, with the shipped rules in it."""
    binaries = binaries_or_skip()
    with tempfile.TemporaryDirectory() as folder, AuditedPlane(binaries, Path(folder)) as started:
        api = started.api()
        for document in yaml.safe_load_all(manifests("scheduler")):
            if document["kind"] in RULES:
                api.create(document)
        yield started


@pytest.fixture
def kubectl(plane: AuditedPlane) -> Kubectl:
    return Kubectl(plane)


@pytest.fixture
async def cluster(plane: AuditedPlane) -> Cluster:
    """An empty cluster with a namespace for this test, in which nobody leads."""
    made = Cluster(plane)
    await asyncio.to_thread(made.api.delete, "Lease", "bayplan-scheduler", "kube-system")
    await made.start()
    return made


@pytest.fixture
async def audit(plane: AuditedPlane, cluster: Cluster) -> AsyncIterator[Audit]:
    """What replicas ask for; at the end nothing may have been refused and no pod bound twice."""
    made = Audit(plane.audit_log)
    yield made
    assert made.refused() == []
    assert made.bound_twice() == []


@pytest.fixture
async def witness(cluster: Cluster, audit: Audit) -> AsyncIterator[Witness]:
    """Judges what happened to pods, also at the end of every test that asks for it."""
    async with Witness(cluster.plane) as watching:
        yield watching
        await watching.judge()


@pytest.fixture
def replicas(plane: AuditedPlane, cluster: Cluster, audit: Audit, tmp_path: Path) -> Iterator[Replicas]:
    """Starts processes.  All of them run under the shipped rules, so every test here is a test of those, too."""
    started = Replicas(plane, tmp_path)
    try:
        yield started
    finally:
        started.close()
        print(started.logs())
