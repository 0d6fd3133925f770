"""
Kept-alive connections for short requests: one request at a time on each, and its whole answer.

``kube.transport`` sends its writes over these.  What a general HTTP client does for every request costs several times
the CPU of a bind on the wire, and a scheduler sends little else.  Reads, which may be long and compressed, and watches
go through the library.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import cast
from urllib.parse import quote, urlencode, urlsplit

from bayplan.kube.dialing import Server
from bayplan.kube.http_response import AnswerReader, Response

CONNECT_TIMEOUT_S = 10.0
# Less than the API server's own 90 s: it should not be the one who closes while we send.
KEEP_ALIVE_S = 60.0
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._~:@!$&'()*+,;=-]*")
_SAFE = "/:@!$&'()*+,;="
# Safe to send twice, should a kept connection turn out to be closed.
_REPEATABLE = frozenset(("GET", "PUT", "DELETE"))


class Connection(asyncio.Protocol):
    """One connection; ``exchange`` is for one caller at a time."""

    def __init__(self, living: set[Connection]) -> None:
        self._living = living
        self._transport: asyncio.Transport | None = None
        self._reader = AnswerReader()
        self._waiter: asyncio.Future[Response] | None = None
        self.is_open = False
        self.idle_since = 0.0
        self.has_answered = False
        """Something of the answer to the request under way has come."""

    async def exchange(self, request: bytes, timeout_s: float) -> Response:
        """Send a request and wait for the answer; a connection that did not give one is closed."""
        self._reader, self.has_answered = AnswerReader(), False
        if self._transport is None or not self.is_open:
            raise ConnectionResetError("the server closed the connection before anything was sent")
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Response] = loop.create_future()
        self._waiter = waiter
        timer = loop.call_later(timeout_s, self._fail, TimeoutError())
        try:
            self._transport.write(request)
            answer = await waiter
        except BaseException:
            self.abort()
            raise
        finally:
            timer.cancel()
            self._waiter = None
        if not self._reader.keeps_alive:
            self.abort()
        return answer

    def abort(self) -> None:
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    def _fail(self, error: Exception) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)

    # -- called by the loop --

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport, self.is_open = cast(asyncio.Transport, transport), True
        self._living.add(self)

    def data_received(self, data: bytes) -> None:
        waiter = self._waiter
        if waiter is None or waiter.done():
            self.abort()  # it answers no request, so what comes next cannot be trusted to be an answer either
            return
        self.has_answered = True
        try:
            answer = self._reader.feed(data)
        except ValueError as error:
            self._fail(error)
            return
        if answer is not None:
            waiter.set_result(answer)

    def eof_received(self) -> None:
        self.is_open = False  # it takes a few turns of the loop until it is lost; what is sent meanwhile goes nowhere

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        self._living.discard(self)
        answer = self._reader.end()
        if answer is not None and exc is None and self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(answer)
        self._fail(exc or ConnectionResetError("the server closed the connection"))


class Connections:
    """The connections to one server; the one used last is used first, so that the others can grow old."""

    def __init__(self, base_url: str, context: ssl.SSLContext | None, server_hostname: str | None) -> None:
        parts = urlsplit(base_url)
        self._prefix = quote(parts.path.rstrip("/"), safe=_SAFE + "%")
        self._host_line = parts.netloc.rpartition("@")[2]
        is_secure = parts.scheme == "https"
        port = parts.port or (443 if is_secure else 80)
        self._server = Server(parts.hostname or "", port, context if is_secure else None, server_hostname)
        self._idle: list[Connection] = []
        self._all: set[Connection] = set()
        self._is_retired = False

    async def request(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None,
        body: bytes | None,
        headers: Mapping[str, str],
        timeout_s: float,
        guard: Callable[[], None] | None,
    ) -> Response:
        """``guard`` may raise once a connection is there; nothing is sent then."""
        request = self._written(method, path, params, body, headers)
        loop = asyncio.get_running_loop()
        began = loop.time()
        connection = self._kept()
        if connection is not None:
            try:
                return await self._exchange(connection, request, timeout_s, guard)
            except (ConnectionError, ssl.SSLError):
                # Closed by the server while it lay idle, most likely.
                if connection.has_answered or method not in _REPEATABLE:
                    raise
            except TimeoutError:
                if not connection.has_answered:
                    self.distrust(began)
                raise
        connection = await self._server.dial(
            lambda: Connection(self._all), min(began + timeout_s - loop.time(), CONNECT_TIMEOUT_S)
        )
        return await self._exchange(connection, request, began + timeout_s - loop.time(), guard)

    def retire(self) -> None:
        """No connection is kept any more; requests under way may end."""
        self._is_retired = True
        for connection in self._idle:
            connection.abort()
        self._idle.clear()

    async def close(self) -> None:
        self.retire()
        for connection in list(self._all):
            connection.abort()
        # Connections close on the loop's next turn.
        await asyncio.sleep(0)

    async def _exchange(
        self, connection: Connection, request: bytes, timeout_s: float, guard: Callable[[], None] | None
    ) -> Response:
        if guard is not None:
            try:
                guard()
            except BaseException:
                self._keep(connection)
                raise
        answer = await connection.exchange(request, timeout_s)
        self._keep(connection)
        return answer

    def distrust(self, since: float) -> None:
        """A server that is gone without a word says nothing on its other connections either."""
        for connection in self._idle:
            if connection.idle_since <= since:
                connection.abort()
        self._idle = [connection for connection in self._idle if connection.is_open]

    def _kept(self) -> Connection | None:
        """A connection that is there already, if it is not too old to be trusted."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and now - connection.idle_since < KEEP_ALIVE_S:
                return connection
            connection.abort()
        return None

    def _keep(self, connection: Connection) -> None:
        if self._is_retired:
            connection.abort()
        elif connection.is_open:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)

    def _written(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None,
        body: bytes | None,
        headers: Mapping[str, str],
    ) -> bytes:
        target = path if _PLAIN_PATH.fullmatch(path) else quote(path, safe=_SAFE)
        if params:
            target = f"{target}?{urlencode(params, quote_via=quote)}"
        lines = _header_lines((("Host", self._host_line), *headers.items()))
        head = f"{method} {self._prefix}{target} HTTP/1.1\r\n{lines}Content-Length: {len(body or b'')}\r\n\r\n"
        return head.encode("latin-1") + (body or b"")


@lru_cache(maxsize=16)
def _header_lines(headers: tuple[tuple[str, str], ...]) -> str:
    """Every request has one of a few sets of headers."""
    for name, value in headers:
        if not (name.isascii() and value.isascii() and f"{name}{value}".isprintable()):
            raise ValueError(f"the header {name} has characters that no header may have")
    return "".join(f"{name}: {value}\r\n" for name, value in headers)
