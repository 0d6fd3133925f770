"""``bayplan sweep``: many scenarios of one cluster, and a row for each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from bayplan.cli import options
from bayplan.cli.output import Shape, show, warn
from bayplan.cli.progress import progress
from bayplan.cli.reporting import reporting
from bayplan.errors import InputError

EXAMPLES = """\
bayplan sweep sweep.yaml
bayplan sweep sweep.yaml --workers 2 --out rows.csv --plot rows.svg
bayplan sweep sweep.yaml --on tcp://scheduler:8786 --out rows.parquet
bayplan sweep sweep.yaml -o json
"""


def sweep(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file with kind: Sweep.")],
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Where rows go: a name that ends in .csv, or in .parquet for both.  Rows that are there are not run "
            "again.  Default: the name of the sweep's file with .csv, in this folder.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            help="How many processes; 1 runs everything in this one.  Default: one for each CPU.",
            show_default=False,
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="ADDRESS",
            help="Run on the workers of a Dask scheduler instead, such as tcp://scheduler:8786.",
            show_default=False,
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew: rows that are there are thrown away.")] = False,
    plot: Annotated[
        str | None,
        typer.Option("--plot", metavar="FILE", help="Draw a picture: .svg, .png or .pdf.", show_default=False),
    ] = None,
    output: Annotated[Shape, typer.Option("--output", "-o", help="How to show the result.")] = Shape.TABLE,
    report: options.Report = None,
    verbose: options.Verbose = False,
) -> int:
    """
    Run a grid of scenarios in parallel: seeds, configurations, weights, outages, scales and traces.

    Exit code 0: every scenario came to its end.  1: some run ended too early; its row says why.  2: the input is wrong.
    """
    from bayplan.app.sweep import running

    if on is not None and workers is not None:
        raise InputError("has no effect with --on", field="--workers", fix="leave out one of the two")
    written = reporting(report, "sweep", None)
    means = running.Means(workers or os.cpu_count() or 1, on or "")
    with progress("scenarios", look_every=1, lines=False) as tell:
        name, done = running.run(
            Path(file),
            None if out is None else Path(out),
            means,
            fresh=fresh,
            plot=None if plot is None else Path(plot),
            warn=warn,
            tell=tell,
        )
    count = len(done.rows)
    kept = f", {done.reused} of them there before" if done.reused else ""
    document = done.document(name)
    if written is not None:
        from bayplan.view.command_views import sweep_view

        written.write(sweep_view(document, written.origin))
    show(document, output, lambda: f"{done.table()}\n\n{count} scenarios in {done.file.path}{kept}")
    return 1 if done.stopped else 0
