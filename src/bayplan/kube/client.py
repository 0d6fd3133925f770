"""
Requests to the API server: JSON in and out, errors as the ``ApiError`` tree, credentials kept fresh.

``informer``, ``writer``, ``recorder`` and ``leader_election`` build on it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

import msgspec
import structlog

from bayplan import errors
from bayplan.kube.transport import REQUEST_TIMEOUT_S, Endpoint, HttpTransport, Response, Transport
from bayplan.kube.wire import Status
from bayplan.objects.kinds import Kind

log = structlog.get_logger()

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
USER_AGENT = "bayplan"
# With credentials that stay bad, every request would read them anew.
RENEWAL_PAUSE_S = 1.0


class CredentialSource(Protocol):
    """Where endpoint and headers come from; see ``auth.Credentials``."""

    def reload(self) -> None: ...

    def refresh(self) -> None: ...

    def is_due(self) -> bool: ...

    def endpoint(self) -> Endpoint: ...

    def headers(self) -> Mapping[str, str]: ...


class Client:
    """One API server."""

    def __init__(self, credentials: CredentialSource, transport: Transport | None = None) -> None:
        self._credentials = credentials
        self._endpoint = credentials.endpoint()
        self._transport: Transport = transport or HttpTransport(self._endpoint)
        self._renewing = asyncio.Lock()
        self._renewed_at = float("-inf")
        self._generation = 0

    @property
    def endpoint(self) -> Endpoint:
        """Where it connects."""
        return self._endpoint

    async def close(self) -> None:
        await self._transport.close()

    async def get(
        self, path: str, params: Mapping[str, str] | None = None, *, timeout_s: float = REQUEST_TIMEOUT_S
    ) -> Any:
        return _decoded(await self.send("GET", path, params=params, timeout_s=timeout_s))

    async def get_raw(self, path: str, params: Mapping[str, str] | None = None) -> bytes:
        """The undecoded body, for typed decoding elsewhere."""
        return (await self.send("GET", path, params=params)).body

    async def create(self, path: str, value: Any, *, timeout_s: float = REQUEST_TIMEOUT_S) -> Any:
        return _decoded(await self.send("POST", path, body=value, timeout_s=timeout_s))

    async def replace(self, path: str, value: Any, *, timeout_s: float = REQUEST_TIMEOUT_S) -> Any:
        return _decoded(await self.send("PUT", path, body=value, timeout_s=timeout_s))

    async def patch(self, path: str, value: Any, content_type: str = MERGE_PATCH) -> Any:
        return _decoded(await self.send("PATCH", path, body=value, content_type=content_type))

    async def delete(self, path: str, options: Any | None = None) -> None:
        await self.send("DELETE", path, body=options)

    async def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Any | None = None,
        content_type: str = JSON,
        timeout_s: float = REQUEST_TIMEOUT_S,
        guard: Callable[[], None] | None = None,
    ) -> Response:
        """One request; an answer that does not say "done" is raised.  Bytes are sent as they are, all else as JSON."""
        raw = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)

        async def once() -> Response:
            headers = self._headers()
            if raw is not None:
                headers["Content-Type"] = content_type
            return await self._transport.request(
                method, path, params=params, body=raw, headers=headers, timeout_s=timeout_s, guard=guard
            )

        await self._keep_fresh()
        generation = self._generation
        answer = await once()
        if answer.status == 401 and await self._renew(generation):
            answer = await once()
        if answer.status >= 300:  # a redirect too: what was asked for did not happen
            raise api_error(answer, method, path)
        return answer

    @asynccontextmanager
    async def watch(self, path: str, params: Mapping[str, str]) -> AsyncIterator[AsyncIterator[bytes]]:
        """The raw lines of a watch, for as long as the block lasts; ``kube.watching`` notices when it is dead."""
        await self._keep_fresh()
        generation = self._generation
        async with self._transport.stream(path, params=params, headers=self._headers()) as stream:
            if stream.status == 200:
                yield stream.lines
                return
            body = b"".join([line async for line in stream.lines])
        if stream.status == 401:
            await self._renew(generation)
        raise api_error(Response(stream.status, stream.headers, body), "WATCH", path)

    def distrust(self) -> None:
        """The server is gone without a word on one connection: what lies idle is not used any more."""
        self._transport.distrust()

    # -- credentials --

    def _headers(self) -> dict[str, str]:
        return {"Accept": JSON, "User-Agent": USER_AGENT, **self._credentials.headers()}

    async def _keep_fresh(self) -> None:
        """Every now and then look for a newer token or certificate; meanwhile others go on with the old."""
        if self._credentials.is_due() and not self._renewing.locked():
            async with self._renewing:
                await self._reread(self._credentials.refresh)

    async def _renew(self, generation: int) -> bool:
        """The API server did not know us: read everything anew, once for all that were refused together."""
        async with self._renewing:
            if self._generation != generation:
                return True
            if time.monotonic() - self._renewed_at < RENEWAL_PAUSE_S:
                return False
            self._renewed_at = time.monotonic()
            return await self._reread(self._credentials.reload)

    async def _reread(self, read: Callable[[], None]) -> bool:
        """Files and exec plugins take their time, so a thread waits for them."""
        try:
            await asyncio.to_thread(read)
            endpoint = await asyncio.to_thread(self._credentials.endpoint)
        except (errors.ConfigError, OSError) as error:
            log.warning("credentials not renewed", error=str(error))
            return False
        self._generation += 1
        if endpoint != self._endpoint:
            self._endpoint = endpoint
            await self._transport.use(endpoint)
        return True


def _decoded(answer: Response) -> Any:
    return msgspec.json.decode(answer.body) if answer.body else None


_CLASSES: dict[int, type[errors.ApiError]] = {
    401: errors.UnauthorizedError,
    403: errors.ForbiddenError,
    404: errors.NotFoundError,
    409: errors.ConflictError,
    410: errors.GoneError,
    422: errors.UnprocessableError,
}


def api_error(answer: Response, method: str, path: str) -> errors.ApiError:
    """The error for an answer that does not say "done", with the server's own words."""
    message, reason, budget = _told(answer.body)
    status = answer.status
    if status < 400:
        message = f"not the API server, but something that redirects to {answer.headers.get('Location', 'nowhere')}"
    if status == 429 and budget:
        return errors.EvictionRefusedError(status, budget, reason=reason, method=method, path=path)
    if status == 429:
        wait = answer.headers.get("Retry-After", "")
        return errors.TooManyRequestsError(
            status,
            message,
            reason=reason,
            method=method,
            path=path,
            retry_after_s=float(wait) if wait.isdecimal() else None,
        )
    family = errors.ServerError if status >= 500 else errors.ClientError
    return _CLASSES.get(status, family)(status, message, reason=reason, method=method, path=path)


def _told(body: bytes) -> tuple[str, str, str]:
    """What went wrong, in one word too, and what a disruption budget has to say about it."""
    try:
        status = msgspec.json.decode(body, type=Status)
    except msgspec.MsgspecError:
        return body[:200].decode(errors="replace"), "", ""
    causes = (status.details.causes if status.details else None) or ()
    budgets = (cause.message for cause in causes if cause.reason == "DisruptionBudget")
    return status.message, status.reason, next(budgets, "")


def path_of(kind: Kind, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """The API path of a kind's collection, or of one object."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    space = f"/namespaces/{namespace}" if namespace and kind.namespaced else ""
    tail = "".join(f"/{part}" for part in (name, subresource) if part)
    return f"{root}{space}/{kind.plural}{tail}"
