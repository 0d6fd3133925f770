"""
The web server of ``bayplan ui``: the page, and the documents that it shows.  It answers GET and HEAD.

On a loopback address the rights are those of whoever started it, and names other than this machine's are refused, so
that no web page can have a browser read it under a name of its own (DNS rebinding).  With a reviewer every answer but
the page itself is for callers whom the API server knows, and shows what they may list.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

import msgspec
from aiohttp import web

from bayplan import __version__
from bayplan.app.shell.certificates import server_context
from bayplan.app.ui import searching
from bayplan.app.ui.decisions import Decisions
from bayplan.app.ui.feed import Feed
from bayplan.app.ui.reviews import UNREACHABLE, Reviewer
from bayplan.app.ui.rights import EVERYTHING, Rights
from bayplan.app.ui.source import Source
from bayplan.errors import BayplanError, ConfigError

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
    "Server": "bayplan",
}
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
LOCAL = ("localhost", "127.0.0.1", "::1")
MOST_FOLLOWERS = 200
LONGEST_SEARCH = 300
_WORDS = {
    401: "Who are you?  Give a token that the API server knows.",
    503: "The API server cannot be asked who you are.",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Metrics = Callable[[], bytes]


class UiServer:
    """Serves one source until closed."""

    def __init__(
        self,
        source: Source,
        feed: Feed,
        *,
        reviewer: Reviewer | None = None,
        decisions: Decisions | None = None,
        metrics: Metrics = bytes,
        may_read_metrics: Callable[[web.Request], Awaitable[int]] | None = None,
    ) -> None:
        self._source = source
        self._feed = feed
        self._reviewer = reviewer
        self._decisions = decisions
        self._metrics = metrics
        self._may_read_metrics = may_read_metrics
        self._static = static_files()
        self._names: frozenset[str] | None = None
        self._runner: web.AppRunner | None = None
        self.port = 0

    async def start(self, address: str, port: int, *, with_tls: bool = False, cert_dir: str | None = None) -> None:
        """Listen; port 0 takes a free one."""
        self._names = frozenset({*LOCAL, address}) if is_loopback(address) else None
        app = web.Application(middlewares=[self._guard], client_max_size=1024)
        routes = {
            "/healthz": self._health,
            "/readyz": self._ready,
            "/metrics": self._show_metrics,
            "/api/hello": self._hello,
            "/api/view": self._view,
            "/api/stream": self._stream,
            "/api/search": self._search,
            "/api/node/{name}": self._node,
            "/api/pod/{namespace}/{name}": self._pod,
            "/{name:[a-z_]*(\\.[a-z]+)?}": self._file,
        }
        app.add_routes([web.get(path, handler) for path, handler in routes.items()])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        context = server_context(cert_dir) if with_tls else None
        try:
            await web.TCPSite(self._runner, address, port, ssl_context=context).start()
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            fix = "end what listens there or choose another with --port"
            raise ConfigError(f"{address}, port {port}: cannot listen: {why}; {fix}") from error
        self.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    # -- what every answer goes through --

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.method not in ("GET", "HEAD"):
            return _told(405, "This page is only for reading.", {"Allow": "GET, HEAD"})
        if self._names is not None and host_of(request.headers.get("Host", "")) not in self._names:
            return _told(421, "This server is for this machine, under its own name: open it as localhost.")
        try:
            answer = await handler(request)
        except web.HTTPException as error:
            return _told(error.status, error.reason)
        if not answer.prepared:
            answer.headers.update({name: value for name, value in HEADERS.items() if name not in answer.headers})
        return answer

    async def _rights(self, request: web.Request) -> Rights | int:
        if self._reviewer is None:
            return EVERYTHING
        return await self._reviewer.rights(request.headers.get("Authorization", ""), self._source.namespaces())

    async def _allowed(self, request: web.Request) -> Rights:
        found = await self._rights(request)
        if isinstance(found, Rights):
            return found
        raise (
            web.HTTPServiceUnavailable(reason=_WORDS[503])
            if found == UNREACHABLE
            else web.HTTPUnauthorized(reason=_WORDS[401])
        )

    # -- answers --

    async def _file(self, request: web.Request) -> web.Response:
        found = self._static.get(request.match_info["name"] or "index.html")
        if found is None:
            raise web.HTTPNotFound(reason="There is no such page.")
        body, kind = found
        return web.Response(body=body, content_type=kind, charset="utf-8")

    async def _health(self, request: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def _ready(self, request: web.Request) -> web.Response:
        problem = self._source.problem
        return web.Response(text=problem or "ok", status=503 if problem else 200)

    async def _show_metrics(self, request: web.Request) -> web.Response:
        if self._may_read_metrics is not None:
            status = await self._may_read_metrics(request)
            if status != 200:
                return _told(status, "Metrics are for those whom the API server allows to get /metrics.")
        return web.Response(body=self._metrics(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    async def _hello(self, request: web.Request) -> web.Response:
        return _json({"auth": self._reviewer is not None, "source": self._source.name, "version": __version__})

    async def _view(self, request: web.Request) -> web.Response:
        channel = self._feed.channel(await self._allowed(request))
        answer = _json(channel.shown)
        answer.enable_compression()
        return answer

    async def _search(self, request: web.Request) -> web.Response:
        channel = self._feed.channel(await self._allowed(request))
        return _json(searching.search(channel.shown, request.query.get("q", "")[:LONGEST_SEARCH]))

    async def _node(self, request: web.Request) -> web.Response:
        channel = self._feed.channel(await self._allowed(request))
        found = searching.node(channel.shown, request.match_info["name"])
        return _json(found) if found is not None else _told(404, "There is no such node, or you may not see it.")

    async def _pod(self, request: web.Request) -> web.Response:
        rights = await self._allowed(request)
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        key = f"{namespace}/{name}"
        try:
            found = self._source.pod(rights, key, ()) if rights.sees_pods(namespace) else None
            if found is not None and self._decisions is not None:
                attempts = await self._decisions.attempts(key)
                found = self._source.pod(rights, key, attempts) if attempts else found
        except BayplanError as error:
            return _told(500, str(error))
        return _json(found) if found is not None else _told(404, "There is no such pod, or you may not see it.")

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        await self._allowed(request)
        if self._feed.followers >= MOST_FOLLOWERS:
            return _told(503, "Too many pages follow already.")
        answer = web.StreamResponse(headers={**HEADERS, "Content-Type": "application/x-ndjson"})
        await answer.prepare(request)
        if request.method == "HEAD":
            return answer
        lines = self._feed.follow(lambda: self._rights(request))
        try:
            async for line in lines:
                await answer.write(line)
        except (ConnectionError, RuntimeError):
            pass  # nobody reads any more
        finally:
            await lines.aclose()
        return answer


def static_files() -> dict[str, tuple[bytes, str]]:
    """What the page is made of, by name: its content and type."""
    found = {}
    for each in (files("bayplan.view") / "page").iterdir():
        kind = TYPES.get(os.path.splitext(each.name)[1])
        if kind is not None and each.is_file():
            found[each.name] = each.read_bytes(), kind
    return found


def is_loopback(address: str) -> bool:
    """Can only this machine reach it?"""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def host_of(header: str) -> str:
    """The name in a Host header, without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0].lower()


def _json(document: Any) -> web.Response:
    return web.Response(body=msgspec.json.encode(document), content_type="application/json")


def _told(status: int, text: str, headers: dict[str, str] | None = None) -> web.Response:
    body = msgspec.json.encode({"message": text})
    return web.Response(
        status=status, body=body, headers={**HEADERS, **(headers or {}), "Content-Type": "application/json"}
    )
