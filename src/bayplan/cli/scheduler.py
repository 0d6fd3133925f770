"""``bayplan scheduler``: the live scheduler, beside or instead of kube-scheduler."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli import options

EXAMPLES = """\
bayplan scheduler --config scheduler.yaml
bayplan scheduler --no-leader-elect --secure-port 0 -v
bayplan scheduler --plugin same_rack.py:SameRack
"""


def scheduler(
    config: options.Config = None,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    leader_elect: options.LeaderElect = None,
    secure_port: options.SecurePort = 10259,
    cert_dir: options.CertDir = None,
    plugin: options.PluginSpecs = None,
    open_metrics: options.OpenMetrics = False,
    keep_decisions: Annotated[
        int,
        typer.Option(
            "--keep-decisions", metavar="N", min=0, max=1_000_000, help="How many of its last decisions to serve."
        ),
    ] = 5000,
    log_format: options.LogFormats = options.LogFormat.TEXT,
    verbose: options.Verbose = False,
) -> int:
    """
    Schedule the pods of a live cluster.

    Without --config: the pods with schedulerName bayplan, with the default plugins.  SIGTERM ends it in order: binds
    under way are finished and the lease is given back.

    Exit code 0: it was told to stop.  1: it lost the lease, or a part broke.  2: the arguments or the
    configuration are wrong.
    """
    options.leave_when_told()
    from bayplan.app.config_file import read_config
    from bayplan.app.scheduler.process import SchedulerOptions, run_scheduler
    from bayplan.app.shell import logging

    logging.set_up(verbose=verbose, as_json=log_format == options.LogFormat.JSON)
    return run_scheduler(
        SchedulerOptions(
            config=read_config(None if config is None else Path(config), plugin or ()),
            kubeconfig=kubeconfig,
            context=context,
            plugins=tuple(plugin or ()),
            leader_elect=leader_elect,
            secure_port=secure_port,
            cert_dir=cert_dir,
            open_metrics=open_metrics,
            keep_decisions=keep_decisions,
        )
    )
