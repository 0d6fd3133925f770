"""Placements on the page: as ``bayplan place`` decides them, decided again when something changed, and for whom."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from bayplan.app.ui import placements, reviews
from bayplan.app.ui.placements import Placements
from bayplan.app.ui.rights import EVERYTHING, Rights
from bayplan.app.ui.worlds import FileCluster
from bayplan.engine.store import Store
from tests.app.placement.hub import GROUP, NAMESPACE, add_cluster, add_placement, hub
from tests.app.ui.support import CLUSTER, NOW, world
from tests.app.ui.test_live import GROUP as RBAC
from tests.app.ui.test_live import got, serving
from tests.support.api import Api
from tests.support.live import Cluster, until

SET = f"""\
---
apiVersion: {GROUP}/v1beta2
kind: ManagedClusterSet
metadata: {{name: all}}
---
apiVersion: {GROUP}/v1beta2
kind: ManagedClusterSetBinding
metadata: {{name: all, namespace: shop}}
spec: {{clusterSet: all}}
"""
FLEET = SET + "".join(
    f"""\
---
apiVersion: {GROUP}/v1
kind: ManagedCluster
metadata: {{name: {name}, labels: {{{GROUP}/clusterset: all, region: {region}}}}}
spec: {{hubAcceptsClient: true}}
"""
    for name, region in (("c1", "eu"), ("c2", "eu"), ("c3", "us"))
)
READER = "hub-reader"
WANTED = f"""\
---
apiVersion: {GROUP}/v1beta1
kind: Placement
metadata: {{name: web, namespace: shop}}
spec: {{numberOfClusters: 2, predicates: [{{requiredClusterSelector: {{labelSelector: {{matchLabels: {{region: eu}}}}}}}}]}}
"""


def chosen(found: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {each["placement"]["name"]: [one["clusterName"] for one in each["decisions"]] for each in found}


def store(text: str = CLUSTER + FLEET + WANTED) -> Store:
    return world(text).scheduler.cache.objects


def test_files_show_placements_and_the_fleet_by_region() -> None:
    view = FileCluster(lambda: world(CLUSTER + FLEET + WANTED), [], "bayplan ui -f .").view(EVERYTHING)
    (shown,) = view["placements"]
    assert chosen([shown]) == {"web": ["c1", "c2"]}
    assert shown["byRegion"] == [
        {"region": "eu", "zones": [{"zone": "", "clusters": 2, "chosen": ["c1", "c2"]}]},
        {"region": "us", "zones": [{"zone": "", "clusters": 1, "chosen": []}]},
    ]
    facts = {each["label"]: each["value"] for each in view["facts"]}
    assert (facts["Placements satisfied"], facts["Clusters"], facts["Nodes"]) == ("1 of 1", "3", "2")


def test_files_without_placements_say_nothing_of_them() -> None:
    view = FileCluster(lambda: world(CLUSTER + FLEET), [], "bayplan ui -f .").view(EVERYTHING)
    assert view["placements"] == []
    assert "Clusters" not in [each["label"] for each in view["facts"]]


def test_they_are_decided_again_when_something_changed_but_not_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    objects = store()
    found = Placements(objects)
    assert found.is_behind(NOW)
    assert chosen(found.shown(NOW, EVERYTHING)[1]) == {"web": ["c1", "c2"]}
    assert not found.is_behind(NOW)
    objects.drop("ManagedCluster", "", "c1")
    assert found.is_behind(NOW)
    assert chosen(found.shown(NOW, EVERYTHING)[1]) == {"web": ["c1", "c2"]}
    later = time.monotonic() + 3600
    monkeypatch.setattr("bayplan.app.ui.placements.time.monotonic", lambda: later)
    assert chosen(found.shown(NOW, EVERYTHING)[1]) == {"web": ["c2"]}
    assert not found.is_behind(NOW)


def test_only_who_may_list_placements_and_clusters_is_shown_them() -> None:
    found = Placements(store())
    assert found.namespaces() == {"shop"}
    seen = Rights(placements=frozenset({"shop"}), clusters=True)
    assert chosen(found.shown(NOW, seen)[1]) == {"web": ["c1", "c2"]}
    for rights in (Rights(None, True, None), Rights(placements=frozenset({"other"}), clusters=True)):
        assert found.shown(NOW, rights) == ([], [])


def test_nothing_is_shown_if_some_of_the_kinds_cannot_be_read() -> None:
    objects = store()
    objects.refuse("ManagedClusterSetBinding", "forbidden")
    found = Placements(objects)
    assert found.shown(NOW, EVERYTHING) == ([], [])
    objects.refuse("ManagedClusterSetBinding", "")
    assert found.is_behind(NOW)


@pytest.fixture
def api(cluster: Cluster) -> Iterator[Api]:
    with hub(cluster.plane) as found:
        yield found


@pytest.fixture
def reader(api: Api) -> Iterator[Api]:
    """The user "nobody" may list managed clusters, and the placements of one namespace."""
    subjects = [{"apiGroup": RBAC, "kind": "User", "name": "nobody"}]
    roles = (("ClusterRole", "managedclusters", None), ("Role", "placements", NAMESPACE))
    for kind, resource, namespace in roles:
        meta = {"name": READER, **({"namespace": namespace} if namespace else {})}
        rules = [{"apiGroups": [GROUP], "resources": [resource], "verbs": ["list"]}]
        reference = {"apiGroup": RBAC, "kind": kind, "name": READER}
        binding = {"kind": f"{kind}Binding", "metadata": meta, "roleRef": reference, "subjects": subjects}
        api.create({"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": meta, "rules": rules})
        api.create({"apiVersion": f"{RBAC}/v1", **binding})
    yield api
    for kind, _, namespace in roles:
        api.delete(f"{kind}Binding", READER, namespace)
        api.delete(kind, READER, namespace)


@pytest.mark.kube
async def test_a_hub_is_shown_to_who_may_read_it(
    reader: Api, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "REMEMBER_S", 0.1)
    meta = {"name": "hidden", "namespace": cluster.namespace}
    await asyncio.to_thread(add_cluster, reader, "c1", "eu")
    await asyncio.to_thread(add_placement, reader)
    hidden = {"apiVersion": f"{GROUP}/v1beta1", "kind": "Placement", "metadata": meta, "spec": {}}
    await asyncio.to_thread(reader.create, hidden)
    async with serving(cluster.plane, auth=True) as session:

        async def seen(user: str) -> dict[str, list[str]]:
            _, text = await got(session, "/api/view", cluster.plane.tokens[user])
            return chosen(json.loads(text)["placements"])

        assert await seen("admin") == {"web": ["c1"], "hidden": []}
        assert await seen("nobody") == {"web": ["c1"]}
        await asyncio.to_thread(reader.delete, "ClusterRoleBinding", READER)

        async def gone() -> bool:
            return await seen("nobody") == {}

        await until(gone, "the right to be taken away")


@pytest.mark.kube
async def test_a_cluster_that_is_no_hub_has_none_and_nothing_is_complained_of(cluster: Cluster) -> None:
    with capture_logs() as logs:
        async with serving(cluster.plane) as session:
            _, text = await got(session, "/api/view")
    assert json.loads(text)["placements"] == []
    absent = {each["kind"] for each in logs if each["event"] == "kind not served"}
    assert set(placements.KINDS) <= absent
    assert [each for each in logs if each["log_level"] in ("warning", "error")] == []
