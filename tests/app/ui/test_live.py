"""The page's server on the real API server: it follows binds, shows nobody more than they may list, and writes nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bayplan.app.ui import reviews
from bayplan.app.ui.live import LiveCluster, PodRows
from bayplan.app.ui.reviews import Reviewer
from bayplan.app.ui.server import UiServer
from bayplan.objects.pod import Pod
from bayplan.plugins.plugin_set import make_profiles, registry
from bayplan.testing import pod
from bayplan.view.cluster_view import PodRow
from tests.support.control_plane import ControlPlane
from tests.support.live import Cluster, client_of, close, config_of, running, until

kube = pytest.mark.kube
GROUP = "rbac.authorization.k8s.io"
SECRET = "hidden"
"""In the name of everything that somebody may not see."""


@asynccontextmanager
async def serving(plane: ControlPlane, *, auth: bool = False) -> AsyncIterator[aiohttp.ClientSession]:
    client, _ = client_of(plane.kubeconfig())
    known, _ = registry(discover=False)
    cluster = LiveCluster(client, make_profiles(config_of(), known, ()), "bayplan ui")
    server = UiServer(
        cluster, cluster.feed, reviewer=Reviewer(client) if auth else None, metrics=cluster.render_metrics
    )
    await server.start("127.0.0.1", 0)
    task = asyncio.ensure_future(cluster.run())
    try:
        await until(lambda: cluster.is_working(), "the cluster to be read")
        async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}") as session:
            yield session
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await server.close()
        await close(client)


async def got(session: aiohttp.ClientSession, path: str, token: str = "") -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with session.get(path, headers=headers) as answer:
        return answer.status, await answer.text()


def states(view: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """State and node of every pod."""
    (cluster,) = view["clusters"]
    pods, strings, nodes = cluster["pods"], cluster["strings"], cluster["nodes"]["name"]
    return {
        name: (strings[pods["state"][row]], nodes[pods["node"][row]] if pods["node"][row] >= 0 else "")
        for row, name in enumerate(pods["name"])
    }


@kube
async def test_the_page_follows_a_bind(cluster: Cluster) -> None:
    await cluster.node("n1", cpu="2")
    async with serving(cluster.plane) as session, session.get("/api/stream") as stream:
        first = json.loads(await stream.content.readline())
        assert states(first["view"]) == {}
        async with running(cluster.plane):
            await cluster.pod("p1")
            await cluster.pod("big", cpu="64")
            await cluster.bound("p1")
            await cluster.unschedulable("big")

            async def followed() -> bool:
                _, text = await got(session, "/api/view")
                return states(json.loads(text)) == {"p1": ("Bound", "n1"), "big": ("Pending", "")}

            await until(followed, "the page to follow")
        assert json.loads(await stream.content.readline())["seq"] == first["seq"] + 1
        status, text = await got(session, f"/api/pod/{cluster.namespace}/big")
        page = json.loads(text)
        assert status == 200
        assert page["sentence"].startswith("It waits: no node of 1 has enough cpu; it asks for 64")
        assert page["attempts"][0]["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
        assert (await got(session, "/metrics"))[1].count("bayplan_ui_pods 2.0") == 1


@pytest.fixture
async def two_namespaces(cluster: Cluster) -> AsyncIterator[Cluster]:
    """The user "nobody" may list the pods of the test's namespace; another one is none of their business."""
    await cluster.node("n1")
    other = Cluster(cluster.plane)
    other.namespace = f"{cluster.namespace}-{SECRET}"
    await other.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other.namespace}})
    await cluster.pod("mine", nodeName="n1")
    await cluster.pod("waits", cpu="64", nodeSelector={"zone": "nowhere"})
    await other.pod(f"{SECRET}-pod", nodeName="n1", cpu="1")
    await other.pod(f"{SECRET}-waits", cpu="64")
    named = {"apiVersion": f"{GROUP}/v1", "metadata": {"name": "ui-reader", "namespace": cluster.namespace}}
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    await cluster.create(named | {"kind": "Role", "rules": rules})
    reference = {"apiGroup": GROUP, "kind": "Role", "name": "ui-reader"}
    subject = {"apiGroup": GROUP, "kind": "User", "name": "nobody"}
    await cluster.create(named | {"kind": "RoleBinding", "roleRef": reference, "subjects": [subject]})
    yield cluster
    for kind in ("pods", "namespaces"):
        path = f"/api/v1/namespaces/{other.namespace}" + ("" if kind == "namespaces" else "/pods")
        await asyncio.to_thread(cluster.api.call, "DELETE", path, {"gracePeriodSeconds": 0})


@kube
async def test_nobody_sees_anything_of_a_namespace_that_they_may_not_read(two_namespaces: Cluster) -> None:
    cluster, tokens = two_namespaces, two_namespaces.plane.tokens
    hidden = f"{cluster.namespace}-{SECRET}"
    paths = [
        "/api/view",
        f"/api/search?q={SECRET}",
        "/api/search?q=pending",
        "/api/node/n1",
        f"/api/pod/{cluster.namespace}/mine",
        f"/api/pod/{cluster.namespace}/waits",
        f"/api/pod/{hidden}/{SECRET}-pod",
        f"/api/pod/{hidden}/{SECRET}-waits",
    ]
    async with serving(cluster.plane, auth=True) as session:
        for path in paths:
            assert (await got(session, path))[0] == 401
            assert (await got(session, path, "made-up"))[0] == 401
            status, text = await got(session, path, tokens["nobody"])
            assert status == (404 if hidden in path else 200), path
            assert SECRET not in text, path
            status, text = await got(session, path, tokens["admin"])
            assert status == 200, path
        _, text = await got(session, "/api/view", tokens["nobody"])
        mine = json.loads(text)
        assert states(mine) == {"mine": ("Bound", "n1"), "waits": ("Pending", "")}
        (shown,) = mine["clusters"]
        assert shown["nodes"]["allocatable"]["cpu"] == [0], "they may not list nodes"
        assert shown["nodes"]["requested"]["cpu"] == [100], "only what they may see is summed up"
        _, text = await got(session, "/api/view", tokens["admin"])
        (whole,) = json.loads(text)["clusters"]
        assert whole["nodes"]["requested"]["cpu"] == [1100]
        _, text = await got(session, f"/api/pod/{cluster.namespace}/waits", tokens["nobody"])
        page = json.loads(text)
        assert (page["groups"], page["bars"], page["nearest"]) == ([], [], [])
        _, text = await got(session, f"/api/pod/{cluster.namespace}/waits", tokens["admin"])
        assert json.loads(text)["groups"]


@kube
async def test_the_stream_shows_no_more_than_the_view(two_namespaces: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reviews, "REMEMBER_S", 0.1)
    cluster, tokens = two_namespaces, two_namespaces.plane.tokens
    other = Cluster(cluster.plane)
    other.namespace = f"{cluster.namespace}-{SECRET}"
    async with serving(cluster.plane, auth=True) as session:
        assert (await got(session, "/api/stream"))[0] == 401
        headers = {"Authorization": f"Bearer {tokens['nobody']}"}
        async with session.get("/api/stream", headers=headers) as stream:
            lines = [await stream.content.readline()]
            assert states(json.loads(lines[0])["view"]).keys() == {"mine", "waits"}
            await other.pod(f"{SECRET}-later", nodeName="n1")
            await cluster.pod("later", nodeName="n1")
            while b"later" not in lines[-1]:
                lines.append(await stream.content.readline())
            assert SECRET.encode() not in b"".join(lines)
            # The right is taken away: the stream shows nothing more.
            await asyncio.to_thread(cluster.api.delete, "RoleBinding", "ui-reader", cluster.namespace)
            last = b""
            while b"view" not in last:
                await cluster.pod(f"more-{len(lines)}", nodeName="n1")
                last = await stream.content.readline()
                lines.append(last)
            assert states(json.loads(last)["view"]) == {}


@kube
async def test_hostile_labels_and_annotations_are_cut(cluster: Cluster) -> None:
    script, long = "<script>alert(1)</script>", "x" * 200_000
    await cluster.node("n1")
    await cluster.pod("p1", metadata={"annotations": {"a": script + long}}, schedulerName="odd.scheduler")
    async with serving(cluster.plane) as session:
        for path in ("/api/view", f"/api/pod/{cluster.namespace}/p1", "/api/search?q=p1"):
            status, text = await got(session, path)
            assert status == 200
            assert long not in text
            assert script not in text


POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
rules: [{level: Metadata, omitStages: [RequestReceived]}]
"""


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ControlPlane, Path]]:
    folder = tmp_path_factory.mktemp("audit")
    (folder / "policy.yaml").write_text(POLICY)
    flags = (f"--audit-policy-file={folder / 'policy.yaml'}", f"--audit-log-path={folder / 'audit.log'}")
    with ControlPlane(extra_flags=flags) as plane:
        yield plane, folder / "audit.log"


@kube
@pytest.mark.slow
async def test_the_audit_log_has_nothing_of_it_but_reading_and_reviews(audited: tuple[ControlPlane, Path]) -> None:
    plane, log = audited
    cluster = Cluster(plane)
    await cluster.start()
    await cluster.node("n1")
    async with serving(plane, auth=True) as session:
        await cluster.pod("p1", nodeName="n1")
        await cluster.pod("waits", cpu="64")
        for path in ("/api/view", "/api/node/n1", f"/api/pod/{cluster.namespace}/waits", "/api/search?q=p1"):
            for token in ("admin", "nobody"):
                assert (await got(session, path, plane.tokens[token]))[0] in (200, 404)
    await asyncio.sleep(0.5)
    ours = [
        each for line in log.read_text().splitlines() if "bayplan" in (each := json.loads(line)).get("userAgent", "")
    ]
    kinds = {(each["verb"], each.get("objectRef", {}).get("resource", "")) for each in ours}
    assert {verb for verb, resource in kinds if "reviews" not in resource} <= {"get", "list", "watch"}
    assert {(verb, resource) for verb, resource in kinds if "reviews" in resource} == {
        ("create", "tokenreviews"),
        ("create", "subjectaccessreviews"),
    }
    assert ("watch", "pods") in kinds


def row(name: str, node: str = "") -> PodRow:
    made: Pod = pod(name).uid(name).on(node).build() if node else pod(name).uid(name).build()
    return PodRow(made, "Bound" if node else "Pending")


def test_pods_keep_their_rows_and_the_last_one_fills_a_hole() -> None:
    rows = PodRows()
    for name in ("a", "b", "c"):
        rows.put(row(name))
    rows.put(row("b", "n1"))
    assert [each.pod.name for each in rows.all()] == ["a", "b", "c"]
    assert rows.all()[1].pod.node_name == "n1"
    rows.drop(rows.all()[0].pod)
    assert [each.pod.name for each in rows.all()] == ["c", "b"]
    assert rows.find("default/a") is None
    found = rows.find("default/c")
    assert found is not None
    assert found.pod.name == "c"
    rows.drop(found.pod)
    rows.drop(rows.all()[0].pod)
    assert (len(rows), list(rows.namespaces())) == (0, [])
