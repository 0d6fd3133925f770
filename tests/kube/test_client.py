"""Requests: errors by status, credentials renewed once for all, watches that are refused, paths."""

from __future__ import annotations

import asyncio

import pytest

from bayplan import errors
from bayplan.kube import client as client_module
from bayplan.kube.client import Client, path_of
from bayplan.kube.transport import Endpoint
from bayplan.objects.kinds import find
from tests.kube.scripted import Request, ScriptedTransport, client_on, error, said
from tests.support.control_plane import ControlPlane
from tests.support.live import client_of


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.ClientError),
        (401, errors.UnauthorizedError),
        (403, errors.ForbiddenError),
        (404, errors.NotFoundError),
        (409, errors.ConflictError),
        (410, errors.GoneError),
        (422, errors.UnprocessableError),
        (429, errors.TooManyRequestsError),
        (500, errors.ServerError),
        (504, errors.ServerError),
    ],
)
async def test_a_status_becomes_its_error_with_the_servers_words(status: int, kind: type[errors.ApiError]) -> None:
    client = client_on(ScriptedTransport([error(status, "because", "SomeReason")]))
    with pytest.raises(errors.ApiError) as raised:
        await client.get("/api/v1/pods")
    assert type(raised.value) is kind
    assert (raised.value.status, raised.value.message, raised.value.reason) == (
        status,
        "because",
        "SomeReason",
    )
    assert str(raised.value) == f"GET /api/v1/pods: {status} SomeReason: because"


async def test_an_error_that_is_no_json_is_shown_as_it_is() -> None:
    client = client_on(ScriptedTransport([said(502, b"<html>bad gateway</html>")]))
    with pytest.raises(errors.ServerError, match="<html>bad gateway</html>"):
        await client.get("/x")


async def test_a_redirect_is_no_success() -> None:
    client = client_on(ScriptedTransport([said(307, b"", Location="https://login.example/")]))
    with pytest.raises(errors.ClientError, match=r"307: .* redirects to https://login\.example/"):
        await client.create("/api/v1/namespaces/ns/pods/p/binding", {})


DATE = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(("header", "seconds"), [("3", 3.0), ("soon", None), ("", None), ("²", None), (DATE, None)])
async def test_retry_after_is_read_where_it_makes_sense(header: str, seconds: float | None) -> None:
    client = client_on(ScriptedTransport([error(429, Retry_After=header)]))
    with pytest.raises(errors.TooManyRequestsError) as raised:
        await client.get("/x")
    assert raised.value.retry_after_s == seconds


class Rotating:
    """Credentials whose token is good only after so many reloads."""

    def __init__(self) -> None:
        self.token = 0
        self.refreshes = 0
        self.due = False
        self.certificate = "a"
        self.problem: Exception | None = None

    def reload(self) -> None:
        if self.problem is not None:
            raise self.problem
        self.token += 1

    def refresh(self) -> None:
        self.refreshes += 1
        self.due = False

    def is_due(self) -> bool:
        return self.due

    def endpoint(self) -> Endpoint:
        return Endpoint("https://server", fingerprint=self.certificate)

    def headers(self) -> dict[str, str]:
        return {"Authorization": str(self.token)}


def accepts(token: int) -> ScriptedTransport:
    def answer(request: Request) -> object:
        return said(200) if request.headers["Authorization"] == str(token) else error(401, "Unauthorized")

    return ScriptedTransport(answer)  # type: ignore[arg-type]


async def test_many_refused_at_once_read_the_credentials_once_and_all_succeed() -> None:
    credentials, transport = Rotating(), accepts(1)
    client = Client(credentials, transport)
    await asyncio.gather(*(client.get(f"/{number}") for number in range(20)))
    assert credentials.token == 1
    assert len(transport.requests) == 40
    assert transport.endpoints == [], "only the token is new, so connections stay"


async def test_a_new_certificate_means_new_connections() -> None:
    credentials, transport = Rotating(), accepts(1)
    client = Client(credentials, transport)
    credentials.certificate = "b"
    await client.get("/x")
    assert [endpoint.fingerprint for endpoint in transport.endpoints] == ["b"]


async def test_credentials_that_stay_bad_are_not_read_for_every_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    credentials, transport = Rotating(), accepts(99)
    client = Client(credentials, transport)
    for _ in range(5):
        with pytest.raises(errors.UnauthorizedError):
            await client.get("/x")
    assert credentials.token == 1
    monkeypatch.setattr(client_module, "RENEWAL_PAUSE_S", 0.0)
    with pytest.raises(errors.UnauthorizedError):
        await client.get("/x")
    assert credentials.token == 2


async def test_credentials_that_cannot_be_read_leave_the_old_ones() -> None:
    credentials, transport = Rotating(), accepts(1)
    credentials.problem = errors.ConfigError("no such file")
    with pytest.raises(errors.UnauthorizedError):
        await Client(credentials, transport).get("/x")
    assert credentials.token == 0


async def test_credentials_are_refreshed_when_due_by_one_of_many() -> None:
    credentials, transport = Rotating(), accepts(0)
    client = Client(credentials, transport)
    credentials.due = True
    await asyncio.gather(*(client.get("/x") for _ in range(10)))
    assert credentials.refreshes == 1


async def test_a_watch_that_is_refused_raises_with_the_servers_words_and_headers() -> None:
    transport = ScriptedTransport(watches=[error(429, "slow down", Retry_After="7"), error(401)])
    client = client_on(transport)
    with pytest.raises(errors.TooManyRequestsError, match="slow down") as raised:
        async with client.watch("/api/v1/pods", {}):
            pass
    assert raised.value.retry_after_s == 7.0
    with pytest.raises(errors.UnauthorizedError):
        async with client.watch("/api/v1/pods", {}):
            pass


@pytest.mark.parametrize(
    ("version", "kind", "rest", "path"),
    [
        ("v1", "Pod", (), "/api/v1/pods"),
        ("v1", "Pod", ("ns", "p", "status"), "/api/v1/namespaces/ns/pods/p/status"),
        ("v1", "Node", ("", "n"), "/api/v1/nodes/n"),
        ("policy/v1", "PodDisruptionBudget", ("ns",), "/apis/policy/v1/namespaces/ns/poddisruptionbudgets"),
    ],
)
def test_paths_are_those_of_the_api(version: str, kind: str, rest: tuple[str, ...], path: str) -> None:
    found = find(version, kind)
    assert found is not None
    assert path_of(found, *rest) == path


@pytest.mark.kube
async def test_it_speaks_with_the_real_api_server(control_plane: ControlPlane) -> None:
    client, _ = client_of(control_plane.kubeconfig())
    try:
        assert (await client.get("/version"))["major"] == "1"
        maps = "/api/v1/namespaces/default/configmaps"
        made = await client.create(maps, {"metadata": {"name": "a-client-test"}, "data": {"a": "1"}})
        with pytest.raises(errors.ConflictError, match="already exists"):
            await client.create(maps, {"metadata": {"name": "a-client-test"}})
        stale = dict(made)
        changed = await client.patch(f"{maps}/a-client-test", {"data": {"b": "2"}})
        assert changed["data"] == {"a": "1", "b": "2"}
        with pytest.raises(errors.ConflictError, match="has been modified"):
            await client.replace(f"{maps}/a-client-test", stale)
        with pytest.raises(errors.UnprocessableError):
            await client.create(maps, {"metadata": {"name": "No Such Name"}})
        await client.delete(f"{maps}/a-client-test")
        with pytest.raises(errors.NotFoundError):
            await client.get(f"{maps}/a-client-test")
    finally:
        await client.close()
