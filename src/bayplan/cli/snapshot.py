"""``bayplan snapshot``: what the scheduler sees of a live cluster, in one file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayplan.cli import options
from bayplan.cli.output import Shape, rendered, warn, write
from bayplan.errors import InputError

if TYPE_CHECKING:
    from bayplan.app.snapshot.live_cluster import LiveCluster
    from bayplan.plugins.plugin_set import Plugins

EXAMPLES = """\
bayplan snapshot -o cluster.yaml
bayplan simulate -f cluster.yaml -f new-deployment.yaml
bayplan snapshot --annotation example.com/rack -o json
bayplan snapshot --watch monday.jsonl.gz --for 1h --anonymous
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
    watch: Annotated[
        str | None,
        typer.Option(
            "--watch",
            metavar="FILE",
            help="Record what changes into this file, for bayplan replay, until interrupted; compressed if its name "
            "ends in .gz.",
            show_default=False,
        ),
    ] = None,
    run_for: options.RunFor = None,
    anonymous: Annotated[
        bool,
        typer.Option("--anonymous", help="Put other names in the place of all names, the same one each time."),
    ] = False,
    verbose: options.Verbose = False,
) -> int:
    """
    Write what the scheduler sees of a live cluster as one List that simulate -f and explain -f take.

    With --watch: record what changes from now on, until Ctrl-C or as long as --for says, for bayplan replay.

    Secrets, environments, commands and annotations that scheduling does not read are left out.  Nothing is changed in
    the cluster.
    """
    from bayplan.app.snapshot import live_cluster
    from bayplan.plugins.plugin_set import registry

    known = registry(plugin or ())
    if watch is not None:
        return _record(watch, output, run_for, known, kubeconfig, context, annotation or (), anonymous)
    if run_for is not None:
        raise InputError("there is nothing to wait for", field="--for", fix="add --watch FILE")
    workloads = live_cluster.WORKLOADS
    live = live_cluster.look(kubeconfig, context, plugins=known, beside=workloads, keep=annotation or (), warn=warn)
    if anonymous:
        live = _anonymous(live)
    document = live_cluster.as_list(live)
    if output in ON_STDOUT:
        write(_text(document, ON_STDOUT[output]))
    else:
        _write(document, Path(output))
    return 0


def _anonymous(live: LiveCluster) -> LiveCluster:
    from dataclasses import replace

    from bayplan.app.snapshot.anonymizing import Pseudonyms

    pseudonyms = Pseudonyms(warn)
    documents = (pseudonyms.document(document) for document in live.documents)
    return replace(live, documents=[each for each in documents if each is not None], left_out=())


def _record(
    file: str,
    output: str,
    run_for: str | None,
    plugins: Plugins,
    kubeconfig: str | None,
    context: str | None,
    annotations: Sequence[str],
    anonymous: bool,
) -> int:
    from bayplan.app.snapshot.recorder import RecorderOptions, record

    if output != "yaml":
        raise InputError("a recording goes into the file of --watch", field="--output", fix="leave it out")
    done = record(
        RecorderOptions(
            path=Path(file),
            plugins=plugins,
            kubeconfig=kubeconfig,
            context=context,
            annotations=annotations,
            is_anonymous=anonymous,
            run_for_s=None if run_for is None else options.read_timeout(run_for, "--for"),
        ),
        warn,
    )
    print(f"{file}: {done.objects} objects and {done.changes} changes", file=sys.stderr)
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
