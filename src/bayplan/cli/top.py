"""``bayplan top``: a live cluster in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayplan.cli import options
from bayplan.cli.output import Shape, data_stream, show

if TYPE_CHECKING:
    from bayplan.app.top.live import Show
    from bayplan.framework.config.model import SchedulerConfig

EXAMPLES = """\
bayplan top                                    # until Ctrl-C
bayplan top --every 5s
bayplan top --once | head
bayplan top -o json
"""
WIDTH = 160
"""Of what is written into a file or a pipe."""


def top(
    once: Annotated[bool, typer.Option("--once", help="Show it once; so it is if the output is no terminal.")] = False,
    every: Annotated[str, typer.Option("--every", metavar="DURATION", help="How often to draw.")] = "1s",
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.Config = None,
    plugin: options.PluginSpecs = None,
    output: Annotated[Shape, typer.Option("--output", "-o", help="How to show it.")] = Shape.TABLE,
    verbose: options.Verbose = False,
) -> int:
    """
    The busiest nodes, the queue, why pods are pending and how many are bound a second, kept up to date.

    Nothing is written.  Ctrl-C ends it and leaves the terminal as it was.

    Exit code 0: it was told to stop, or has shown it once.  1: a part broke.  2: the arguments are wrong, or the
    cluster cannot be read.
    """
    options.leave_when_told()
    from bayplan.app.config_file import read_config

    every_s = options.read_timeout(every, "--every")
    settings = read_config(None if config is None else Path(config), plugin or ())
    if once or output is not Shape.TABLE or not data_stream().isatty():
        from bayplan.app.shell import logging
        from bayplan.app.top.screen import as_text

        logging.set_up(verbose=verbose, to=sys.stderr, quiet=not verbose)
        return _run(
            lambda top: show(top, output, lambda: as_text(top, WIDTH)), None, settings, kubeconfig, context, plugin
        )
    with _screen(verbose) as drawn:
        return _run(drawn, every_s, settings, kubeconfig, context, plugin)


@contextmanager
def _screen(verbose: bool) -> Iterator[Show]:
    """The terminal's other screen, so that what was there before is there again afterwards, however it ends."""
    from rich.console import Console
    from rich.live import Live

    from bayplan.app.shell import logging
    from bayplan.app.top.live import LastLine
    from bayplan.app.top.screen import screen

    console, last = Console(file=data_stream(), highlight=False), LastLine()
    logging.set_up(verbose=verbose, to=last, quiet=not verbose)
    with Live(console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:

        def draw(top: dict[str, Any]) -> None:
            live.update(screen(top, console.height, last.text), refresh=True)

        yield draw


def _run(
    shown: Show,
    every_s: float | None,
    settings: SchedulerConfig,
    kubeconfig: str | None,
    context: str | None,
    plugins: list[str] | None,
) -> int:
    from bayplan.app.shell.process import ServiceOptions, run_service
    from bayplan.app.top.live import LiveTop
    from bayplan.framework.config.model import LeaderElection
    from bayplan.plugins.plugin_set import make_profiles, registry

    known, extra = registry(tuple(plugins or ()))
    make = make_profiles(settings, known, extra, lambda text: None)
    service = ServiceOptions(
        election=LeaderElection(leader_elect=False), kubeconfig=kubeconfig, context=context, secure_port=0
    )
    return run_service(service, lambda client, election: LiveTop(client, make, shown, every_s))
