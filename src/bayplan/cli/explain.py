"""``bayplan explain``: why a pod is pending, or why it is where it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bayplan.cli import options
from bayplan.cli.output import Shape, show, style, warn
from bayplan.errors import InputError

if TYPE_CHECKING:
    from bayplan.simulator.loading import Given

PODS = ("pod", "pods", "po")


def explain(
    what: Annotated[list[str], typer.Argument(metavar="pod NAME", help="The pod: pod NAME or pod/NAME.")],
    filename: options.FilesIfAny = None,
    namespace: Annotated[
        str | None,
        typer.Option(
            "--namespace",
            "-n",
            metavar="NS",
            help="Its namespace.  Default: default, or the context's.",
            show_default=False,
        ),
    ] = None,
    recursive: options.Recursive = False,
    kubeconfig: options.Kubeconfig = None,
    context: options.Context = None,
    config: options.Config = None,
    plugin: options.PluginSpecs = None,
    seed: options.Seed = 0,
    now: options.Now = None,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many nodes to show the scores of.")] = 3,
    output: Annotated[Shape, typer.Option("--output", "-o", help="How to show the explanation.")] = Shape.TABLE,
    verbose: options.Verbose = False,
) -> int:
    """
    Why is it pending, or why is it there?  Nothing is written anywhere.

    The pod is judged alone against the cluster as given by -f, or, without -f, against a live one that is only read:
    other pending pods stay pending.
    Exit code 0: schedulable or bound.  1: unschedulable.  2: no such pod, or the input is wrong.
    """
    from bayplan.simulator import explaining, loading, telling
    from bayplan.simulator.assembling import assemble

    name = pod_name(what)
    started = options.read_now(now)
    if not filename:
        given, current = live_cluster(kubeconfig, context, config, plugin or ())
        namespace = namespace or current
    elif kubeconfig or context:
        raise InputError("files and a live cluster at once", fix="leave out -f, or --kubeconfig and --context")
    else:
        given = loading.read(filename, recursive=recursive, config=config, plugins=plugin or ())
        namespace = namespace or "default"
    world = assemble(given, seed=seed, now=started, plugins=plugin or (), only=f"{namespace}/{name}", warn=warn)
    document = explaining.explain_pod(world, namespace, name)
    show(document, output, lambda: telling.as_text(document, top=top, style=style()))
    return 1 if document["verdict"] == explaining.UNSCHEDULABLE else 0


def live_cluster(
    kubeconfig: str | None, context: str | None, config: str | None, plugins: Sequence[str]
) -> tuple[Given, str]:
    """A live cluster as if it had been read from files, and the namespace its context names."""
    from bayplan.app import snapshotting
    from bayplan.simulator import loading

    live = snapshotting.look(kubeconfig, context, plugins=plugins, whole=True, warn=warn)
    documents = loading.documents_of(live.documents)
    configuration = None if config is None else loading.read_config(config)
    return loading.load(documents, configuration, plugins), live.namespace


def pod_name(what: list[str]) -> str:
    """The name in ``pod NAME`` or ``pod/NAME``."""
    kind, _, name = what[0].partition("/") if len(what) == 1 else (what[0], "/", " ".join(what[1:]))
    if kind.lower() in PODS and name and " " not in name and "/" not in name:
        return name
    raise InputError(f'"{" ".join(what)}" does not name a pod', fix="write pod NAME or pod/NAME")
