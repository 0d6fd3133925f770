"""``bayplan ui``: a page in the browser on a live cluster, on files, or on a simulation that runs; read-only."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from bayplan.cli import options
from bayplan.cli.output import warn
from bayplan.errors import InputError

if TYPE_CHECKING:
    from bayplan.app.ui.process import UiOptions
    from bayplan.app.ui.source import Source

EXAMPLES = """\
bayplan ui                            # the live cluster of the kubeconfig
bayplan ui -f cluster.yaml            # files, read again when they change
bayplan ui -f cluster.yaml --simulate --speed 10
bayplan ui --address 0.0.0.0 --auth   # for everybody, with their own rights
"""
PORT = 10266

Auth = Annotated[
    bool | None,
    typer.Option(
        "--auth/--no-auth",
        help="Ask the API server who may see what, over HTTPS.  --no-auth: everybody who can reach it may see all.",
        show_default=False,
    ),
]


def ui(
    filename: options.FilesIfAny = None,
    recursive: options.Recursive = False,
    simulate: Annotated[bool, typer.Option("--simulate", help="Let the files run in virtual time.")] = False,
    speed: Annotated[
        float, typer.Option("--speed", metavar="N", min=0.001, help="Seconds of virtual time in one second.")
    ] = 1.0,
    run_for: options.RunFor = None,
    seed: options.Seed = 0,
    now: options.Now = None,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.Config = None,
    plugin: options.PluginSpecs = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="A live scheduler that tells its last decisions: https://HOST:10259.",
            show_default=False,
        ),
    ] = None,
    scheduler_ca: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="The certificate that the scheduler's is checked against.", show_default=False
        ),
    ] = None,
    scheduler_insecure: Annotated[
        bool, typer.Option("--scheduler-insecure", help="Do not check the scheduler's certificate.")
    ] = False,
    address: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="Where to listen; 0: any.")] = PORT,
    auth: Auth = None,
    cert_dir: options.CertDir = None,
    log_format: options.LogFormats = options.LogFormat.TEXT,
    verbose: options.Verbose = False,
) -> int:
    """
    Show a cluster in the browser: the map, pods and why they wait, policies and moves, kept up to date.

    Nothing is written.  On this machine the page shows what the kubeconfig's user may see; with --auth everybody sees
    what they may list themselves, by a token.  Ctrl-C and SIGTERM end it.

    Exit code 0: it was told to stop.  2: the arguments or the files are wrong, or it cannot listen there.
    """
    options.leave_when_told()
    from bayplan.app.shell import logging
    from bayplan.app.ui import process

    logging.set_up(verbose=verbose, as_json=log_format == options.LogFormat.JSON)
    if filename and (kubeconfig or context):
        raise InputError("files and a live cluster at once", fix="leave out -f, or --kubeconfig and --context")
    served = process.UiOptions(command=_command(), address=address, port=port, auth=auth, cert_dir=cert_dir)
    process.check(served, is_live=not filename)
    if filename:
        if scheduler:
            raise InputError("has no effect with -f", field="--scheduler", fix="leave it out")
        given = (filename, recursive, config, plugin or ())
        length = options.read_duration(run_for, "--for")
        source = _source(given, simulate, speed, length, seed, options.read_now(now), served)
        return process.run_ui(process.serve_source(served, source, _tell))
    if simulate:
        raise InputError("has no effect without -f", field="--simulate", fix="name the files to simulate")
    from pathlib import Path

    from bayplan.app.config_file import read_config

    live = process.LiveOptions(
        config=read_config(None if config is None else Path(config), plugin or ()),
        has_config=config is not None,
        kubeconfig=kubeconfig,
        context=context,
        plugins=tuple(plugin or ()),
        scheduler=scheduler,
        scheduler_ca=scheduler_ca,
        scheduler_insecure=scheduler_insecure,
    )
    return process.run_ui(process.serve_live(served, live, _tell))


def _source(
    given: tuple[list[str], bool, str | None, list[str] | tuple[()]],
    simulate: bool,
    speed: float,
    length: float | None,
    seed: int,
    started: float | None,
    served: UiOptions,
) -> Source:
    from bayplan.app.ui.worlds import FileCluster, RunningSimulation
    from bayplan.simulator import loading
    from bayplan.simulator.load.simulated_load import LoadOptions
    from bayplan.simulator.world import World, assemble

    names, recursive, config, plugins = given

    def read() -> World:
        found = loading.read(names, recursive=recursive, config=config, plugins=plugins)
        load = LoadOptions() if simulate and length is not None else None
        return assemble(found, seed=seed, now=started, load=load, keeps_history=simulate, warn=warn)

    if simulate:
        return RunningSimulation(read(), served.command, speed, length)
    return FileCluster(read, [*names, *([config] if config else [])], served.command)


def _command() -> str:
    import shlex

    return shlex.join(["bayplan", *sys.argv[1:]])


def _tell(address: str) -> None:
    print(f"open {address} in a browser; Ctrl-C ends it", file=sys.stderr, flush=True)
