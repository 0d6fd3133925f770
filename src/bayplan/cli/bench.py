"""``bayplan bench``: how many pods a second the engine schedules on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from bayplan.cli import options
from bayplan.cli.output import Shape, show
from bayplan.cli.progress import progress
from bayplan.errors import InputError

EXAMPLES = """\
bayplan bench plain spread
bayplan bench plain --nodes 5000 --pods 10000 -o json
bayplan bench my-workload.yaml
"""


def bench(
    workload: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORKLOAD|FILE.yaml]...",
            help="Which; all that come with Bayplan if none is named.",
            show_default=False,
        ),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option("--nodes", metavar="N", min=1, help="How many nodes; as the workload says if not given."),
    ] = None,
    pods: Annotated[
        int | None,
        typer.Option("--pods", metavar="N", min=1, help="How many pods; as the workload says if not given."),
    ] = None,
    seed: options.Seed = 0,
    output: Annotated[Shape, typer.Option("--output", "-o", help="How to show the result.")] = Shape.TABLE,
    verbose: options.Verbose = False,
) -> int:
    """Measure the engine in memory: queue, decision and commit, without an API server."""
    from bayplan.simulator.benchmarks import engine_speed, workload_file
    from bayplan.simulator.explain.explanation import API_VERSION

    named = workload or list(workload_file.shipped())
    for name in named:
        if name in ALONE:
            if len(named) == 1:
                return ALONE[name](Alone(nodes, pods, seed, output))
            raise InputError(f'the workload "{name}" runs alone; give it without others')
    # All are read before the first is run, so that a mistake in the last does not cost the time of the others.
    workloads = [workload_file.find(name, tuple(ALONE)) for name in named]
    results = []
    for each in workloads:
        with progress(each.name) as tell:
            results.append(engine_speed.measure(each, nodes, pods, seed, tell))
    document = {"apiVersion": API_VERSION, "kind": "Benchmark", "results": results}
    show(document, output, lambda: _text(results))
    return 0


@dataclass(frozen=True, slots=True)
class Alone:
    """The options a workload of its own may heed."""

    nodes: int | None
    pods: int | None
    seed: int
    output: Shape


def _million(asked: Alone) -> int:
    from bayplan.simulator.benchmarks import million
    from bayplan.simulator.explain.explanation import API_VERSION
    from bayplan.text_layout import table

    with progress("million") as tell:
        result = million.measure(asked.nodes or million.MILLION, asked.pods or million.MILLION, asked.seed, tell)
    document = {"apiVersion": API_VERSION, "kind": "Benchmark", "results": [result]}
    header = ["NODES", "BOUND", "SECONDS", "CPU SECONDS", "PODS/S", "BYTES/POD", "PEAK GIB", "SECONDS FOR NODES"]
    row = [
        str(result["nodes"]),
        f"{result['bound']}/{result['pods']}",
        str(result["seconds"]),
        str(result["cpuSeconds"]),
        str(result["podsPerSecond"]),
        str(result["bytesPerPod"]),
        f"{result['peakBytes'] / 2**30:.1f}",
        str(result["secondsForNodes"]),
    ]
    show(document, asked.output, lambda: table(header, [row]))
    return 0


def _placement(asked: Alone) -> int:
    from bayplan.placement import benchmark
    from bayplan.placement.explaining import API_VERSION
    from bayplan.text_layout import table

    if asked.nodes is not None or asked.pods is not None:
        raise InputError('the workload "placement" has sizes of its own', fix="leave out --nodes and --pods")
    with progress("placement"):
        results = benchmark.measure()
    columns = ["workload", "clusters", "placements", "chosen", "milliseconds", "cpuMilliseconds"]
    header = ["WORKLOAD", "CLUSTERS", "PLACEMENTS", "CHOSEN", "MS", "CPU MS"]
    document = {"apiVersion": API_VERSION, "kind": "Benchmark", "results": results}
    show(document, asked.output, lambda: table(header, [[str(each[name]) for name in columns] for each in results]))
    return 0


def _text(results: list[dict[str, Any]]) -> str:
    from bayplan.text_layout import table

    rows = [
        [
            result["workload"],
            str(result["nodes"]),
            f"{result['bound']}/{result['pods']}",
            f"{result['podsPerSecond']}",
            f"{result['cpuMicrosecondsPerPod']}",
            f"{result['fullPassPodsPerSecond']}",
            result["about"],
        ]
        for result in results
    ]
    return table(["WORKLOAD", "NODES", "BOUND", "PODS/S", "CPU US/POD", "FULL PASS/S", "WHAT"], rows)


ALONE: dict[str, Callable[[Alone], int]] = {"million": _million, "placement": _placement}
"""Workloads that are no files: they make what they measure themselves, and show it their own way."""
