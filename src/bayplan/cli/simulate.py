"""``bayplan simulate``: schedule everything in some files, in memory, in virtual time."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from bayplan.cli import options
from bayplan.cli.output import WRONG, rendered, show, style, warn
from bayplan.cli.progress import progress
from bayplan.cli.reporting import reporting
from bayplan.errors import InputError

if TYPE_CHECKING:
    from bayplan.simulator.world import World

EXAMPLES = """\
bayplan simulate -f cluster.yaml
bayplan simulate -f nodes/ -f app.yaml --explain
bayplan simulate -f cluster.yaml --summary
bayplan simulate -f cluster.yaml --config scheduler.yaml --for 10m -o json
bayplan simulate -f cluster.yaml -o manifests > next.yaml
bayplan simulate -f cluster.yaml --report cluster.html
kubectl get nodes,pods -A -o yaml | bayplan simulate -f - -f new.yaml
"""


class Shape(StrEnum):
    """What ``-o`` takes here."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    MANIFESTS = "manifests"


def simulate(
    filename: options.Files,
    recursive: options.Recursive = False,
    config: options.Config = None,
    plugin: options.PluginSpecs = None,
    seed: options.Seed = 0,
    now: options.Now = None,
    run_for: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="DURATION",
            help="Let virtual time run on, such as 10m.  Default: until nothing more can happen.",
            show_default=False,
        ),
    ] = None,
    outage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FROM-TO",
            help="With --for and usage profiles: nothing is measured meanwhile, such as 10m-70m.  May be repeated.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say of every pending pod why.")] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Show sums by workload, by zone and by kind of node instead of each.")
    ] = False,
    output: Annotated[Shape, typer.Option("--output", "-o", help="How to show the result.")] = Shape.TABLE,
    report: options.Report = None,
    verbose: options.Verbose = False,
) -> int:
    """
    Schedule everything in the files, with the engine of the live scheduler, without a cluster.

    Exit code 0: every pod that could be handled is bound.  1: some pod is pending, or lost for good.  2: the input is
    wrong, a plugin failed, or the run could not come to its end.
    """
    from bayplan.simulator import loading, simulation
    from bayplan.simulator.load.simulated_load import LoadOptions
    from bayplan.simulator.report import end_state, simulation_report

    started, length = options.read_now(now), options.read_duration(run_for, "--for")
    if outage and length is None:
        raise InputError("has no effect without --for", field="--outage", fix="write --for, too, or leave it out")
    for flag, is_given in (("--explain", explain), ("--summary", summary)):
        if is_given and output in (Shape.NAME, Shape.MANIFESTS):
            raise InputError(f"has no effect with -o {output}", field=flag, fix="leave out one of the two")
    written = reporting(report, "simulate", started)
    given = loading.read(filename, recursive=recursive, config=config, plugins=plugin or ())
    ended: list[World] = []
    with progress("pods tried") as tell:
        document = simulation.simulate(
            given,
            seed=seed,
            now=started,
            run_for_s=length,
            with_explanations=explain,
            with_summary=summary,
            load=LoadOptions(outages=options.read_spans(outage or (), "--outage")),
            keeps_history=written is not None,
            warn=warn,
            progress=tell,
            at_end=ended.append,
        )

    def text() -> str:
        if output is Shape.NAME:
            return simulation_report.as_names(document)
        if output is Shape.MANIFESTS:
            return end_state.heading(ended[0]) + rendered(end_state.manifests(ended[0], given), Shape.YAML).rstrip()
        return simulation_report.as_table(document, wide=output is Shape.WIDE, style=style())

    if written is not None:
        from bayplan.view.simulation_view import simulation_view

        written.write(simulation_view(ended[0], written.origin))
    show(document, output, text)
    if "stopped" in document or "errors" in document["summary"]:
        return WRONG
    return 1 if document["summary"]["pending"] or "lostForGood" in document["summary"] else 0
