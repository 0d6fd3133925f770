"""``bayplan scheduler``: the live scheduler, beside or instead of kube-scheduler."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _truth(text: str) -> bool:
    if text.lower() in ("true", "1", "yes"):
        return True
    if text.lower() in ("false", "0", "no"):
        return False
    raise typer.BadParameter(f'"{text}" is neither true nor false')


def scheduler(
    config: Annotated[Path | None, typer.Option(help="KubeSchedulerConfiguration file.")] = None,
    kubeconfig: Annotated[str | None, typer.Option(help="Kubeconfig file; default: as kubectl.")] = None,
    context: Annotated[str | None, typer.Option(help="Context of the kubeconfig.")] = None,
    leader_elect: Annotated[
        bool | None, typer.Option("--leader-elect", help="true or false; overrides the file.", parser=_truth)
    ] = None,
    secure_port: Annotated[int, typer.Option(help="HTTPS port for health and metrics; 0: none.")] = 10259,
    cert_dir: Annotated[str | None, typer.Option(help="Folder with tls.crt and tls.key.")] = None,
    plugin: Annotated[list[str] | None, typer.Option(help="module:Class of a plugin to add.")] = None,
    open_metrics: Annotated[
        bool, typer.Option("--open-metrics", help="Serve /metrics to callers without credentials.")
    ] = False,
    log_format: Annotated[str, typer.Option(help="text or json.")] = "text",
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Log more; show tracebacks.")] = False,
) -> None:
    """Schedule the pods of a live cluster."""
    from bayplan.app import logging
    from bayplan.app.config_file import read_config
    from bayplan.app.service import SchedulerOptions, run_scheduler

    logging.set_up(verbose=verbose, as_json=log_format == "json")
    options = SchedulerOptions(
        config=read_config(config),
        kubeconfig=kubeconfig,
        context=context,
        plugins=tuple(plugin or ()),
        leader_elect=leader_elect,
        secure_port=secure_port,
        cert_dir=cert_dir,
        open_metrics=open_metrics,
    )
    raise typer.Exit(run_scheduler(options))
