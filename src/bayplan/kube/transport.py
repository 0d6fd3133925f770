"""
The one seam to HTTP: requests and line streams.  ``HttpTransport`` is the real one; tests pass their own.

Nothing else in Bayplan knows which HTTP library there is.  Writes go over connections of our own
(``kube.connections``), where there is no proxy in between: they are many and short.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import aiohttp
from yarl import URL

from bayplan.errors import TransportError
from bayplan.kube.connections import CONNECT_TIMEOUT_S, Connections
from bayplan.kube.dialing import reason, stay_in_touch
from bayplan.kube.http_response import Response as Response
from bayplan.kube.tls import checking_context

REQUEST_TIMEOUT_S = 30.0
READ_BYTES = 256 * 1024
# One line of a watch is one object; the API server's own limit for an object is about 1.5 MB.
MAX_LINE_BYTES = 16 * 1024 * 1024
# Requests under way on connections that were replaced get this long to end.
GRACE_S = 30.0


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer that goes on: its start, and its lines as they come."""

    status: int
    headers: Mapping[str, str]
    lines: AsyncIterator[bytes]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to connect and how.  Without ``ssl`` an https server is checked against the machine's own CAs."""

    base_url: str
    ssl: ssl.SSLContext | None = field(default=None, compare=False)
    server_hostname: str | None = None
    proxy: str | None = None
    fingerprint: str = ""
    """Of the certificates behind ``ssl``, so that two endpoints can be told apart."""
    origin: str = field(default="", compare=False)
    """Who says so, such as the path of a kubeconfig."""


class Transport(Protocol):
    """What the client needs of HTTP."""

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
        """
        One request and its whole answer; ``TransportError`` if there is none.

        ``guard`` is called once more when a connection is there, right before anything is sent; it may raise.
        """

    def stream(
        self, path: str, *, params: Mapping[str, str], headers: Mapping[str, str] | None
    ) -> AbstractAsyncContextManager[Stream]:
        """A long answer, line by line, for as long as the connection lasts: nothing says how often lines come."""

    def distrust(self) -> None:
        """Use no connection again that lies idle now: one to the same server turned out to be dead."""

    async def use(self, endpoint: Endpoint) -> None:
        """Connect differently from now on: rotated certificates, another CA."""

    async def close(self) -> None: ...


class HttpTransport:
    """Kept-alive connections to one API server."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._connections: Connections | None = None
        self._session: aiohttp.ClientSession | None = None
        self._retiring: set[asyncio.Task[None]] = set()

    async def use(self, endpoint: Endpoint) -> None:
        """New requests use new connections; those under way may end on the old ones."""
        self._endpoint = endpoint
        if self._connections is not None:
            self._connections.retire()
            self._connections = None
        if self._session is not None:
            retiring = asyncio.ensure_future(_retire(self._session))
            self._session = None
            self._retiring.add(retiring)
            retiring.add_done_callback(self._retiring.discard)

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
        try:
            if method == "GET" or self._endpoint.proxy is not None:
                return await self._request(method, path, params, body, headers, timeout_s, guard)
            return await self._short().request(method, path, params, body, headers or {}, timeout_s, guard)
        except TimeoutError as error:
            raise TransportError(f"{method} {path}: no answer within {timeout_s:g} s") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise TransportError(f"{method} {path}: {_words(error, self._endpoint)}") from error

    async def _request(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None,
        body: bytes | None,
        headers: Mapping[str, str] | None,
        timeout_s: float,
        guard: Callable[[], None] | None,
    ) -> Response:
        """Through the library: compressed answers, proxies."""
        async with self._open().request(
            method,
            self._url(path, params),
            data=body,
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=timeout_s, sock_connect=CONNECT_TIMEOUT_S),
            trace_request_ctx=guard,
            **self._connection(),
        ) as answer:
            return Response(answer.status, answer.headers, await answer.read())

    @asynccontextmanager
    async def stream(
        self, path: str, *, params: Mapping[str, str], headers: Mapping[str, str] | None
    ) -> AsyncIterator[Stream]:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S)
        try:
            async with (
                self._open().get(
                    self._url(path, params),
                    headers=headers,
                    timeout=timeout,
                    read_bufsize=READ_BYTES,
                    **self._connection(),
                ) as answer,
                aclosing(_lines(answer.content)) as lines,
            ):
                try:
                    yield Stream(answer.status, answer.headers, lines)
                finally:
                    _drop(answer)
        except (aiohttp.ClientError, OSError) as error:
            self.distrust()
            raise TransportError(f"watch {path}: {_words(error, self._endpoint)}") from error

    def distrust(self) -> None:
        if self._connections is not None:
            self._connections.distrust(asyncio.get_running_loop().time())

    async def close(self) -> None:
        for task in list(self._retiring):
            task.cancel()
        await asyncio.gather(*self._retiring, return_exceptions=True)
        if self._connections is not None:
            connections, self._connections = self._connections, None
            await connections.close()
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()
            # A connection that was being made when its request was cancelled closes on the loop's next turn.
            await asyncio.sleep(0)

    def _short(self) -> Connections:
        if self._connections is None:
            endpoint = self._endpoint
            self._connections = Connections(endpoint.base_url, self._context(), endpoint.server_hostname)
        return self._connections

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60.0, socket_factory=_socket)
            self._session = aiohttp.ClientSession(connector=connector, trust_env=False, trace_configs=[_guarding()])
        return self._session

    def _url(self, path: str, params: Mapping[str, str] | None) -> URL:
        url = URL(self._endpoint.base_url + path)
        return url.with_query(params) if params else url

    def _context(self) -> ssl.SSLContext | None:
        """How the server is checked; made once where nothing is said, for it takes long."""
        endpoint = self._endpoint
        if endpoint.ssl is None and endpoint.base_url.startswith("https:"):
            self._endpoint = endpoint = replace(endpoint, ssl=checking_context())
        return endpoint.ssl

    def _connection(self) -> dict[str, Any]:
        endpoint = self._endpoint
        return {
            "ssl": self._context() or True,
            "server_hostname": endpoint.server_hostname,
            "proxy": endpoint.proxy,
        }


def _socket(address: tuple[Any, ...]) -> socket.socket:
    made = socket.socket(*address[:3])
    stay_in_touch(made)
    return made


def _guarding() -> aiohttp.TraceConfig:
    """Making a connection takes time, in which what allowed the request may have ended."""
    tracing = aiohttp.TraceConfig()

    async def connected(session: aiohttp.ClientSession, context: Any, params: Any) -> None:
        guard = context.trace_request_ctx
        if guard is not None:
            guard()

    tracing.on_connection_create_end.append(connected)
    return tracing


async def _retire(session: aiohttp.ClientSession) -> None:
    try:
        await asyncio.sleep(GRACE_S)
    finally:
        await session.close()


def _drop(answer: aiohttp.ClientResponse) -> None:
    """A stream left before its end: its connection is of no use, and a polite good-bye could take long."""
    connection = answer.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()


async def _lines(content: aiohttp.StreamReader) -> AsyncGenerator[bytes, None]:
    """Whole lines.  The library's own line reader gives up on long ones, and watches have long ones."""
    parts: list[bytes] = []
    size = 0
    async for chunk in content.iter_any():
        *whole, rest = chunk.split(b"\n")
        if whole:
            whole[0] = b"".join([*parts, whole[0]])
            parts, size = [], 0
            for line in whole:
                if line:
                    yield line
        parts.append(rest)
        size += len(rest)
        if size > MAX_LINE_BYTES:
            raise TransportError(f"a line of more than {MAX_LINE_BYTES} bytes")
    # Only error texts end without a newline; a watch that is cut in the middle of a line raises above.
    if last := b"".join(parts):
        yield last


def _words(error: Exception, endpoint: Endpoint) -> str:
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return f"cannot connect to the proxy {endpoint.proxy}: {reason(error.os_error)}; check that address"
    origin = f", of {endpoint.origin}" if endpoint.origin else ""
    named = f"and that {endpoint.origin} names the right server" if endpoint.origin else "at that address"
    advice = f"check that it runs {named}"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"cannot trust {endpoint.base_url}{origin}: {' '.join(str(error.certificate_error).split())}"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot connect to {endpoint.base_url}: {reason(error.os_error)}; {advice}"
    words = str(error) or type(error).__name__
    return f"{words}; {advice}" if words.startswith("cannot connect to ") else words
