"""
Options that several commands have, and how their texts are read.
"""

from __future__ import annotations

from typing import Annotated

import typer

from bayplan.errors import InputError

Files = Annotated[
    list[str],
    typer.Option(
        "--filename", "-f", metavar="PATH", help="A file, a folder or - (standard input); may be given more than once."
    ),
]
FilesIfAny = Annotated[
    list[str] | None,
    typer.Option(
        "--filename",
        "-f",
        metavar="PATH",
        help="A file, a folder or - (standard input); may be given more than once.  Default: a live cluster.",
        show_default=False,
    ),
]
Recursive = Annotated[bool, typer.Option("--recursive", "-R", help="Look into the folders of a folder, too.")]
Config = Annotated[
    str | None, typer.Option("--config", metavar="FILE", help="A KubeSchedulerConfiguration.", show_default=False)
]
PluginSpecs = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="MODULE:CLASS",
        help="A plugin of your own: module:Class or path/to/file.py:Class.  It joins every profile unless the "
        "configuration names it.",
        show_default=False,
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="Breaks ties and makes names; the same seed, the same run.")
]
Now = Annotated[
    str | None,
    typer.Option(
        "--now",
        metavar="TIME",
        help="When virtual time starts, such as 2026-01-31T10:00:00Z.  Default: now.",
        show_default=False,
    ),
]
Kubeconfig = Annotated[
    str | None,
    typer.Option("--kubeconfig", metavar="FILE", help="The kubeconfig.  Default: as kubectl.", show_default=False),
]
Context = Annotated[
    str | None,
    typer.Option(
        "--context", metavar="NAME", help="A context of the kubeconfig.  Default: its current one.", show_default=False
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log more, and show where an error comes from.")]


def read_now(text: str | None) -> float | None:
    """``--now`` as epoch seconds."""
    from bayplan.objects.meta import parse_time

    try:
        return parse_time(text)
    except ValueError as error:
        raise InputError(str(error), field="--now") from None


def read_duration(text: str | None, option: str) -> float | None:
    """A duration such as 10m, in seconds."""
    from bayplan.framework.duration import parse_duration

    if text is None:
        return None
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise InputError(str(error), field=option) from None
    if seconds < 0:
        raise InputError(f"{text} is less than nothing", field=option, fix="write a duration such as 10m")
    return seconds
