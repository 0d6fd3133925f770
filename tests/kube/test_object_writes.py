"""Objects that are made, read, deleted and released: what is sent, lost answers, and the real API server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import pytest

from bayplan.errors import ConflictError, ForbiddenError, NotFoundError, TransportError
from bayplan.kube import writer
from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client
from bayplan.kube.transport import Response
from bayplan.kube.writer import ApiWriter
from bayplan.objects.devices.names import DELETE_PROTECTION
from bayplan.objects.devices.resource_claim import (
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
)
from bayplan.objects.meta import ObjectMeta, OwnerReference
from tests.kube.scripted import Request, ScriptedTransport, client_on, error, said
from tests.support.binaries import binaries_or_skip
from tests.support.control_plane import ControlPlane

SPEC = ResourceClaimSpec(
    devices=DeviceClaim(
        requests=(DeviceRequest(name="gpu", exactly=ExactDeviceRequest(device_class_name="gpu", count=1)),)
    )
)
OWNER = OwnerReference(api_version="v1", kind="Pod", name="web", uid="1", controller=True)
CLAIM = ResourceClaim(
    metadata=ObjectMeta(generate_name="web-extended-resources-", namespace="default", owner_references=(OWNER,)),
    spec=SPEC,
)
PATH = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "FIRST_WAIT_S", 0.001)


def stored(body: Any) -> dict[str, Any]:
    """As the API server would answer."""
    meta = {**body["metadata"], "uid": "u", "resourceVersion": "5"}
    return {**body, "metadata": meta}


async def test_the_name_of_a_new_object_is_made_before_it_is_sent() -> None:
    transport = ScriptedTransport(lambda request: said(201, stored(request.body)))
    made = await ApiWriter(client_on(transport)).create(CLAIM)
    (request,) = transport.requests
    assert (request.method, request.path) == ("POST", PATH)
    assert request.body["kind"] == "ResourceClaim"
    assert request.body["metadata"]["name"] == made.name
    assert len(made.name) == len("web-extended-resources-") + 5
    assert (made.uid, made.metadata.resource_version) == ("u", "5")


async def test_an_object_whose_answer_was_lost_is_made_once() -> None:
    sent: list[Any] = []

    def server(request: Request) -> Response | TransportError:
        if request.method == "GET":
            return said(200, stored(sent[0]))
        sent.append(request.body)
        return TransportError("lost") if len(sent) == 1 else error(409, "already exists")

    transport = ScriptedTransport(server)
    made = await ApiWriter(client_on(transport)).create(CLAIM)
    assert [each.method for each in transport.requests] == ["POST", "POST", "GET"]
    assert sent[0] == sent[1]
    assert made.name == sent[0]["metadata"]["name"]


async def test_a_name_that_is_taken_is_a_conflict() -> None:
    transport = ScriptedTransport([error(409, "already exists")])
    with pytest.raises(ConflictError):
        await ApiWriter(client_on(transport)).create(CLAIM)
    other = {"metadata": {"name": "x", "ownerReferences": []}}
    transport = ScriptedTransport([TransportError("lost"), error(409, "already exists"), said(200, other)])
    with pytest.raises(ConflictError):
        await ApiWriter(client_on(transport)).create(CLAIM)


@pytest.mark.parametrize("answer", [said(200, {}), error(404), error(409)])
async def test_what_is_gone_already_is_deleted(answer: Response) -> None:
    claim = ResourceClaim(metadata=ObjectMeta(name="c", namespace="default", uid="u"))
    transport = ScriptedTransport([answer])
    await ApiWriter(client_on(transport)).delete(claim)
    (request,) = transport.requests
    assert (request.method, request.path) == ("DELETE", f"{PATH}/c")
    assert request.body == {"preconditions": {"uid": "u"}}


async def test_errors_that_do_not_pass_are_told() -> None:
    claim = ResourceClaim(metadata=ObjectMeta(name="c", namespace="default", uid="u"))
    for work in ("delete", "release_claim"):
        made = ApiWriter(client_on(ScriptedTransport([error(403)])))
        with pytest.raises(ForbiddenError):
            await (made.delete(claim) if work == "delete" else made.release_claim(claim, "1"))


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(binaries_or_skip()) as running:
        yield running


@pytest.mark.kube
def test_the_life_of_a_claim_on_the_real_api_server(plane: ControlPlane) -> None:
    """With the rights of kube-scheduler and no others."""
    credentials = Credentials(str(plane.kubeconfig("scheduler")))

    async def story() -> None:
        client = Client(credentials)
        scheduler = ApiWriter(client)
        try:
            claim = cast(ResourceClaim, await scheduler.create(CLAIM))
            place = "ResourceClaim", "default", claim.name
            version = claim.metadata.resource_version
            protected = {"metadata": {"finalizers": [DELETE_PROTECTION]}}
            version = await scheduler.patch(*place, protected, version)
            with pytest.raises(ConflictError):
                await scheduler.patch(*place, {"status": {"reservedFor": []}}, "1", "status")
            result = {"request": "gpu", "driver": "d.example.com", "pool": "n1", "device": "gpu-0"}
            pods = [{"resource": "pods", "name": name, "uid": name} for name in ("a", "b")]
            status = {"allocation": {"devices": {"results": [result]}}, "reservedFor": pods}
            version = await scheduler.patch(*place, {"status": status}, version, "status")
            found = cast(ResourceClaim, await scheduler.read(*place))
            assert found.metadata.resource_version == version
            assert found.metadata.finalizers == (DELETE_PROTECTION,)
            assert found.results[0].device == "gpu-0"
            await scheduler.release_claim(found, "a")
            await scheduler.release_claim(found, "a")
            left = cast(ResourceClaim, await scheduler.read(*place))
            assert [each.uid for each in left.reserved_for] == ["b"]
            anew = ResourceClaim(metadata=ObjectMeta(name=claim.name, namespace="default", uid="another"))
            await scheduler.release_claim(anew, "b")
            await scheduler.delete(anew)
            assert cast(ResourceClaim, await scheduler.read(*place)).is_reserved_for("b")
            await scheduler.delete(left)
            going = cast(ResourceClaim, await scheduler.read(*place))
            assert going.is_terminating
            await scheduler.release_claim(going, "b")
            gone = {"status": {"allocation": None}}
            await scheduler.patch(*place, gone, subresource="status")
            await scheduler.patch(*place, {"metadata": {"finalizers": None}})
            with pytest.raises(NotFoundError):
                await scheduler.read(*place)
        finally:
            await client.close()

    asyncio.run(story())
