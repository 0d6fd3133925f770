"""Following one kind: lists in pages, watches, 410 and differences, old news, nonsense, refusals.

First what a scripted API server can be made to do, then the same on the real one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import structlog

from bayplan.errors import PluginError, TransportError
from bayplan.kube import informer as informer_module
from bayplan.kube.client import Client
from bayplan.kube.informer import Informer
from bayplan.objects.kinds import Kind, find
from bayplan.objects.pod import Pod
from tests.kube.scripted import Request, ScriptedTransport, client_on, error, line, said
from tests.support.faults import ERROR_410, FaultyTransport
from tests.support.live import Cluster, client_of, close, until

pytestmark = pytest.mark.virtual_time

Told = list[tuple[str, str, str]]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(informer_module, "FIRST_BACKOFF_S", 0.01)
    monkeypatch.setattr(informer_module, "REFUSED_BACKOFF_S", 0.1)


def pod(name: str, version: int, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"metadata": metadata, "spec": spec}


def listed(version: int, *items: dict[str, Any], then: str = "") -> Any:
    return said(200, {"metadata": {"resourceVersion": str(version), "continue": then}, "items": list(items)})


def follow(client: Client, kind: Kind | None = None, **settings: Any) -> tuple[Informer[Pod], Told]:
    """An informer, and what it tells: what happened, to whom, and which version."""
    told: Told = []
    known = kind or find("v1", "Pod")
    assert known is not None
    informer: Informer[Pod] = Informer(
        client,
        known,
        added=lambda value: told.append(("added", value.name, value.metadata.resource_version)),
        changed=lambda old, new: told.append(("changed", new.name, new.metadata.resource_version)),
        deleted=lambda value: told.append(("deleted", value.name, value.metadata.resource_version)),
        **settings,
    )
    return informer, told


@asynccontextmanager
async def run(informer: Informer[Any]) -> AsyncIterator[None]:
    task = asyncio.ensure_future(informer.run())
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def told_by(transport: ScriptedTransport, count: int, **settings: Any) -> tuple[Informer[Pod], Told]:
    """Run until so much was told, and a moment longer."""
    informer, told = follow(client_on(transport), **settings)
    async with run(informer):
        await until(lambda: len(told) >= count, f"{count} calls, got {told}", timeout_s=3)
        await asyncio.sleep(0.05)
    return informer, told


# -- scripted --


async def test_a_list_comes_in_pages_and_the_watch_starts_where_it_ended() -> None:
    transport = ScriptedTransport(
        [listed(5, pod("a", 1), then="next"), listed(5, pod("b", 2))],
        [[line("ADDED", pod("c", 6)), line("MODIFIED", pod("a", 7)), line("DELETED", pod("b", 8))]],
    )
    informer, told = await told_by(transport, 5, field_selector="x=y")
    added = [("added", "a", "1"), ("added", "b", "2"), ("added", "c", "6")]
    assert told == [*added, ("changed", "a", "7"), ("deleted", "b", "8")]
    first, second = transport.asked("GET")
    assert (first.params, second.params["continue"]) == ({"limit": "500", "fieldSelector": "x=y"}, "next")
    watch = transport.asked("WATCH")[0].params
    assert (watch["resourceVersion"], watch["allowWatchBookmarks"], watch["fieldSelector"]) == (
        "5",
        "true",
        "x=y",
    )
    assert {value.name for value in informer.objects()} == {"a", "c"}


async def test_a_watch_goes_on_after_the_last_event_or_bookmark() -> None:
    bookmark = line("BOOKMARK", {"metadata": {"resourceVersion": "40"}})
    transport = ScriptedTransport(
        [listed(5)], [[line("ADDED", pod("a", 6))], TransportError("broken"), [bookmark], error(503, "busy")]
    )
    await told_by(transport, 1)
    await asyncio.sleep(0)
    versions = [request.params["resourceVersion"] for request in transport.asked("WATCH")]
    assert versions[:3] == ["5", "6", "6"]
    assert set(versions[3:]) == {"40"}
    assert len(transport.asked("GET")) == 1


@pytest.mark.parametrize("gone", [[ERROR_410], error(410, "too old")])
async def test_after_410_it_lists_again_and_tells_the_differences(gone: Any) -> None:
    before = [pod("stays", 1), pod("changes", 2), pod("goes", 3)]
    after = [pod("stays", 1), pod("changes", 7), pod("comes", 8)]
    transport = ScriptedTransport([listed(5, *before), listed(9, *after)], [gone])
    informer, told = await told_by(transport, 6)
    assert told[3:] == [("deleted", "goes", "3"), ("changed", "changes", "7"), ("added", "comes", "8")]
    assert transport.asked("WATCH")[-1].params["resourceVersion"] == "9"
    assert informer.lists == 2


async def test_what_is_found_by_listing_can_be_told_from_what_was_seen_to_happen() -> None:
    transport = ScriptedTransport(
        [listed(5, pod("a", 1)), listed(9, pod("a", 1), pod("c", 8))], [[line("ADDED", pod("b", 6)), ERROR_410]]
    )
    informer, told = follow(client_on(transport))
    listing: list[bool] = []
    informer._added = lambda value: listing.append(informer.is_listing)
    async with run(informer):
        await until(lambda: len(listing) == 3, "three pods")
    assert listing == [True, False, True]
    assert told == [("deleted", "b", "6")]


async def test_a_pod_made_anew_under_the_same_name_is_another_pod() -> None:
    again = pod("a", 8)
    again["metadata"]["uid"] = "another"
    _, told = await told_by(ScriptedTransport([listed(5, pod("a", 1)), listed(9, again)], [[ERROR_410]]), 3)
    assert told == [("added", "a", "1"), ("deleted", "a", "1"), ("added", "a", "8")]


async def test_pages_that_grew_too_old_are_asked_for_all_at_once() -> None:
    def answer(request: Request) -> Any:
        if "continue" in request.params:
            return error(410, "The provided continue parameter is too old")
        return listed(5, pod("a", 1), pod("b", 2), then="" if "limit" not in request.params else "next")

    transport = ScriptedTransport(answer)
    _, told = await told_by(transport, 2)
    assert [name for _, name, _ in told] == ["a", "b"]
    assert "limit" not in transport.asked("GET")[-1].params


async def test_old_news_of_a_lagging_server_is_not_told() -> None:
    lines = [
        line("MODIFIED", pod("a", 9)),
        line("MODIFIED", pod("a", 7)),
        line("MODIFIED", pod("a", 9)),
        line("BOOKMARK", {"metadata": {"resourceVersion": "8"}}),
        line("DELETED", pod("never-seen", 10)),
    ]
    transport = ScriptedTransport([listed(5, pod("a", 1))], [lines])
    _, told = await told_by(transport, 2)
    assert told == [("added", "a", "1"), ("changed", "a", "9")]
    await asyncio.sleep(0)
    assert transport.asked("WATCH")[1].params["resourceVersion"] == "10"


async def test_an_object_that_makes_no_sense_keeps_what_was_known_of_it() -> None:
    broken = pod("a", 6) | {"spec": {"containers": 3}}
    gone = pod("b", 8) | {"spec": {"containers": 3}}
    start = listed(5, pod("a", 1), pod("b", 2), {"metadata": {"uid": 4}})
    transport = ScriptedTransport(
        [start, listed(20, broken)], [[line("MODIFIED", broken), line("DELETED", gone), ERROR_410]]
    )
    with structlog.testing.capture_logs() as logs:
        informer, told = await told_by(transport, 3)
        await asyncio.sleep(0.05)
    assert told == [("added", "a", "1"), ("added", "b", "2"), ("deleted", "b", "2")]
    assert informer.bad_objects == 4
    left_out = [entry["object"] for entry in logs if entry["event"] == "object left out"]
    assert left_out.count("ns/a") == 1, "each is named once"


@pytest.mark.parametrize("nonsense", [b"\xff", b"3", b"{}", b'{"type": "ADDED"}', b'{"type": "ERROR", "object": 1}'])
async def test_a_line_that_makes_no_sense_leads_to_a_new_list(nonsense: bytes) -> None:
    _, told = await told_by(ScriptedTransport([listed(5), listed(6, pod("a", 6))], [[nonsense]]), 1)
    assert told == [("added", "a", "6")]


async def test_a_receiver_that_raises_hears_of_the_next_object_all_the_same() -> None:
    transport = ScriptedTransport([listed(5, pod("a", 1), pod("b", 2))])
    heard: list[str] = []

    def added(value: Pod) -> None:
        heard.append(value.name)
        raise IndexError("upset")

    informer, _ = follow(client_on(transport))
    informer._added = added
    async with run(informer):
        await until(lambda: len(heard) == 2, "both")
    assert informer.bad_objects == 2


async def test_a_plugin_that_upsets_the_receiver_is_named_in_one_line() -> None:
    transport = ScriptedTransport([listed(5, pod("a", 1))])

    def added(value: Pod) -> None:
        raise PluginError("Sort", "QueueSort", value.key, ValueError("oops"))

    informer, _ = follow(client_on(transport))
    informer._added = added
    with structlog.testing.capture_logs() as logs:
        async with run(informer):
            await until(lambda: informer.bad_objects == 1, "the pod")
    (line,) = (each for each in logs if each["event"] == "object refused")
    assert line["error"] == "plugin Sort failed in QueueSort for pod ns/a: ValueError: oops"
    assert "exc_info" not in line


async def test_a_refused_kind_says_what_to_add_and_holds_nobody_up() -> None:
    allowed = False

    def answer(request: Request) -> Any:
        return listed(5, pod("a", 1)) if allowed else error(403, "pods is forbidden", "Forbidden")

    informer, told = follow(client_on(ScriptedTransport(answer)))
    async with run(informer):
        await asyncio.wait_for(informer.synced.wait(), 1)
        assert informer.refused == (
            "may not list and watch pods (pods is forbidden); add to the ClusterRole: "
            'apiGroups: [""], resources: ["pods"], verbs: ["list", "watch"]'
        )
        allowed = True
        await until(lambda: told and not informer.refused, "the list")


RULES = find("resource.k8s.io/v1beta2", "DeviceTaintRule")


@pytest.mark.parametrize("answer", [error(403, "may not"), error(404)])
@pytest.mark.parametrize("version", [error(404), said(200, {"resources": [{"name": "resourceclaims"}]})])
async def test_an_optional_kind_that_is_not_served_costs_two_requests_and_no_complaint(
    answer: Any, version: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(informer_module, "ABSENT_BACKOFF_S", 60.0)
    transport = ScriptedTransport([answer, version])
    refusals: list[str] = []
    with structlog.testing.capture_logs() as logs:
        informer, told = follow(client_on(transport), RULES, refusal=refusals.append)
        async with run(informer):
            await informer.synced.wait()
    assert [each.path for each in transport.requests] == [
        "/apis/resource.k8s.io/v1beta2/devicetaintrules",
        "/apis/resource.k8s.io/v1beta2",
    ]
    assert (told, refusals, informer.refused) == ([], [], "")
    assert [line["log_level"] for line in logs] == ["info"]


@pytest.mark.parametrize("version", [error(403), said(200, {"resources": [{"name": "devicetaintrules"}]})])
async def test_an_optional_kind_that_is_served_but_not_for_us_is_refused_like_any_other(version: Any) -> None:
    transport = ScriptedTransport([error(403, "may not"), version, listed(5)])
    informer, _ = follow(client_on(transport), RULES)
    async with run(informer):
        await until(lambda: informer.refused, "the refusal")
        assert 'resources: ["devicetaintrules"]' in informer.refused
        await until(lambda: not informer.refused, "the list")


async def test_an_essential_kind_that_is_refused_does_hold_us_up() -> None:
    informer, _ = follow(client_on(ScriptedTransport([error(403)])), essential=True)
    async with run(informer):
        await until(lambda: informer.refused, "the refusal")
        assert not informer.synced.is_set()


async def test_trouble_that_lasts_is_told_once_in_a_while() -> None:
    transport = ScriptedTransport([TransportError("down")])
    informer, _ = follow(client_on(transport))
    with structlog.testing.capture_logs() as logs:
        async with run(informer):
            await until(lambda: len(transport.requests) >= 4, "some tries")
    assert [entry["event"] for entry in logs] == ["watch broke"]


async def test_throttling_is_obeyed_and_short_watches_are_not_repeated_in_a_rush() -> None:
    transport = ScriptedTransport([error(429, Retry_After="1"), listed(5)], [[] for _ in range(1000)])
    informer, _ = follow(client_on(transport))
    async with run(informer):
        await asyncio.sleep(0.2)
        assert len(transport.asked("GET")) == 1
        await until(lambda: informer.watches > 0, "the watch", timeout_s=3)
        await asyncio.sleep(0.3)
    assert informer.watches < 15


# -- real --

Real = tuple[Client, FaultyTransport]


@pytest.fixture
async def real(cluster: Cluster) -> AsyncIterator[Real]:
    """A client of the real API server, with faults."""
    client, faults = client_of(cluster.plane.kubeconfig())
    yield client, faults
    await close(client)


@pytest.mark.kube
async def test_the_real_api_server_is_listed_in_pages_and_followed(
    cluster: Cluster, real: Real, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(informer_module, "PAGE", 2)
    await cluster.pods(5)
    client, faults = real
    informer, told = follow(client)
    async with run(informer):
        await until(lambda: len(told) == 5, "the list")
        assert faults.count("GET", "/pods$") == 3
        await cluster.bind("p1", "n1")
        await cluster.delete("p2")
        await cluster.pod("p6")
        await until(lambda: told[-1][1] == "p6", "the changes")
    assert {("changed", "p1"), ("deleted", "p2"), ("added", "p6")} <= {(what, name) for what, name, _ in told[5:]}
    assert {value.name for value in informer.objects()} == {"p1", "p3", "p4", "p5", "p6"}


@pytest.mark.kube
async def test_pods_that_end_are_told_as_gone_where_only_living_ones_are_followed(cluster: Cluster, real: Real) -> None:
    await cluster.pod("p1")
    client, _ = real
    informer, told = follow(client, field_selector="status.phase!=Succeeded,status.phase!=Failed")
    async with run(informer):
        await until(lambda: told, "the list")
        ended = {"status": {"phase": "Failed"}}
        await asyncio.to_thread(cluster.api.patch, "Pod", "p1", ended, cluster.namespace, "status")
        await until(lambda: len(told) == 2, "its end")
    assert [what for what, _, _ in told] == ["added", "deleted"]


@pytest.mark.kube
async def test_a_kind_the_real_api_server_does_not_have_is_done_without(cluster: Cluster, real: Real) -> None:
    client, _ = real
    informer, _ = follow(client, Kind("example.com", "v1", "Gadget", "gadgets", Pod))
    async with run(informer):
        await asyncio.wait_for(informer.synced.wait(), 3)
    assert informer.refused == "the API server has no gadgets in example.com/v1: goes on without them"


@pytest.mark.kube
async def test_a_kind_that_is_installed_later_is_followed_then(cluster: Cluster, real: Real) -> None:
    client, _ = real
    kind = Kind("late.example.com", "v1", "Gadget", "gadgets", Pod)
    informer, told = follow(client, kind)
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.late.example.com"},
        "spec": {
            "group": kind.group,
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    path = f"/apis/{kind.group}/v1/namespaces/{cluster.namespace}/gadgets"
    gadget = {"apiVersion": kind.api_version, "kind": "Gadget"}
    async with run(informer):
        await until(lambda: informer.refused, "the refusal")
        await cluster.create(definition)
        try:
            await until(lambda: not informer.refused, "the kind", timeout_s=15)
            # What a custom resource says is up to whoever wrote it.
            odd = gadget | {"metadata": {"name": "odd"}, "spec": {"containers": "none"}}
            await asyncio.to_thread(cluster.api.call, "POST", path, odd)
            await asyncio.to_thread(cluster.api.call, "POST", path, gadget | {"metadata": {"name": "good"}})
            await until(lambda: told, "the good one")
        finally:
            await asyncio.to_thread(cluster.api.delete, "CustomResourceDefinition", "gadgets.late.example.com")
    assert [(what, name) for what, name, _ in told] == [("added", "good")]
    assert informer.bad_objects == 1
