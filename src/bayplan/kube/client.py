"""
Requests to the API server: JSON in and out, errors as the ``ApiError`` tree, one retry after a rotated token.

``informer``, ``writer``, ``recorder`` and ``leader_election`` build on it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

import msgspec

from bayplan import errors
from bayplan.kube.transport import REQUEST_TIMEOUT_S, Endpoint, HttpTransport, Response, Transport
from bayplan.objects.kinds import Kind

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
USER_AGENT = "bayplan"


class CredentialSource(Protocol):
    """Where endpoint and headers come from; see ``auth.Credentials``."""

    def reload(self) -> None: ...

    def endpoint(self) -> Endpoint: ...

    def headers(self) -> dict[str, str]: ...


class Client:
    """One API server."""

    def __init__(self, credentials: CredentialSource, transport: Transport | None = None) -> None:
        self._credentials = credentials
        self._transport: Transport = transport or HttpTransport(credentials.endpoint())

    async def close(self) -> None:
        await self._transport.close()

    async def get(self, path: str, params: Mapping[str, str] | None = None) -> Any:
        return _decoded(await self.send("GET", path, params=params))

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
    ) -> Response:
        """One request; an answer of 400 or more is raised."""
        raw = None if body is None else msgspec.json.encode(body)
        answer = await self._once(method, path, params, raw, content_type, timeout_s)
        if answer.status == 401:
            await self._renew()
            answer = await self._once(method, path, params, raw, content_type, timeout_s)
        if answer.status >= 400:
            raise api_error(answer, method, path)
        return answer

    async def watch(
        self, path: str, params: Mapping[str, str], silence_s: float
    ) -> AsyncIterator[bytes]:
        """The raw lines of a watch."""
        lines = self._transport.stream(path, params=params, headers=self._headers(), silence_s=silence_s)
        first = True
        async for line in lines:
            if first:
                first = False
                if line != b"200":
                    status = int(line)
                    if status == 401:
                        await self._renew()
                    body = b"".join([part async for part in lines])
                    raise api_error(Response(status, {}, body), "WATCH", path)
                continue
            yield line

    async def _once(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None,
        raw: bytes | None,
        content_type: str,
        timeout_s: float,
    ) -> Response:
        headers = self._headers()
        if raw is not None:
            headers["Content-Type"] = content_type
        return await self._transport.request(
            method, path, params=params, body=raw, headers=headers, timeout_s=timeout_s
        )

    def _headers(self) -> dict[str, str]:
        return {"Accept": JSON, "User-Agent": USER_AGENT, **self._credentials.headers()}

    async def _renew(self) -> None:
        """Our token or certificate is no longer good: read it anew."""
        self._credentials.reload()
        if isinstance(self._transport, HttpTransport):
            await self._transport.use(self._credentials.endpoint())


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
    """The error for an answer of 400 or more, with the server's own words."""
    message, reason = _told(answer.body)
    status = answer.status
    if status == 429:
        wait = answer.headers.get("Retry-After", "")
        return errors.TooManyRequestsError(
            status, message, reason=reason, method=method, path=path,
            retry_after_s=float(wait) if wait.isdigit() else None,
        )  # fmt: skip
    family = errors.ServerError if status >= 500 else errors.ClientError
    return _CLASSES.get(status, family)(status, message, reason=reason, method=method, path=path)


def _told(body: bytes) -> tuple[str, str]:
    try:
        status = msgspec.json.decode(body)
        return str(status.get("message", "")), str(status.get("reason", ""))
    except (msgspec.DecodeError, AttributeError):
        return body[:200].decode(errors="replace"), ""


def path_of(kind: Kind, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """The API path of a kind's collection, or of one object."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    space = f"/namespaces/{namespace}" if namespace and kind.namespaced else ""
    tail = "".join(f"/{part}" for part in (name, subresource) if part)
    return f"{root}{space}/{kind.plural}{tail}"
