"""A transport that answers from a script, for what a real API server does only once in a blue moon."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bayplan.errors import LeadershipLostError, TransportError
from bayplan.kube.client import Client
from bayplan.kube.transport import REQUEST_TIMEOUT_S, Endpoint, Response, Stream
from tests.support.bodies import read_body


class FixedCredentials:
    """A known endpoint and token, without a kubeconfig."""

    namespace = "default"

    def __init__(self, endpoint: Endpoint, headers: Mapping[str, str] | None = None) -> None:
        self._endpoint = endpoint
        self._headers = dict(headers or {})

    def reload(self) -> None:
        return None

    def refresh(self) -> None:
        return None

    def is_due(self) -> bool:
        return False

    def endpoint(self) -> Endpoint:
        return self._endpoint

    def headers(self) -> Mapping[str, str]:
        return self._headers


@dataclass(slots=True)
class Request:
    """What was asked."""

    method: str
    path: str
    params: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]


def said(status: int, body: Any = None, **headers: str) -> Response:
    """An answer; header names are written with underscores."""
    raw = body if isinstance(body, bytes) else json.dumps(body if body is not None else {}).encode()
    return Response(status, {name.replace("_", "-"): value for name, value in headers.items()}, raw)


def error(status: int, message: str = "no", reason: str = "", **headers: str) -> Response:
    return said(status, {"kind": "Status", "message": message, "reason": reason, "code": status}, **headers)


Answer = Response | TransportError
Script = Sequence[Answer] | Callable[[Request], Answer]


@dataclass(slots=True)
class ScriptedTransport:
    """``answers`` are given one after the other (the last one for ever), or by a function of the request.

    ``watches`` are the lines of one watch after the other; when they are used up a watch says nothing and stays open.
    """

    answers: Script = ()
    watches: list[Sequence[bytes] | Answer] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    endpoints: list[Endpoint] = field(default_factory=list)
    distrusted: int = 0
    _given: int = 0

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = REQUEST_TIMEOUT_S,
        guard: Callable[[], None] | None = None,
    ) -> Response:
        request = Request(method, path, dict(params or {}), None if body is None else read_body(body), headers or {})
        self.requests.append(request)
        await asyncio.sleep(0)
        answer = self._next(request)
        if isinstance(answer, TransportError):
            raise answer
        return answer

    @asynccontextmanager
    async def stream(
        self, path: str, *, params: Mapping[str, str], headers: Mapping[str, str] | None
    ) -> AsyncIterator[Stream]:
        self.requests.append(Request("WATCH", path, dict(params), None, headers or {}))
        script = self.watches.pop(0) if self.watches else None
        if isinstance(script, TransportError):
            raise script
        if isinstance(script, Response):
            yield Stream(script.status, script.headers, _lines([script.body]))
        elif script is None:
            yield Stream(200, {}, _silence())
        else:
            yield Stream(200, {}, _lines(script))

    def distrust(self) -> None:
        self.distrusted += 1

    async def use(self, endpoint: Endpoint) -> None:
        self.endpoints.append(endpoint)

    async def close(self) -> None:
        return None

    def asked(self, method: str) -> list[Request]:
        return [request for request in self.requests if request.method == method]

    def _next(self, request: Request) -> Answer:
        if callable(self.answers):
            return self.answers(request)
        answer = self.answers[min(self._given, len(self.answers) - 1)]
        self._given += 1
        return answer


async def _lines(lines: Sequence[bytes]) -> AsyncGenerator[bytes, None]:
    for line in lines:
        await asyncio.sleep(0)
        yield line


async def _silence() -> AsyncGenerator[bytes, None]:
    await asyncio.Event().wait()
    yield b""


def client_on(transport: ScriptedTransport) -> Client:
    return Client(FixedCredentials(Endpoint("https://server"), {"Authorization": "Bearer t"}), transport)


def line(kind: str, value: Any) -> bytes:
    return json.dumps({"type": kind, "object": value}).encode()


def does_not_lead() -> None:
    """The check of a replica that is not the leader."""
    raise LeadershipLostError("not the leader any more: nothing was written")
