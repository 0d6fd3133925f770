"""``bayplan ui`` as a process: what it looks at, who may look, and where it listens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from bayplan.app.shell.http_server import Authorizer
from bayplan.app.shell.process import until_stopped
from bayplan.app.ui.decisions import Decisions
from bayplan.app.ui.feed import Feed
from bayplan.app.ui.live import LiveCluster
from bayplan.app.ui.reviews import Reviewer
from bayplan.app.ui.server import UiServer, is_loopback
from bayplan.app.ui.source import Source
from bayplan.errors import InputError
from bayplan.framework.config.model import SchedulerConfig
from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client
from bayplan.plugins.defaults import OWN_PLUGINS
from bayplan.plugins.plugin_set import make_profiles, registry

log = structlog.get_logger()

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class UiOptions:
    """What the command line says of the server."""

    command: str
    address: str = "127.0.0.1"
    port: int = 0
    auth: bool | None = None
    cert_dir: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    """What it says of the cluster."""

    config: SchedulerConfig
    has_config: bool
    kubeconfig: str | None = None
    context: str | None = None
    plugins: Sequence[str] = field(default=())
    scheduler: str | None = None
    scheduler_ca: str | None = None
    scheduler_insecure: bool = False


def check(options: UiOptions, *, is_live: bool) -> None:
    """
    Whether it may listen where it is told to.

    Raises:
        InputError: it would show everything to everybody, or cannot know who asks.
    """
    if options.auth and not is_live:
        fix = "leave it out, or -f"
        raise InputError("only an API server can say who may see what, and files have none", field="--auth", fix=fix)
    if options.auth is None and not is_loopback(options.address):
        raise InputError(
            f"{options.address} would show the cluster to everybody who can reach it",
            field="--address",
            fix="add --auth, so that the API server is asked who may see what, or --no-auth if everybody may",
        )


def run_ui(work: Coroutine[Any, Any, None]) -> int:
    """Run until stopped; the exit code."""
    try:
        from uvloop import run
    except ImportError:
        asyncio.run(work)
    else:
        run(work)
    return 0


async def serve_live(options: UiOptions, live: LiveOptions, tell: Tell) -> None:
    known, extra = registry(live.plugins)
    names = extra if live.has_config else (*OWN_PLUGINS, *extra)
    make = make_profiles(live.config, known, names, lambda text: log.warning("configuration", text=text))
    credentials = Credentials(live.kubeconfig, live.context)
    client = Client(credentials)
    decisions = None
    if live.scheduler is not None:
        decisions = Decisions(live.scheduler, credentials.headers, live.scheduler_ca, live.scheduler_insecure)
    cluster = LiveCluster(client, make, options.command)
    server = UiServer(
        cluster,
        cluster.feed,
        reviewer=Reviewer(client) if options.auth else None,
        decisions=decisions,
        metrics=cluster.render_metrics,
        may_read_metrics=Authorizer(client) if options.auth else None,
    )
    try:
        await _serve(server, options, cluster.run(), tell)
    finally:
        await client.close()
        if decisions is not None:
            await decisions.close()


async def serve_source(options: UiOptions, source: Source, tell: Tell) -> None:
    feed = Feed(source)

    async def follow() -> None:
        await asyncio.gather(source.run(), feed.run())

    await _serve(UiServer(source, feed), options, follow(), tell)


async def _serve(server: UiServer, options: UiOptions, work: Coroutine[Any, Any, None], tell: Tell) -> None:
    try:
        await server.start(options.address, options.port, with_tls=bool(options.auth), cert_dir=options.cert_dir)
        host = f"[{options.address}]" if ":" in options.address else options.address
        tell(f"{'https' if options.auth else 'http'}://{host}:{server.port}/")
        await until_stopped(work)
    finally:
        await server.close()
