"""Patches of objects other than pods: what is sent, lost answers, and somebody who was quicker."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import ConflictError, ForbiddenError, LeadershipLostError, TransportError
from bayplan.kube import writer
from bayplan.kube.transport import Response
from bayplan.kube.writer import ApiWriter
from tests.kube.scripted import Request, ScriptedTransport, client_on, does_not_lead, error, said

pytestmark = pytest.mark.virtual_time

PATCH = {"metadata": {"annotations": {"a": "b"}}, "spec": {"claimRef": {"name": "c", "resourceVersion": None}}}
STORED = {
    "metadata": {"annotations": {"a": "b", "x": "y"}, "resourceVersion": "8"},
    "spec": {"claimRef": {"name": "c"}},
}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "FIRST_WAIT_S", 0.001)


def lost(request: Request) -> Response | TransportError:
    """Every patch gets through and is not answered."""
    return TransportError("lost") if request.method == "PATCH" else said(200, STORED)


async def test_a_merge_patch_with_the_version_as_precondition() -> None:
    transport = ScriptedTransport([said(200, {"metadata": {"resourceVersion": "8"}})])
    version = await ApiWriter(client_on(transport)).patch("PersistentVolume", "", "v", PATCH, "7")
    (request,) = transport.requests
    assert version == "8"
    assert (request.method, request.path) == ("PATCH", "/api/v1/persistentvolumes/v")
    assert request.headers["Content-Type"] == "application/merge-patch+json"
    assert request.body == PATCH | {"metadata": {"annotations": {"a": "b"}, "resourceVersion": "7"}}


async def test_a_patch_without_precondition_of_an_object_in_a_namespace() -> None:
    transport = ScriptedTransport([said(200, {"metadata": {"resourceVersion": "8"}})])
    await ApiWriter(client_on(transport)).patch("PersistentVolumeClaim", "ns", "c", {"spec": {}})
    assert transport.requests[0].path == "/api/v1/namespaces/ns/persistentvolumeclaims/c"
    assert transport.requests[0].body == {"spec": {}}


async def test_a_patch_whose_answer_was_lost_is_found_by_reading() -> None:
    transport = ScriptedTransport(lost)
    assert await ApiWriter(client_on(transport)).patch("PersistentVolume", "", "v", PATCH, "7") == "8"
    assert [request.method for request in transport.requests] == ["PATCH", "GET"]


@pytest.mark.parametrize(
    "stored",
    [
        {"metadata": {"resourceVersion": "8"}, "spec": {}},
        {"metadata": {"annotations": {"a": "other"}, "resourceVersion": "8"}, "spec": {"claimRef": {"name": "c"}}},
        {"metadata": STORED["metadata"], "spec": {"claimRef": {"name": "other"}}},
    ],
)
async def test_somebody_who_was_quicker_is_a_conflict(stored: dict[str, Any]) -> None:
    transport = ScriptedTransport([error(409, "modified"), said(200, stored)])
    with pytest.raises(ConflictError, match="modified"):
        await ApiWriter(client_on(transport)).patch("PersistentVolume", "", "v", PATCH, "7")
    assert len(transport.requests) == 2


async def test_a_conflict_that_cannot_be_looked_into_stays_one() -> None:
    transport = ScriptedTransport([error(409, "modified"), error(403)])
    with pytest.raises(ConflictError):
        await ApiWriter(client_on(transport)).patch("PersistentVolume", "", "v", PATCH, "7")


async def test_errors_that_pass_are_waited_out_and_others_are_told() -> None:
    transport = ScriptedTransport([error(503), said(200, STORED)])
    assert await ApiWriter(client_on(transport)).patch("PersistentVolume", "", "v", PATCH) == "8"
    with pytest.raises(ForbiddenError):
        await ApiWriter(client_on(ScriptedTransport([error(403)]))).patch("PersistentVolume", "", "v", PATCH)


async def test_only_the_leader_writes() -> None:
    transport = ScriptedTransport([said(200, STORED)])
    with pytest.raises(LeadershipLostError):
        await ApiWriter(client_on(transport), does_not_lead).patch("PersistentVolume", "", "v", PATCH)
    assert transport.requests == []
