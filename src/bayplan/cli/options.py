"""
Options that several commands have, and how their texts are read.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, NoReturn

import typer

from bayplan.cli.output import Shape
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
ClusterPluginSpecs = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="MODULE:CLASS",
        help="A plugin of your own over clusters: module:Class or path/to/file.py:Class.  Every placement has its "
        "filter; its score counts where a placement names it.",
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
Output = Annotated[Shape, typer.Option("--output", "-o", help="How to show the answer.")]
Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NS",
        help="Where things are that are named without one.  Default: default, or the context's.",
        show_default=False,
    ),
]
Report = Annotated[
    str | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write a report as well: a page for the browser (.html), or a picture (.svg, .png).",
        show_default=False,
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Log more, and show where an error comes from.")]


# -- for those who decide again what others decided --

DecidingProfile = Annotated[
    str,
    typer.Option(
        "--profile",
        metavar="NAME",
        help="The profile that decides for every pod, whatever scheduler it asks for.  Default: the one of the pod's "
        "schedulerName; without --config the default plugins decide for all.",
        show_default=False,
    ),
]
EveryVerdict = Annotated[bool, typer.Option("--all", help="Show pods that agree or tie, too.")]
RunFor = Annotated[
    str | None,
    typer.Option("--for", metavar="DURATION", help="End by itself after so long, such as 10m.", show_default=False),
]


class LogFormat(StrEnum):
    """How log lines look."""

    TEXT = "text"
    JSON = "json"


# -- what every service takes --

LeaderElect = Annotated[
    bool | None,
    typer.Option(
        "--leader-elect/--no-leader-elect",
        help="Whether one of several replicas leads.  Default: yes, or as the configuration says.",
        show_default=False,
    ),
]
LeaseNamespace = Annotated[
    str,
    typer.Option(
        "--leader-elect-resource-namespace",
        metavar="NS",
        help="The namespace of the lease.",
        show_default=True,
    ),
]
SecurePort = Annotated[
    int,
    typer.Option("--secure-port", metavar="PORT", min=0, max=65535, help="HTTPS for health and metrics; 0: none."),
]
CertDir = Annotated[
    str | None,
    typer.Option(
        "--cert-dir", metavar="FOLDER", help="Where tls.crt and tls.key are.  Default: self-signed.", show_default=False
    ),
]
OpenMetrics = Annotated[
    bool,
    typer.Option("--open-metrics", help="Show /metrics to everybody, not only to those the API server allows."),
]
LogFormats = Annotated[LogFormat, typer.Option("--log-format", help="How log lines look.")]


def many(flag: str, metavar: str, about: str) -> object:
    """An option that may be given more than once."""
    return typer.Option(flag, metavar=metavar, help=f"{about}  May be repeated.", show_default=False)


def leave_when_told() -> None:
    """
    For services, until they can end in order: importing takes a while, and a process that is the first of its
    container ignores signals nobody handles.
    """
    signal.signal(signal.SIGTERM, _leave)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _leave)


def _leave(*_: object) -> NoReturn:
    # Not SystemExit: raised in the middle of an import it may be caught there.  There is nothing to clean up yet.
    os._exit(0)


MOST_PRICE = 1e12
"""Of one node; sums stay numbers."""


def read_now(text: str | None) -> float | None:
    """``--now`` as epoch seconds."""
    from bayplan.objects.times import parse_time
    from bayplan.simulator.clock_loop import END

    try:
        moment = parse_time(text)
    except ValueError as error:
        raise InputError(str(error), field="--now") from None
    if moment is not None and not 0 <= moment < END:
        raise InputError(f"{text} is too far away", field="--now", fix="write a time of the years 1970 to 9999 UTC")
    return moment


def read_duration(text: str | None, option: str) -> float | None:
    """A duration such as 10m, in seconds."""
    from bayplan.objects.duration import parse_duration

    if text is None:
        return None
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise InputError(str(error), field=option) from None
    if seconds < 0:
        raise InputError(f"{text} is less than nothing", field=option, fix="write a duration such as 10m")
    return seconds


def read_timeout(text: str, option: str) -> float:
    """A duration in which something can happen, in seconds."""
    seconds = read_duration(text, option)
    if not seconds:
        raise InputError(f"{text} leaves no time at all", field=option, fix="write a duration such as 10s")
    return seconds


def read_spans(texts: Iterable[str], option: str) -> list[tuple[float, float]]:
    """Spans of time such as 10m-70m, each in seconds from and to."""
    spans = []
    for text in texts:
        start, dash, end = text.partition("-")
        first, last = (read_duration(part.strip(), option) if dash else None for part in (start, end))
        if first is None or last is None or last <= first:
            raise InputError(f'"{text}" is not a span of time', field=option, fix="write one such as 10m-70m")
        spans.append((first, last))
    return spans
