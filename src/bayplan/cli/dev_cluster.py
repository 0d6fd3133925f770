"""``bayplan dev-cluster``: a cluster on this machine to try things in.  The work is done by ``hack/dev_cluster``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli import options
from bayplan.errors import InputError

EXAMPLES = """\
bayplan dev-cluster up --nodes 5
bayplan dev-cluster status
bayplan dev-cluster down
"""
CHECKOUT = Path(__file__).resolve().parents[3]


class Action(StrEnum):
    """What to do with the cluster."""

    UP = "up"
    DOWN = "down"
    STATUS = "status"


def dev_cluster(
    action: Annotated[
        Action, typer.Argument(metavar="up|down|status", help="Start it, end it, or ask whether it runs.")
    ],
    nodes: Annotated[int, typer.Option("--nodes", metavar="N", min=0, help="How many fake nodes it gets.")] = 3,
    kube_scheduler: Annotated[
        bool, typer.Option("--kube-scheduler", help="Run kube-scheduler, too, for pods that ask for no other.")
    ] = False,
    verbose: options.Verbose = False,
) -> int:
    """
    Run a real API server with fake nodes on this machine, for a person to try things in.

    Pods that are bound to a fake node become Running.  up builds the control plane if need be, which takes minutes
    once, and writes a kubeconfig; interrupted, it ends what it started.  down ends and removes everything.

    Exit code 0: done, or it runs.  1: it does not run, or not yet, or does not answer (status).  2: it could not be
    started.  130: interrupted.
    """
    if not (CHECKOUT / "hack" / "dev_cluster").is_dir():
        raise InputError(
            "dev-cluster needs a checkout of the repository", fix="clone it and run make dev-cluster there"
        )
    command = [sys.executable, "-m", "hack.dev_cluster", action.value]
    if action is Action.UP:
        command += [f"--nodes={nodes}", *(["--kube-scheduler"] if kube_scheduler else [])]
    return _run(command)


def _run(command: Sequence[str]) -> int:
    """Its exit code.  An interrupt is passed on and waited for: what was started has to be ended."""
    import subprocess

    # The child is born with the signal blocked and takes it when it knows what to do.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process = subprocess.Popen(command, cwd=CHECKOUT)
        before = signal.signal(signal.SIGINT, lambda *_: process.send_signal(signal.SIGINT))
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        code = process.wait()
        return code if code >= 0 else 128 - code  # as a shell tells which signal ended it
    finally:
        signal.signal(signal.SIGINT, before)
