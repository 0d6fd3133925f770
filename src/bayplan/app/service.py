"""
A service as a process: event loop, signals, health port, leader election, exit codes.

``bayplan scheduler`` calls ``run_scheduler``.  SIGTERM and SIGINT stop cleanly with 0; a lost lease ends the
process with 1, so that the cluster restarts it with a fresh view.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import uuid
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from bayplan.app.scheduler import LiveScheduler
from bayplan.app.serving import Authorizer, Server
from bayplan.errors import LeadershipLostError
from bayplan.framework.config_model import LeaderElection as ElectionConfig
from bayplan.framework.config_model import SchedulerConfig
from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client
from bayplan.kube.leader_election import LeaderElection
from bayplan.plugins.registering import make_profiles, registry

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """What the command line says; the rest is in the configuration file."""

    config: SchedulerConfig
    kubeconfig: str | None = None
    context: str | None = None
    plugins: Sequence[str] = field(default=())
    leader_elect: bool | None = None
    secure_port: int = 10259
    cert_dir: str | None = None
    open_metrics: bool = False


def run_scheduler(options: SchedulerOptions) -> int:
    """Run until stopped; the exit code."""
    return _run(_scheduler(options))


async def _scheduler(options: SchedulerOptions) -> int:
    config = options.config
    known, extra = registry(options.plugins)
    credentials = Credentials(options.kubeconfig or config.client_connection.kubeconfig or None, options.context)
    client, lease_client = Client(credentials), Client(credentials)
    election = _election(lease_client, config.leader_election, options.leader_elect)
    try:
        make = make_profiles(config, known, extra, lambda warning: log.warning("configuration", text=warning))
        live = LiveScheduler(client, config, make, election=election)
        server = Server(
            live={"ping": lambda: ""},
            ready={
                "informer-sync": lambda: "" if live.is_ready() else "first list not complete",
            },
            metrics=live.render_metrics,
            authorize=None if options.open_metrics else Authorizer(client),
        )
        if options.secure_port:
            await server.start(options.secure_port, cert_dir=options.cert_dir)
        log.info("starting", profiles=",".join(live.engine.profiles), port=server.port)
        try:
            await _until_stopped(live.run())
        finally:
            await server.close()
    except LeadershipLostError as error:
        log.error("stopping", reason=str(error))
        return 1
    finally:
        await client.close()
        await lease_client.close()
    return 0


def _election(client: Client, config: ElectionConfig, wanted: bool | None) -> LeaderElection | None:
    """The lease has a client of its own, so that a flood of binds cannot starve its renewals."""
    if not (config.leader_elect if wanted is None else wanted):
        return None
    return LeaderElection(
        client,
        identity=f"{socket.gethostname()}_{uuid.uuid4()}",
        namespace=config.resource_namespace,
        name=config.resource_name,
        lease_s=config.lease_duration_s,
        renew_deadline_s=config.renew_deadline_s,
        retry_s=config.retry_period_s,
    )


async def _until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run, and end it in order on the first SIGTERM or SIGINT."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task
    log.info("stopped")


def _run(work: Coroutine[Any, Any, int]) -> int:
    try:
        import uvloop

        return uvloop.run(work)
    except ImportError:
        return asyncio.run(work)
