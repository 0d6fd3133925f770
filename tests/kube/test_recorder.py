"""Events: what is written, series, giving way to binds, and what happens when nobody takes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
import structlog

from bayplan.clock import SystemClock, VirtualClock
from bayplan.errors import TransportError
from bayplan.kube import recorder as recorder_module
from bayplan.kube.recorder import Recorder
from bayplan.objects.pod import Pod
from bayplan.testing import pod
from tests.kube.scripted import ScriptedTransport, client_on, error, said
from tests.support.live import Cluster, client_of, close, until

pytestmark = pytest.mark.virtual_time

WEB = pod("web").namespace("ns").uid("u1").build()
OTHER = pod("other").namespace("ns").uid("u2").build()


def failing(recorder: Recorder, about: Pod = WEB, note: str = "no room") -> None:
    recorder.emit(about, type="Warning", reason="FailedScheduling", action="Scheduling", note=note, reporter="bayplan")


@asynccontextmanager
async def run(recorder: Recorder) -> AsyncIterator[None]:
    task = asyncio.ensure_future(recorder.run())
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def scripted(script: Any = None, **settings: Any) -> tuple[Recorder, ScriptedTransport, VirtualClock]:
    transport, clock = ScriptedTransport(script or [said(201)]), VirtualClock(1_700_000_000.25)
    return Recorder(client_on(transport), clock, hostname="host", **settings), transport, clock


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "FIRST_WAIT_S", 0.001)


async def test_an_event_says_all_there_is_to_say() -> None:
    recorder, transport, _ = scripted()
    recorder.emit(
        WEB,
        type="Normal",
        reason="Preempted",
        action="Preempting",
        note="n",
        related=OTHER,
        reporter="bayplan",
    )
    async with run(recorder):
        await recorder.drain(1.0)
    (request,) = transport.requests
    body = request.body
    name = body["metadata"].pop("name")
    assert request.path == "/apis/events.k8s.io/v1/namespaces/ns/events"
    assert name.startswith("web.")
    assert body == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"namespace": "ns"},
        "eventTime": "2023-11-14T22:13:20.250000Z",
        "type": "Normal",
        "reason": "Preempted",
        "action": "Preempting",
        "note": "n",
        "regarding": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "ns",
            "name": "web",
            "uid": "u1",
            "resourceVersion": "",
        },
        "related": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "ns",
            "name": "other",
            "uid": "u2",
            "resourceVersion": "",
        },
        "reportingController": "bayplan",
        "reportingInstance": "bayplan-host",
    }


async def test_the_same_again_becomes_a_series_written_at_once_and_then_now_and_then() -> None:
    recorder, transport, clock = scripted()
    async with run(recorder):
        for _ in range(5):
            failing(recorder)
            await until(lambda: not recorder.waiting, "the queue to be empty")
            await asyncio.sleep(0.01)
            clock.advance(1)
        assert [request.method for request in transport.requests] == ["POST", "PATCH"]
        assert transport.requests[1].body["series"]["count"] == 2
        clock.advance(recorder_module.REWRITE_S)
        failing(recorder)
        await recorder.drain(1.0)
    assert transport.requests[2].body == {"series": {"count": 6, "lastObservedTime": "2023-11-14T22:14:25.250000Z"}}


async def test_what_happens_again_while_it_is_being_written_is_counted_not_made_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorder, transport, _ = scripted()
    under_way, go_on = asyncio.Event(), asyncio.Event()
    send = recorder._client.send

    async def slow(*about: Any, **more: Any) -> Any:
        under_way.set()
        await go_on.wait()
        return await send(*about, **more)

    monkeypatch.setattr(recorder._client, "send", slow)
    async with run(recorder):
        failing(recorder)
        await under_way.wait()
        failing(recorder)
        await asyncio.sleep(0.01)
        go_on.set()
        await recorder.drain(1.0)
    assert [request.method for request in transport.requests] == ["POST", "PATCH"]


async def test_many_at_once_are_one_write() -> None:
    recorder, transport, _ = scripted()
    for _ in range(100):
        failing(recorder)
    async with run(recorder):
        await recorder.drain(1.0)
    (request,) = transport.requests
    assert request.body["series"]["count"] == 100


@pytest.mark.parametrize(
    "second",
    [
        ("another pod", OTHER, 0.0),
        (
            "another version of the pod",
            WEB.evolve(metadata=msgspec.structs.replace(WEB.metadata, resource_version="9")),
            0.0,
        ),
        ("after six minutes", WEB, recorder_module.SERIES_S),
    ],
    ids=lambda value: value[0],
)
async def test_what_is_not_the_same_is_an_event_of_its_own(second: tuple[str, Pod, float]) -> None:
    _, about, later = second
    recorder, transport, clock = scripted()
    async with run(recorder):
        failing(recorder)
        clock.advance(later)
        failing(recorder, about, "another note")
        await recorder.drain(1.0)
    assert [(r.method, r.body["note"]) for r in transport.requests] == [
        ("POST", "no room"),
        ("POST", "another note"),
    ]


async def test_a_series_the_api_server_has_forgotten_is_told_anew() -> None:
    recorder, transport, _ = scripted([said(201), error(404), said(201)])
    async with run(recorder):
        failing(recorder)
        await until(lambda: transport.requests, "the first")
        await asyncio.sleep(0.01)
        failing(recorder)
        await recorder.drain(1.0)
    first, _, again = transport.requests
    assert again.method == "POST"
    assert again.body["metadata"]["name"] != first.body["metadata"]["name"]
    assert again.body["series"]["count"] == 2


@pytest.mark.parametrize("problem", [TransportError("down"), error(500), error(429)])
async def test_trouble_that_passes_costs_no_event(problem: Any, impatient: None) -> None:
    recorder, transport, _ = scripted([problem, problem, said(201)])
    failing(recorder)
    async with run(recorder):
        await recorder.drain(2.0)
    assert len(transport.requests) == 3
    assert recorder.dropped == 0


async def test_what_is_refused_or_fails_for_long_is_dropped(impatient: None) -> None:
    recorder, transport, _ = scripted([error(403), *[error(500)] * recorder_module.TRIES, said(201)])
    for about in (WEB, OTHER, pod("third").build()):
        failing(recorder, about)
        async with run(recorder):
            await recorder.drain(2.0)
    assert recorder.dropped == 2
    assert len(transport.requests) == 1 + recorder_module.TRIES + 1


async def test_a_full_queue_drops_the_newest_and_blocks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "MAX_WAITING", 3)
    recorder, transport, _ = scripted()
    for number in range(5):
        failing(recorder, pod(f"p{number}").build())
    assert (recorder.waiting, recorder.dropped) == (3, 2)
    async with run(recorder):
        await recorder.drain(1.0)
    assert len(transport.requests) == 3


async def test_events_give_way_to_binds_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "GIVE_WAY_S", 0.2)
    recorder, transport, _ = scripted(busy=lambda: True)
    failing(recorder)
    async with run(recorder):
        await asyncio.sleep(0.05)
        assert transport.requests == []
        await until(lambda: transport.requests, "its turn")


async def test_what_is_left_at_the_end_is_said() -> None:
    recorder, _, _ = scripted()
    failing(recorder)
    with structlog.testing.capture_logs() as logs:
        await recorder.drain(0.01)
    assert logs == [{"event": "events not written", "count": 1, "log_level": "warning"}]


async def test_memory_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "MAX_SERIES", 10)
    recorder, _, _ = scripted()
    for number in range(50):
        failing(recorder, pod(f"p{number}").build())
    assert len(recorder._series) == 10


@pytest.mark.kube
async def test_the_real_api_server_takes_events_and_series(cluster: Cluster) -> None:
    client, _ = client_of(cluster.plane.kubeconfig())
    name = "a" * 253
    made = msgspec.convert(await cluster.pod(name), Pod)
    recorder = Recorder(client, SystemClock(), hostname="h" * 200)
    async with run(recorder):
        failing(recorder, made, "x" * 1024)
        await until(lambda: not recorder.waiting, "the first")
        await asyncio.sleep(0.1)
        failing(recorder, made)
        await recorder.drain(2.0)
        await asyncio.sleep(0.1)
    (event,) = await cluster.events(name, "FailedScheduling")
    assert event["series"]["count"] == 2
    assert len(event["message"]) == 1024
    assert recorder.dropped == 0
    await close(client)
