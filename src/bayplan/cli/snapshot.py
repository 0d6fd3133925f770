"""``bayplan snapshot``: what the scheduler sees of a live cluster, in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bayplan.cli import options
from bayplan.cli.output import Shape, rendered, warn, write
from bayplan.errors import InputError

EXAMPLES = """\
bayplan snapshot -o cluster.yaml
bayplan simulate -f cluster.yaml -f new-deployment.yaml
bayplan snapshot --annotation example.com/rack -o json
"""
HEAD = """\
# What bayplan snapshot saw of a cluster.  Left out: secrets, environments, commands, what volumes hold, parameters of
# storage classes, and the annotations that metadata names, if any; --annotation NAME keeps one for a plugin of yours.
"""
ON_STDOUT = {"-": Shape.YAML, "yaml": Shape.YAML, "json": Shape.JSON}


def snapshot(
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write, JSON if its name ends in .json; yaml or json: that, on standard output.",
        ),
    ] = "yaml",
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    plugin: options.PluginSpecs = None,
    annotation: Annotated[
        list[str] | None,
        typer.Option(
            "--annotation",
            metavar="NAME",
            help="Keep this annotation, too, such as one that your plugin reads; '*' keeps all.  May be repeated.",
        ),
    ] = None,
    verbose: options.Verbose = False,
) -> int:
    """
    Write what the scheduler sees of a live cluster as one List that simulate -f and explain -f take.

    Secrets, environments, commands and annotations that scheduling does not read are left out.  Nothing is changed in
    the cluster.
    """
    from bayplan.app.snapshot import live_cluster
    from bayplan.plugins.plugin_set import registry

    live = live_cluster.look(kubeconfig, context, plugins=registry(plugin or ()), keep=annotation or (), warn=warn)
    document = live_cluster.as_list(live)
    if output in ON_STDOUT:
        write(_text(document, ON_STDOUT[output]))
    else:
        _write(document, Path(output))
    return 0


def _text(document: dict[str, Any], shape: Shape) -> str:
    """JSON has no comments; there the list of annotations must do."""
    return rendered(document, shape) if shape is Shape.JSON else HEAD + rendered(document, shape)


def _write(document: dict[str, Any], path: Path) -> None:
    shape = Shape.JSON if path.suffix == ".json" else Shape.YAML
    try:
        # For its owner only: names and labels of a cluster are not for everybody.
        path.touch(mode=0o600)
        path.write_text(_text(document, shape), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", source=str(path), fix="give another file") from None
