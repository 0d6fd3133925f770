"""``bayplan bench``: how many pods a second the engine schedules on this machine."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayplan.cli import options
from bayplan.cli.output import Shape, show
from bayplan.cli.progress import progress
from bayplan.errors import InputError


def bench(
    workload: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORKLOAD]...", help="Which; all of them if none is named.", show_default=False),
    ] = None,
    nodes: Annotated[int, typer.Option("--nodes", metavar="N", min=1, help="How many nodes.")] = 5000,
    pods: Annotated[int, typer.Option("--pods", metavar="N", min=1, help="How many pods of each workload.")] = 5000,
    seed: options.Seed = 0,
    output: Annotated[Shape, typer.Option("--output", "-o", help="How to show the result.")] = Shape.TABLE,
    verbose: options.Verbose = False,
) -> int:
    """Measure the engine in memory: queue, decision and commit, without an API server."""
    from bayplan.framework.mistakes import did_you_mean
    from bayplan.simulator import benchmarking
    from bayplan.simulator.explaining import API_VERSION

    for name in workload or ():
        if name not in benchmarking.WORKLOADS:
            known = ", ".join(benchmarking.WORKLOADS)
            hint = did_you_mean(name, benchmarking.WORKLOADS) or f"; there are {known}"
            raise InputError(f'there is no workload "{name}"{hint}')
    results = []
    for name in workload or benchmarking.WORKLOADS:
        with progress(name) as tell:
            results.append(benchmarking.measure(benchmarking.WORKLOADS[name], nodes, pods, seed, tell))
    document = {"apiVersion": API_VERSION, "kind": "Benchmark", "results": results}
    show(document, output, lambda: _text(results))
    return 0


def _text(results: list[dict[str, Any]]) -> str:
    from bayplan.simulator.benchmarking import WORKLOADS
    from bayplan.simulator.tables import table

    rows = [
        [
            result["workload"],
            str(result["nodes"]),
            f"{result['bound']}/{result['pods']}",
            f"{result['podsPerSecond']}",
            f"{result['microsecondsPerPod']}",
            f"{result['fullPassPodsPerSecond']}",
            WORKLOADS[result["workload"]].about,
        ]
        for result in results
    ]
    return table(["WORKLOAD", "NODES", "BOUND", "PODS/S", "US/POD", "FULL PASS/S", "WHAT"], rows)
