"""Binds, status patches and deletions: preconditions, lost answers, patience, and who may write at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from bayplan.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    LeadershipLostError,
    NotFoundError,
    ServerError,
    TooManyRequestsError,
    TransportError,
)
from bayplan.kube import writer as writer_module
from bayplan.kube.transport import Response
from bayplan.kube.writer import ApiWriter
from bayplan.objects.pod import Pod
from bayplan.testing import pod
from tests.kube.scripted import Answer, Request, ScriptedTransport, client_on, does_not_lead, error, said
from tests.support.live import Cluster, client_of, close, scheduled_condition

pytestmark = pytest.mark.virtual_time

WEB = pod("web").namespace("ns").uid("u1").build()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(writer_module, "MAX_WAIT_S", 0.02)


def on(script: Any, **settings: Any) -> tuple[ApiWriter, ScriptedTransport]:
    transport = ScriptedTransport(script)
    return ApiWriter(client_on(transport), **settings), transport


def stored(node: str = "", uid: str = "u1") -> Any:
    return said(200, {"metadata": {"uid": uid}, "spec": {"nodeName": node} if node else {}})


def posts(*answers: Answer, reads: Answer) -> Any:
    """A script: binds get one answer after the other, the last for ever; the pod reads as given."""
    left = list(answers)

    def answer(request: Request) -> Answer:
        if request.method == "GET":
            return reads
        return left.pop(0) if len(left) > 1 else left[0]

    return answer


async def test_a_bind_names_pod_uid_and_node() -> None:
    writer, transport = on([said(201)])
    await writer.bind(WEB, "n1")
    (request,) = transport.requests
    assert (request.method, request.path) == ("POST", "/api/v1/namespaces/ns/pods/web/binding")
    assert request.body == {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "web", "namespace": "ns", "uid": "u1"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "n1"},
    }


async def test_a_server_that_does_not_know_protobuf_gets_json_from_then_on() -> None:
    writer, transport = on([error(415, "unsupported media type"), said(201)])
    await writer.bind(WEB, "n1")
    await writer.bind(WEB, "n2")
    sent = [request.headers["Content-Type"] for request in transport.requests]
    assert sent == ["application/vnd.kubernetes.protobuf", "application/json", "application/json"]
    assert [request.body["target"]["name"] for request in transport.requests] == ["n1", "n1", "n2"]
    assert transport.requests[0].body == transport.requests[1].body


@pytest.mark.parametrize("problem", [TransportError("lost"), error(409, "already assigned")])
async def test_a_bind_in_doubt_is_done_if_the_pod_is_there(problem: Answer, impatient: None) -> None:
    writer, transport = on(posts(problem, reads=stored("n1")))
    await writer.bind(WEB, "n1")
    assert [request.method for request in transport.requests] == ["POST", "GET"]


@pytest.mark.parametrize(
    "reads",
    [stored("n2"), stored("n1", uid="another"), stored(), error(404, "gone")],
    ids=["else", "anew", "no", "404"],
)
async def test_a_conflict_is_the_callers_if_the_pod_is_not_there(reads: Answer, impatient: None) -> None:
    writer, transport = on(posts(error(409, "pod is already assigned"), reads=reads))
    with pytest.raises(ConflictError, match="already assigned"):
        await writer.bind(WEB, "n1")
    assert len(transport.asked("POST")) == 1


async def test_a_lost_request_is_sent_again(impatient: None) -> None:
    writer, transport = on(posts(TransportError("lost"), TransportError("lost"), said(201), reads=stored()))
    await writer.bind(WEB, "n1")
    assert len(transport.asked("POST")) == 3


async def test_a_network_that_stays_down_is_given_up_in_the_end(
    impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "PATIENCE_S", 0.2)
    writer, transport = on([TransportError("down")])
    with pytest.raises(TransportError, match="down"):
        await writer.bind(WEB, "n1")
    assert len(transport.asked("POST")) > writer_module.SERVER_ERRORS


@pytest.mark.parametrize(
    ("answer", "raised", "tries"),
    [
        (error(500, "broken"), ServerError, 4),
        (error(403, "denied"), ForbiddenError, 1),
        (error(400, "nonsense"), ApiError, 1),
        (error(404, "gone"), NotFoundError, 1),
    ],
)
async def test_how_often_an_error_is_tried(
    answer: Answer, raised: type[Exception], tries: int, impatient: None
) -> None:
    writer, transport = on(posts(answer, reads=stored()))
    with pytest.raises(raised):
        await writer.bind(WEB, "n1")
    assert len(transport.asked("POST")) == tries


async def test_throttling_lasts_as_long_as_the_server_says(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    sleep = asyncio.sleep

    async def noting(seconds: float) -> None:
        slept.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", noting)
    writer, _ = on(posts(error(429, Retry_After="3"), error(429, Retry_After="3600"), said(201), reads=stored()))
    await writer.bind(WEB, "n1")
    first, second = [seconds for seconds in slept if seconds]
    assert 2.4 <= first <= 3.6
    assert second <= 1.2 * writer_module.MAX_RETRY_AFTER_S, "an hour would be too much of a good thing"


async def test_throttling_without_end_is_given_up(impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "PATIENCE_S", 0.1)
    writer, _ = on([error(429)])
    with pytest.raises(TooManyRequestsError):
        await writer.bind(WEB, "n1")


class Slow(ScriptedTransport):
    """Counts how many requests are under way at once."""

    under_way = most = 0

    async def request(self, *args: Any, **settings: Any) -> Response:
        Slow.under_way += 1
        Slow.most = max(Slow.most, Slow.under_way)
        await asyncio.sleep(0.01)
        Slow.under_way -= 1
        return said(201)


async def test_only_so_many_binds_are_under_way_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "MAX_BINDING", 3)
    writer = ApiWriter(client_on(Slow()))
    binds = [asyncio.ensure_future(writer.bind(WEB, "n1")) for _ in range(10)]
    await asyncio.sleep(0)
    assert writer.binding == 10
    await asyncio.gather(*binds)
    assert (Slow.most, writer.binding) == (3, 0)


async def test_binds_cancelled_together_are_cancelled_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "MAX_BINDING", 1)
    writer, _ = on([said(201)])
    binds = [asyncio.ensure_future(writer.bind(WEB, "n1")) for _ in range(5)]
    await asyncio.sleep(0)
    for each in binds:
        each.cancel()
    ends = await asyncio.gather(*binds, return_exceptions=True)
    assert [type(end) for end in ends] == [asyncio.CancelledError] * 5
    assert writer.binding == 0


async def test_who_may_not_write_does_not() -> None:
    writer, transport = on([said(201)], check_lead=does_not_lead)
    for work in (writer.bind(WEB, "n1"), writer.patch_pod_status(WEB, {}), writer.delete_pod(WEB)):
        with pytest.raises(LeadershipLostError, match="not the leader any more"):
            await work
    assert transport.requests == []


async def test_leadership_lost_between_two_tries_ends_them(impatient: None) -> None:
    leads = True

    def answer(request: Request) -> Answer:
        nonlocal leads
        leads = False
        return error(500)

    writer, transport = on(answer, check_lead=lambda: None if leads else does_not_lead())
    with pytest.raises(LeadershipLostError):
        await writer.bind(WEB, "n1")
    assert len(transport.requests) == 1


async def test_closing_waits_for_the_bind_under_way_and_starts_no_other() -> None:
    writer, _ = on([said(201)])
    under_way = asyncio.ensure_future(writer.bind(WEB, "n1"))
    await asyncio.sleep(0)
    await writer.close(1.0)
    assert under_way.done()
    with pytest.raises(LeadershipLostError, match="stopping"):
        await writer.bind(WEB, "n1")


@pytest.mark.parametrize("answer", [said(200), error(404), error(409)])
async def test_a_deletion_is_done_when_the_pod_is_gone_whoever_did_it(answer: Answer) -> None:
    writer, transport = on([answer])
    await writer.delete_pod(WEB)
    assert transport.requests[0].body == {"preconditions": {"uid": "u1"}}


# -- real --


@pytest.fixture
async def real(cluster: Cluster) -> AsyncIterator[ApiWriter]:
    client, _ = client_of(cluster.plane.kubeconfig())
    yield ApiWriter(client)
    await close(client)


async def stored_pod(cluster: Cluster, name: str = "p1", **spec: Any) -> Pod:
    return msgspec.convert(await cluster.pod(name, **spec), Pod)


@pytest.mark.kube
async def test_the_real_api_server_binds_once_and_to_one_node(cluster: Cluster, real: ApiWriter) -> None:
    bound = await stored_pod(cluster)
    await real.bind(bound, "n1")
    await real.bind(bound, "n1")  # the second time is answered with 409, and settled by reading
    with pytest.raises(ConflictError, match="already assigned to node"):
        await real.bind(bound, "n2")
    assert (await cluster.get("p1"))["spec"]["nodeName"] == "n1"


@pytest.mark.kube
async def test_the_real_api_server_touches_no_pod_of_the_same_name(cluster: Cluster, real: ApiWriter) -> None:
    old = await stored_pod(cluster)
    await cluster.delete("p1")
    new = await stored_pod(cluster)
    with pytest.raises(ConflictError):
        await real.bind(old, "n1")
    with pytest.raises(ConflictError):
        await real.patch_pod_status(old, {"nominatedNodeName": "n1"})
    await real.delete_pod(old)
    now = await cluster.get("p1")
    assert (now["metadata"]["uid"], now["spec"].get("nodeName")) == (new.uid, None)
    assert "nominatedNodeName" not in now["status"]
    await cluster.delete("p1")
    for work in (real.bind(old, "n1"), real.patch_pod_status(old, {"nominatedNodeName": "n1"})):
        with pytest.raises(NotFoundError):
            await work
    await real.delete_pod(old)


@pytest.mark.kube
async def test_the_real_api_server_merges_conditions_by_type(cluster: Cluster, real: ApiWriter) -> None:
    waiting = await stored_pod(cluster)
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "one"}
    await real.patch_pod_status(waiting, {"conditions": [condition], "nominatedNodeName": "n1"})
    await real.patch_pod_status(waiting, {"conditions": [{"type": "DisruptionTarget", "status": "True"}]})
    await real.patch_pod_status(waiting, {"conditions": [condition | {"message": "two"}]})
    now = await cluster.get("p1")
    told = scheduled_condition(now)
    assert told is not None
    assert (told["message"], now["status"]["nominatedNodeName"]) == ("two", "n1")
    assert {one["type"] for one in now["status"]["conditions"]} == {"PodScheduled", "DisruptionTarget"}
    await real.patch_pod_status(waiting, {"nominatedNodeName": None})
    assert "nominatedNodeName" not in (await cluster.get("p1"))["status"]


@pytest.mark.kube
async def test_the_real_api_server_refuses_a_pod_that_is_going(cluster: Cluster, real: ApiWriter) -> None:
    going = await stored_pod(cluster, metadata={"finalizers": ["example.com/wait"]})
    await cluster.delete("p1")
    with pytest.raises(ConflictError, match="being deleted"):
        await real.bind(going, "n1")
