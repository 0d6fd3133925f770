"""
The one seam to HTTP: requests and line streams.  ``HttpTransport`` is the real one; tests pass their own.

Nothing else in Bayplan knows which HTTP library there is, so a leaner one can go in here and nowhere else.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import aiohttp
from yarl import URL

from bayplan.errors import TransportError

REQUEST_TIMEOUT_S = 30.0
CONNECT_TIMEOUT_S = 10.0
# One line of a watch is one object; the API server's own limit for an object is about 1.5 MB.
MAX_LINE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Response:
    """A finished answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to connect and how."""

    base_url: str
    ssl: ssl.SSLContext | None = None
    server_hostname: str | None = None
    proxy: str | None = None


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
    ) -> Response:
        """One request and its whole answer; ``TransportError`` if there is none."""

    def stream(
        self, path: str, *, params: Mapping[str, str], headers: Mapping[str, str] | None, silence_s: float
    ) -> AsyncIterator[bytes]:
        """The lines of a long answer; the first item is the status line as ``b"200"``."""

    async def close(self) -> None: ...


class HttpTransport:
    """Kept-alive connections to one API server."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._session: aiohttp.ClientSession | None = None

    async def use(self, endpoint: Endpoint) -> None:
        """Connect differently from now on (rotated certificates)."""
        self._endpoint = endpoint
        await self.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60.0, enable_cleanup_closed=False)
            self._session = aiohttp.ClientSession(connector=connector, trust_env=False, auto_decompress=True)
        return self._session

    def _url(self, path: str, params: Mapping[str, str] | None) -> URL:
        url = URL(self._endpoint.base_url + path, encoded=False)
        return url.with_query(params) if params else url

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = REQUEST_TIMEOUT_S,
    ) -> Response:
        timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=CONNECT_TIMEOUT_S)
        try:
            async with self._open().request(
                method,
                self._url(path, params),
                data=body,
                headers=headers,
                timeout=timeout,
                ssl=self._endpoint.ssl or False,
                server_hostname=self._endpoint.server_hostname,
                proxy=self._endpoint.proxy,
            ) as answer:
                return Response(answer.status, answer.headers, await answer.read())
        except TimeoutError as error:
            raise TransportError(f"{method} {path}: no answer within {timeout_s:g} s") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise TransportError(f"{method} {path}: {error or type(error).__name__}") from error

    async def stream(
        self, path: str, *, params: Mapping[str, str], headers: Mapping[str, str] | None, silence_s: float
    ) -> AsyncIterator[bytes]:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=silence_s)
        try:
            async with self._open().get(
                self._url(path, params),
                headers=headers,
                timeout=timeout,
                ssl=self._endpoint.ssl or False,
                server_hostname=self._endpoint.server_hostname,
                proxy=self._endpoint.proxy,
                read_bufsize=256 * 1024,
            ) as answer:
                yield str(answer.status).encode()
                async for line in _lines(answer.content):
                    yield line
        except TimeoutError as error:
            raise TransportError(f"watch {path}: silent for {silence_s:g} s") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise TransportError(f"watch {path}: {error or type(error).__name__}") from error

    async def close(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()
            # The loop needs one turn to finish closing TLS connections.
            await asyncio.sleep(0)


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Whole lines.  The library's own line reader gives up on long ones, and watches have long ones."""
    rest = b""
    async for chunk in content.iter_any():
        rest += chunk
        if b"\n" in chunk:
            *whole, rest = rest.split(b"\n")
            for line in whole:
                if line:
                    yield line
        elif len(rest) > MAX_LINE_BYTES:
            raise ValueError(f"a line of more than {MAX_LINE_BYTES} bytes")
    if rest:
        yield rest
