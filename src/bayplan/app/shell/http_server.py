"""
The health and metrics port of a service: HTTPS with /healthz, /livez, /readyz and /metrics.

Health is open to everyone, as probes carry no credentials; metrics are for callers whom the API server knows
(TokenReview) and allows (SubjectAccessReview), unless told otherwise.  Started by ``app.scheduler.process``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from aiohttp import web

from bayplan.app.shell.certificates import server_context
from bayplan.bounded_cache import BoundedCache
from bayplan.errors import ApiError, ConfigError, InputError, TransportError
from bayplan.kube.client import Client

Check = Callable[[], str]
"""A health check: "" is fine, anything else says what is not."""

Authorize = Callable[[web.Request], Awaitable[int]]
AuthorizeObject = Callable[[web.Request, Mapping[str, str] | None], Awaitable[int]]
"""May the caller read this object?  The mapping is the resourceAttributes of a SubjectAccessReview; None: the path."""


@dataclass(frozen=True, slots=True)
class Page:
    """Something to read about one object, for callers who may read that object."""

    path: str
    """With ``{namespace}`` and ``{name}``."""
    resource: Mapping[str, str]
    """The group and the resource that callers must be allowed to get."""
    render: Callable[[str, str], bytes | None]
    """Namespace and name to a JSON document; None if there is no such object."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Something to read about many objects, for callers who may read its path: the same check as that of /metrics."""

    path: str
    render: Callable[[Mapping[str, str]], bytes]
    """The query to a JSON document; an ``InputError`` says what is wrong with the query."""


REMEMBER_S = 10.0
# Answers to unknown callers are remembered too, and they can make up any number of tokens.
MAX_REMEMBERED = 1000
_TEXTS = {401: "Unauthorized\n", 403: "Forbidden\n", 503: "Cannot ask the API server who you are\n"}


class Authorizer:
    """Asks the API server whether a caller may read a path; remembers the answer for a few seconds."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._answers: BoundedCache[tuple[bytes, str, str], tuple[int, float]] = BoundedCache(MAX_REMEMBERED)

    async def __call__(self, request: web.Request, resource: Mapping[str, str] | None = None) -> int:
        """200, 401, 403, or 503 if the API server cannot be asked; without a resource it is about the path."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            return 401
        key = (sha256(token.encode()).digest(), request.method, request.path)
        now = time.monotonic()
        known = self._answers.get(key)
        if known is not None and known[1] > now:
            return known[0]
        try:
            status = await self._ask(token, request, resource)
        except (ApiError, TransportError):
            return 503
        self._answers[key] = status, now + REMEMBER_S
        return status

    async def _ask(self, token: str, request: web.Request, resource: Mapping[str, str] | None) -> int:
        review = await self._client.create(
            "/apis/authentication.k8s.io/v1/tokenreviews",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}},
        )
        status = review.get("status") or {}
        if not status.get("authenticated"):
            return 401
        user = status.get("user") or {}
        spec = {
            "user": user.get("username", ""),
            "groups": user.get("groups", []),
            "uid": user.get("uid", ""),
            "extra": user.get("extra", {}),
        }
        if resource is not None:
            spec["resourceAttributes"] = resource
        else:
            spec["nonResourceAttributes"] = {"path": request.path, "verb": request.method.lower()}
        access = await self._client.create(
            "/apis/authorization.k8s.io/v1/subjectaccessreviews",
            {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec},
        )
        return 200 if (access.get("status") or {}).get("allowed") else 403


class Server:
    """Serves until closed."""

    def __init__(
        self,
        *,
        live: Mapping[str, Check],
        healthy: Mapping[str, Check],
        ready: Mapping[str, Check],
        metrics: Callable[[], bytes],
        authorize: Authorize | None,
        pages: Sequence[Page] = (),
        listings: Sequence[Listing] = (),
        ask: AuthorizeObject | None = None,
    ) -> None:
        self._checks = {"/livez": live, "/healthz": healthy, "/readyz": ready}
        self._metrics = metrics
        self._authorize = authorize
        self._pages = pages if ask is not None else ()
        self._listings = listings if ask is not None else ()
        self._ask = ask
        """Who may read pages and listings; they are never open to all."""
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def start(self, port: int, *, host: str | None = None, cert_dir: str | None = None) -> None:
        """Listen; without a host on all addresses.  Port 0 takes a free one, see ``port``."""
        app = web.Application()
        app.add_routes([web.get(path, self._show_health) for path in self._checks])
        app.add_routes([web.get("/metrics", self._show_metrics)])
        app.add_routes([web.get(page.path, self._showing(page)) for page in self._pages])
        app.add_routes([web.get(each.path, self._listing(each)) for each in self._listings])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port, ssl_context=server_context(cert_dir))
        try:
            await site.start()
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            fix = "end what listens there or choose another with --secure-port (the annotator: --health-port)"
            raise ConfigError(f"port {port}: cannot listen: {why}; {fix}") from error
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _show_health(self, request: web.Request) -> web.Response:
        checks = self._checks[request.path]
        problems = {name: problem for name, check in checks.items() if (problem := check())}
        lines = [f"[-]{name} failed: {problems[name]}" if name in problems else f"[+]{name} ok" for name in checks]
        if problems:
            return web.Response(status=500, text="\n".join([*lines, f"{request.path[1:]} check failed", ""]))
        if "verbose" in request.query:
            return web.Response(text="\n".join([*lines, f"{request.path[1:]} check passed", ""]))
        return web.Response(text="ok")

    async def _show_metrics(self, request: web.Request) -> web.Response:
        if self._authorize is not None:
            status = await self._authorize(request)
            if status != 200:
                return web.Response(status=status, text=_TEXTS[status])
        return web.Response(body=self._metrics(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    def _listing(self, listing: Listing) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def show(request: web.Request) -> web.Response:
            assert self._ask is not None
            status = await self._ask(request, None)
            if status != 200:
                return web.Response(status=status, text=_TEXTS[status])
            try:
                return web.Response(body=listing.render(request.query), content_type="application/json")
            except InputError as error:
                return web.Response(status=400, text=f"{error}\n")

        return show

    def _showing(self, page: Page) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def show(request: web.Request) -> web.Response:
            namespace, name = request.match_info["namespace"], request.match_info["name"]
            resource = {"verb": "get", "namespace": namespace, "name": name, **page.resource}
            assert self._ask is not None
            status = await self._ask(request, resource)
            if status != 200:
                return web.Response(status=status, text=_TEXTS[status])
            body = page.render(namespace, name)
            if body is None:
                return web.Response(status=404, text=f"nothing is known of {namespace}/{name} here\n")
            return web.Response(body=body, content_type="application/json")

        return show
