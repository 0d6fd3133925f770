"""``bayplan scheduler``: the live scheduler, beside or instead of kube-scheduler."""

from __future__ import annotations

import os
import signal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from bayplan.cli import options


class LogFormat(StrEnum):
    """How log lines look."""

    TEXT = "text"
    JSON = "json"


class Truth(StrEnum):
    """A flag with a value, as kube-scheduler has it."""

    TRUE = "true"
    FALSE = "false"


def _leave(*_: object) -> NoReturn:
    # Not SystemExit: raised in the middle of an import it may be caught there.  There is nothing to clean up yet.
    os._exit(0)


def scheduler(
    config: options.Config = None,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    leader_elect: Annotated[
        Truth | None,
        typer.Option(
            "--leader-elect", help="Whether one of several replicas leads; goes before the file.", show_default=False
        ),
    ] = None,
    secure_port: Annotated[
        int,
        typer.Option("--secure-port", metavar="PORT", min=0, max=65535, help="HTTPS for health and metrics; 0: none."),
    ] = 10259,
    cert_dir: Annotated[
        str | None,
        typer.Option("--cert-dir", metavar="FOLDER", help="Where tls.crt and tls.key are.  Default: self-signed."),
    ] = None,
    plugin: options.PluginSpecs = None,
    open_metrics: Annotated[
        bool,
        typer.Option("--open-metrics", help="Show /metrics to everybody, not only to those the API server allows."),
    ] = False,
    log_format: Annotated[LogFormat, typer.Option("--log-format", help="How log lines look.")] = LogFormat.TEXT,
    verbose: options.Verbose = False,
) -> int:
    """
    Schedule the pods of a live cluster.

    Without --config: the pods with schedulerName bayplan, with the default plugins.  SIGTERM ends it in order: binds
    under way are finished and the lease is given back.

    Exit code 0: it was told to stop.  1: it lost the lease.  2: the arguments or the configuration are wrong.
    """
    # Importing takes a while, and a process that is the first of its container ignores signals nobody handles.
    signal.signal(signal.SIGTERM, _leave)
    from bayplan.app import logging
    from bayplan.app.config_file import read_config
    from bayplan.app.service import SchedulerOptions, run_scheduler

    logging.set_up(verbose=verbose, as_json=log_format == LogFormat.JSON)
    return run_scheduler(
        SchedulerOptions(
            config=read_config(None if config is None else Path(config), plugin or ()),
            kubeconfig=kubeconfig,
            context=context,
            plugins=tuple(plugin or ()),
            leader_elect=None if leader_elect is None else leader_elect is Truth.TRUE,
            secure_port=secure_port,
            cert_dir=cert_dir,
            open_metrics=open_metrics,
        )
    )
