"""
A service as a process: event loop, signals, credentials, leader election, health port, exit codes.

Every live service runs this way: ``app.scheduler.process`` (the scheduler), ``app.rebalancer.live`` and the others call
``run_service`` with their options and a function that builds the service from a client and its election.
SIGTERM and SIGINT stop cleanly with 0; a lost lease or a part that broke ends the process with 1, so that the
cluster restarts it with a fresh view.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import structlog

from bayplan.app.shell.http_server import Authorizer, Server
from bayplan.app.shell.service import Service
from bayplan.errors import BayplanError, LeadershipLostError
from bayplan.framework.config.model import LeaderElection as ElectionConfig
from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client
from bayplan.kube.leader_election import LeaderElection

log = structlog.get_logger()


Build = Callable[[Client, LeaderElection | None], Service]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions:
    """What the command line says of the process, whatever it runs."""

    election: ElectionConfig
    """The lease, and whether it is needed at all."""
    kubeconfig: str | None = None
    context: str | None = None
    secure_port: int = 10259
    """0: no port at all."""
    cert_dir: str | None = None
    open_metrics: bool = False


def run_service(options: ServiceOptions, build: Build) -> int:
    """Run until stopped; the exit code."""
    work = serve(options, build)
    try:
        from uvloop import run
    except ImportError:
        return asyncio.run(work)
    return run(work)


async def serve(options: ServiceOptions, build: Build) -> int:
    """The same inside a loop that runs already."""
    credentials = Credentials(options.kubeconfig, options.context)
    # The lease has a client of its own, so that a flood of writes cannot starve its renewals.
    client, lease_client = Client(credentials), Client(credentials)
    try:
        service = build(client, _election(lease_client, options.election))
        ask = Authorizer(client)
        server = health_server(service, None if options.open_metrics else ask, ask)
        if options.secure_port:
            await server.start(options.secure_port, cert_dir=options.cert_dir)
        log.info("starting", port=server.port)
        try:
            await until_stopped(service.run())
        finally:
            await server.close()
    except LeadershipLostError as error:
        log.error("stopping", reason=str(error))
        return 1
    except BayplanError:
        raise  # for a person: the command shows it as one line
    except Exception as error:
        log.critical("stopping", reason=f"a part broke: {error!r}", exc_info=True)
        return 1
    finally:
        await client.close()
        await lease_client.close()
    return 0


def health_server(service: Service, authorize: Authorizer | None, ask: Authorizer | None = None) -> Server:
    """The port of a service: alive as long as it answers, ready once it has seen the whole cluster.

    `authorize` says who may read the metrics, None for everybody; `ask`, who may read its `pages` and `listings`.
    """
    ping = {"ping": lambda: ""}
    return Server(
        live=ping,
        healthy=ping,
        ready={
            "informer-sync": lambda: "" if service.is_ready() else "first list not complete",
            "shutdown": lambda: "stopping" if service.is_stopping else "",
        },
        metrics=service.render_metrics,
        authorize=authorize,
        pages=service.pages,
        listings=service.listings,
        ask=ask,
    )


def _election(client: Client, config: ElectionConfig) -> LeaderElection | None:
    if not config.leader_elect:
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


async def until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run, and end it in order on the first SIGTERM or SIGINT; a second one ends the process at once."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)

    def stop() -> None:
        log.info("stopping", reason="signal")
        for number in signals:
            loop.remove_signal_handler(number)
        task.cancel()

    for number in signals:
        loop.add_signal_handler(number, stop)
    with contextlib.suppress(asyncio.CancelledError):
        await task
    log.info("stopped")
