"""
The scheduler as a process: ``bayplan scheduler`` calls ``run_scheduler``.

What every service has in common is in ``app.shell.process``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from bayplan.app.scheduler import decision_log
from bayplan.app.scheduler.live import LiveScheduler
from bayplan.app.scheduler.named_clusters import warn_of_others
from bayplan.app.shell.process import Build, ServiceOptions, run_service
from bayplan.engine import gc_tuning
from bayplan.framework.config.model import SchedulerConfig
from bayplan.kube.client import Client
from bayplan.kube.leader_election import LeaderElection
from bayplan.plugins.plugin_set import make_profiles, registry

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
    keep_decisions: int = decision_log.MOST


def run_scheduler(options: SchedulerOptions) -> int:
    """Run until stopped; the exit code."""
    return run_service(service_options(options), building(options))


def service_options(options: SchedulerOptions) -> ServiceOptions:
    """Flags go before what the file says."""
    config = options.config
    wanted = config.leader_election.leader_elect if options.leader_elect is None else options.leader_elect
    return ServiceOptions(
        election=config.leader_election.model_copy(update={"leader_elect": wanted}),
        kubeconfig=options.kubeconfig or config.client_connection.kubeconfig or None,
        context=options.context,
        secure_port=options.secure_port,
        cert_dir=options.cert_dir,
        open_metrics=options.open_metrics,
    )


def building(options: SchedulerOptions) -> Build:
    """Plugins are looked up before anything is contacted."""
    config = options.config
    known, extra = registry(options.plugins)

    def build(client: Client, election: LeaderElection | None) -> LiveScheduler:
        make = make_profiles(config, known, extra, lambda warning: log.warning("configuration", text=warning))
        live = LiveScheduler(
            client,
            config,
            make,
            election=election,
            keep_decisions=options.keep_decisions,
            when_synced=gc_tuning.settle,
            when_idle=gc_tuning.rest,
        )
        warn_of_others(live.engine.profiles.values(), client.endpoint)
        return live

    return build
