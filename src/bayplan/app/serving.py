"""
The health and metrics port of a service: HTTPS with /healthz, /livez, /readyz and /metrics.

Health is open to everyone, as probes carry no credentials; metrics are for callers whom the API server knows
(TokenReview) and allows (SubjectAccessReview), unless told otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from bayplan.app.certificates import server_context
from bayplan.errors import ApiError, TransportError
from bayplan.kube.client import Client

Check = Callable[[], str]
"""A health check: "" is fine, anything else says what is not."""

ALLOWED_FOR_S = 10.0


class Authorizer:
    """Asks the API server whether a caller may read a path; remembers a yes for a few seconds."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._allowed: dict[tuple[str, str], float] = {}

    async def __call__(self, request: web.Request) -> int:
        """200, 401 or 403."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            return 401
        key = (token, request.path)
        if self._allowed.get(key, 0.0) > time.monotonic():
            return 200
        try:
            status = await self._ask(token, request)
        except (ApiError, TransportError):
            # We cannot ask, so we do not know the caller.
            return 403
        if status == 200:
            self._allowed = {k: until for k, until in self._allowed.items() if until > time.monotonic()}
            self._allowed[key] = time.monotonic() + ALLOWED_FOR_S
        return status

    async def _ask(self, token: str, request: web.Request) -> int:
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
            "nonResourceAttributes": {"path": request.path, "verb": request.method.lower()},
        }
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
        ready: Mapping[str, Check],
        metrics: Callable[[], bytes],
        authorize: Callable[[web.Request], Awaitable[int]] | None,
    ) -> None:
        self._live = live
        self._ready = ready
        self._metrics = metrics
        self._authorize = authorize
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def start(self, port: int, *, host: str = "0.0.0.0", cert_dir: str | None = None) -> None:
        app = web.Application()
        app.add_routes(
            [
                web.get("/livez", lambda request: _checked(self._live, request)),
                web.get("/healthz", lambda request: _checked(self._live, request)),
                web.get("/readyz", lambda request: _checked(self._ready, request)),
                web.get("/metrics", self._show_metrics),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port, ssl_context=server_context(cert_dir), shutdown_timeout=1.0)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _show_metrics(self, request: web.Request) -> web.Response:
        if self._authorize is not None:
            status = await self._authorize(request)
            if status != 200:
                return web.Response(status=status, text="Unauthorized\n" if status == 401 else "Forbidden\n")
        return web.Response(body=self._metrics(), headers={"Content-Type": "text/plain; version=0.0.4"})


async def _checked(checks: Mapping[str, Check], request: web.Request) -> web.Response:
    problems = {name: problem for name, check in checks.items() if (problem := check())}
    if problems:
        lines = [f"[-]{name} failed: {problem}" for name, problem in problems.items()]
        return web.Response(status=500, text="\n".join([*lines, "check failed", ""]))
    if "verbose" in request.query:
        lines = [f"[+]{name} ok" for name in checks]
        return web.Response(text="\n".join([*lines, "check passed", ""]))
    return web.Response(text="ok")
