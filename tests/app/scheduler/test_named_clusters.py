"""A kubeconfig in a plugin's args that names another cluster than the one that is scheduled."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path
from typing import Any

import pytest
import yaml
from structlog.testing import capture_logs

from bayplan.app.scheduler.named_clusters import warn_of_others
from bayplan.app.scheduler.process import SchedulerOptions, building
from bayplan.engine.cache import ClusterCache
from bayplan.kube.transport import Endpoint
from bayplan.plugins.plugin_set import make_profiles, registry
from bayplan.testing.harness import handle
from tests.support.certificates import Authority
from tests.support.live import Cluster, client_of, config_of

OWN = "https://10.96.0.1:443"


@pytest.fixture(scope="module")
def authorities(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Certificates of two clusters."""
    folders = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("two")
    one, two = (Authority().ca_file(folder).read_text() for folder in folders)
    return one, two


def kubeconfig(folder: Path, server: str, authority: str | None, current: str = "host") -> Path:
    cluster: dict[str, Any] = {"server": server}
    if authority is not None:
        cluster["certificate-authority-data"] = base64.b64encode(authority.encode()).decode()
    path = folder / "kubeconfig"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": current,
        "clusters": [{"name": "other", "cluster": {"server": "https://no"}}, {"name": "c", "cluster": cluster}],
        "contexts": [{"name": "host", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {"exec": {"command": "/bin/false", "apiVersion": "x"}}}],
    }
    path.write_text(yaml.safe_dump(document))
    return path


def config(path: object) -> Any:
    names = ("LeafNodeWorkloadPolicy", "LeafNodeDistribution")
    profile = {
        "schedulerName": "bayplan",
        "plugins": {"multiPoint": {"enabled": [{"name": name} for name in names]}},
        "pluginConfig": [{"name": name, "args": {"kubeConfigPath": str(path)}} for name in names],
    }
    return config_of(profiles=[profile])


def told(path: object, server: str = OWN, authority: str | None = None) -> list[tuple[str, str]]:
    known, extra = registry(())
    profiles = make_profiles(config(path), known, extra)(lambda name: handle(ClusterCache()))
    context = None if authority is None else ssl.create_default_context(cadata=authority)
    with capture_logs() as logs:
        warn_of_others(profiles.values(), Endpoint(server, context))
    return [(entry["log_level"], entry["text"]) for entry in logs]


@pytest.mark.parametrize("server", [OWN, "https://10.96.0.1", "https://10.96.0.1/"])
def test_the_same_address_is_the_same_cluster(tmp_path: Path, server: str) -> None:
    assert told(kubeconfig(tmp_path, server, None)) == []
    assert told("") == []


def test_the_same_certificates_at_another_address_are_the_same_cluster(
    tmp_path: Path, authorities: tuple[str, str]
) -> None:
    path = kubeconfig(tmp_path, "https://api.example:6443", authorities[0])
    assert told(path, authority=authorities[0]) == []
    assert [level for level, _ in told(path, authority=authorities[1])] == ["warning", "warning"]


@pytest.mark.parametrize("server", ["https://10.96.0.1:6443", "https://10.96.0.2:443", "https://api.example"])
def test_another_address_without_common_certificates_is_warned_of(tmp_path: Path, server: str) -> None:
    path = kubeconfig(tmp_path, server, None)
    assert told(path) == [
        (
            "warning",
            f"{name}: kubeConfigPath {path} names {server} and has no effect: policies are read from {OWN}, which is "
            "scheduled; if these are two clusters, apply the policies there",
        )
        for name in ("LeafNodeDistribution", "LeafNodeWorkloadPolicy")
    ]


@pytest.mark.parametrize("text", ["", "[]", "a: [", "current-context: x", "contexts: 5", "\0"])
def test_a_file_that_is_none_is_said_and_stops_nobody(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd"
    path.write_text(text)
    for level, line in (*told(path), *told(tmp_path / "missing"), *told(tmp_path)):
        assert level == "info"
        assert "has no effect, and cannot be read: " in line
        assert "\n" not in line


@pytest.mark.kube
async def test_a_scheduler_says_so_when_it_starts(cluster: Cluster, tmp_path: Path) -> None:
    own = cluster.plane.kubeconfig()
    client, _ = client_of(own)
    try:
        with capture_logs() as logs:
            building(SchedulerOptions(config(own)))(client, None)
            assert [entry for entry in logs if entry["log_level"] == "warning"] == []
            building(SchedulerOptions(config(kubeconfig(tmp_path, "https://member:6443", None))))(client, None)
    finally:
        await client.close()
    warned = [entry["text"] for entry in logs if entry["log_level"] == "warning"]
    assert len(warned) == 2
    assert all("names https://member:6443 and has no effect" in text for text in warned)
