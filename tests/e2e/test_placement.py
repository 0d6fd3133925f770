"""``bayplan placement`` as processes, under the rules that ship for it: killed in the middle of writing, another goes on."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from bayplan.app.install_manifests import manifests
from tests.e2e.audit import AuditedPlane
from tests.e2e.conftest import RULES
from tests.e2e.replicas import Replica
from tests.support.api import Api, ApiError
from tests.support.live import until
from tests.support.processes import ProcessGroup

pytestmark = [pytest.mark.kube, pytest.mark.slow]

ACCOUNT = "/api/v1/namespaces/kube-system/serviceaccounts/bayplan-placement"
GROUP = "cluster.open-cluster-management.io"
NAMESPACE = "placed"
CLUSTERS = {f"c{number:03d}" for number in range(250)}


@pytest.fixture(scope="module")
def hub(plane: AuditedPlane) -> Iterator[Api]:
    """An API server with the kinds, the rules and a bound set."""
    api = plane.api()
    made = list(yaml.safe_load_all(manifests("placement-crds")))
    made += [each for each in yaml.safe_load_all(manifests("placement")) if each["kind"] in RULES]
    for document in made:
        api.create(document)
    for kind in ("ManagedCluster", "ManagedClusterSet", "ManagedClusterSetBinding", "Placement", "PlacementDecision"):
        api.wait_for(partial(is_served, api, kind), 20, f"{kind} to be served")
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    api.create({"apiVersion": f"{GROUP}/v1beta2", "kind": "ManagedClusterSet", "metadata": {"name": "all"}})
    binding = {"kind": "ManagedClusterSetBinding", "metadata": {"name": "all", "namespace": NAMESPACE}}
    api.create({"apiVersion": f"{GROUP}/v1beta2", **binding, "spec": {"clusterSet": "all"}})
    for name in sorted(CLUSTERS):
        meta = {"name": name, "labels": {f"{GROUP}/clusterset": "all"}}
        api.create({"apiVersion": f"{GROUP}/v1", "kind": "ManagedCluster", "metadata": meta, "spec": {}})
    yield api
    for document in made:
        api.delete(document["kind"], document["metadata"]["name"], document["metadata"].get("namespace"))


def is_served(api: Api, kind: str) -> bool:
    try:
        api.list(kind)
    except ApiError as error:
        if error.code != 404:
            raise
        return False
    return True


class Hubs:
    """Starts processes."""

    def __init__(self, plane: AuditedPlane, folder: Path) -> None:
        self._plane, self._folder = plane, folder
        self._processes = ProcessGroup()
        self._count = 0

    def start(self) -> Replica:
        self._count += 1
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        token = str(self._plane.api().call("POST", f"{ACCOUNT}/token", body)["status"]["token"])
        document = yaml.safe_load(self._plane.kubeconfig().read_text())
        document["users"][0]["user"] = {"token": token}
        kubeconfig = self._folder / f"hub-{self._count}.kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(document))
        command = [sys.executable, "-m", "bayplan", "placement", f"--kubeconfig={kubeconfig}", "--secure-port=0"]
        return Replica(self._processes.start(command, self._folder / f"hub-{self._count}.log"), token)

    def close(self) -> None:
        self._processes.close()


@pytest.fixture
def hubs(plane: AuditedPlane, hub: Api, tmp_path: Path) -> Iterator[Hubs]:
    made = Hubs(plane, tmp_path)
    try:
        yield made
    finally:
        made.close()


def decided(api: Api) -> list[str]:
    pages = [
        each
        for each in api.list("PlacementDecision", NAMESPACE)
        if each["metadata"].get("labels", {}).get(f"{GROUP}/placement") == "web"
    ]
    return sorted(each["clusterName"] for page in pages for each in page.get("status", {}).get("decisions", []))


def versions(api: Api) -> list[str]:
    things = [*api.list("PlacementDecision", NAMESPACE), *api.list("Placement", NAMESPACE)]
    return [each["metadata"]["resourceVersion"] for each in things]


async def test_a_hub_that_is_killed_while_it_writes_loses_nobody_and_the_next_one_finishes(
    hub: Api, hubs: Hubs
) -> None:
    meta = {"name": "web", "namespace": NAMESPACE}
    hub.create({"apiVersion": f"{GROUP}/v1beta1", "kind": "Placement", "metadata": meta, "spec": {}})
    first = hubs.start()
    await until(lambda: asyncio.to_thread(lambda: decided(hub) == sorted(CLUSTERS)), "all clusters", 40.0)
    second = hubs.start()
    strategy = {"groupStrategy": {"clustersPerDecisionGroup": 20}}
    hub.patch("Placement", "web", {"spec": {"decisionStrategy": strategy}}, NAMESPACE)
    await until(lambda: asyncio.to_thread(lambda: len(hub.list("PlacementDecision", NAMESPACE)) > 3), "new pages", 40.0)
    first.kill()
    # It must not wait for the whole term of somebody who is gone.
    hub.delete("Lease", "bayplan-placement", "kube-system")
    missing: set[str] = set()

    def is_done() -> bool:
        missing.update(CLUSTERS - set(decided(hub)))
        return len(hub.list("PlacementDecision", NAMESPACE)) == 13 and decided(hub) == sorted(CLUSTERS)

    await until(lambda: asyncio.to_thread(is_done), f"thirteen pages\n{second.log}", 40.0)
    assert not missing
    groups = hub.get("Placement", "web", NAMESPACE)["status"].get("decisionGroups", [])
    await until(lambda: asyncio.to_thread(lambda: _groups(hub) == 13), f"the status, not {groups}", 20.0)
    before = versions(hub)
    third = hubs.start()
    second.kill()
    hub.delete("Lease", "bayplan-placement", "kube-system")
    await until(lambda: bool(third.identity), "the third to lead", 40.0)
    await until(lambda: "event=synced" in third.log, "the third to have decided", 20.0)
    await asyncio.sleep(1.0)
    assert third.is_running()
    assert versions(hub) == before


async def test_a_leader_that_stops_or_dies_is_followed_when_its_term_is_over(hub: Api, hubs: Hubs) -> None:
    hub.delete("Lease", "bayplan-placement", "kube-system")
    meta = {"name": "few", "namespace": NAMESPACE}
    spec = {"numberOfClusters": 1}
    hub.create({"apiVersion": f"{GROUP}/v1beta1", "kind": "Placement", "metadata": meta, "spec": spec})
    first = hubs.start()
    await until(lambda: asyncio.to_thread(lambda: _selected(hub) == 1), f"one cluster\n{first.log}", 40.0)
    second = hubs.start()
    first.signal(signal.SIGSTOP)
    hub.patch("Placement", "few", {"spec": {"numberOfClusters": 2}}, NAMESPACE)
    await until(lambda: asyncio.to_thread(lambda: _selected(hub) == 2), f"two clusters\n{second.log}", 60.0)
    assert second.identity
    before = versions(hub)
    first.signal(signal.SIGCONT)
    assert first.ended(40.0) == 1
    assert "lost the lease" in first.log
    assert versions(hub) == before
    third = hubs.start()
    second.kill()
    hub.patch("Placement", "few", {"spec": {"numberOfClusters": 3}}, NAMESPACE)
    await until(lambda: asyncio.to_thread(lambda: _selected(hub) == 3), f"three clusters\n{third.log}", 60.0)
    assert third.identity not in ("", second.identity)


def _selected(api: Api) -> int:
    return int(api.get("Placement", "few", NAMESPACE).get("status", {}).get("numberOfSelectedClusters", 0))


def _groups(api: Api) -> int:
    return len(api.get("Placement", "web", NAMESPACE)["status"].get("decisionGroups", []))
