"""
A service as a process: event loop, signals, health port, leader election, exit codes.

``bayplan scheduler`` calls ``run_scheduler``.  SIGTERM and SIGINT stop cleanly with 0; a lost lease or a part that
broke ends the process with 1, so that the cluster restarts it with a fresh view.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import socket
import uuid
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from bayplan.app.scheduler import LiveScheduler
from bayplan.app.serving import Authorizer, Server
from bayplan.errors import BayplanError, LeadershipLostError
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
    """0: no port at all."""
    cert_dir: str | None = None
    open_metrics: bool = False


def run_scheduler(options: SchedulerOptions) -> int:
    """Run until stopped; the exit code."""
    return _run(_scheduler(options))


async def _scheduler(options: SchedulerOptions) -> int:
    config = options.config
    known, extra = registry(options.plugins)
    credentials = Credentials(
        options.kubeconfig or config.client_connection.kubeconfig or None, options.context
    )
    # The lease has a client of its own, so that a flood of binds cannot starve its renewals.
    client, lease_client = Client(credentials), Client(credentials)
    try:
        election = _election(lease_client, config.leader_election, options.leader_elect)
        make = make_profiles(config, known, extra, lambda warning: log.warning("configuration", text=warning))
        live = LiveScheduler(client, config, make, election=election, when_synced=_settle_memory)
        server = scheduler_server(live, None if options.open_metrics else Authorizer(client))
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
    except BayplanError:
        raise  # for a person: the command shows it as one line
    except Exception as error:
        log.critical("stopping", reason=f"a part broke: {error!r}", exc_info=True)
        return 1
    finally:
        await client.close()
        await lease_client.close()
    return 0


def scheduler_server(live: LiveScheduler, authorize: Authorizer | None) -> Server:
    """The port of a scheduler: alive as long as it answers, ready once it has seen the whole cluster."""
    ping = {"ping": lambda: ""}
    return Server(
        live=ping,
        healthy=ping,
        ready={
            "informer-sync": lambda: "" if live.is_ready() else "first list not complete",
            "shutdown": lambda: "stopping" if live.is_stopping else "",
        },
        metrics=live.render_metrics,
        authorize=authorize,
    )


def _settle_memory() -> None:
    """The first list makes a million objects that live long; the collector need not visit them again."""
    gc.collect()
    gc.freeze()


def _election(client: Client, config: ElectionConfig, wanted: bool | None) -> LeaderElection | None:
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


def _run(work: Coroutine[Any, Any, int]) -> int:
    try:
        from uvloop import run
    except ImportError:
        return asyncio.run(work)
    return run(work)
