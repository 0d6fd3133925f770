"""
Workloads end to end on a real API server: Bayplan, the real kube-scheduler and a client that only binds, in turn.

``make bench`` runs it.  All get the same nodes and the same backlog of pods on one control plane on this machine, one
after the other, so that they can be compared; absolute numbers depend on the machine, since API server and etcd share
it.  Pods a second are counted from the first bind or eviction to the last bind as a watch sees them.

    python -m benchmarks.live [WORKLOAD|FILE.yaml …] [--nodes 1000] [--pods 2000] [--only bayplan] [-o json]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvloop

from bayplan.errors import BayplanError
from bayplan.simulator.benchmarks import workload_file
from bayplan.simulator.benchmarks.workload_file import Workload
from benchmarks import plotting
from benchmarks.contenders import BAYPLAN, BIND_ONLY, KUBE_SCHEDULER
from benchmarks.running import PLANE_FLAGS, LiveRun
from benchmarks.spending import say
from tests.support.control_plane import ControlPlane
from tests.support.processes import ProcessDiedError

CEILING_ON = "plain"
"""The workload on which the bind-only client runs, or the first one if it is not among them: binds are all alike."""


def main() -> None:
    given = _parser().parse_args()
    try:
        workloads = [workload_file.find(name) for name in given.workload or workload_file.shipped()]
    except BayplanError as error:
        sys.exit(f"error: {error}")
    chosen = [given.only] if given.only else [BAYPLAN, KUBE_SCHEDULER, BIND_ONLY]

    def keep(document: dict[str, Any]) -> None:
        if given.results:
            given.results.write_text(json.dumps(document, indent=2) + "\n")
        if given.plot:
            given.plot.write_text(plotting.svg(document))

    document = uvloop.run(measure(workloads, chosen, given.nodes, given.pods, rounds=given.rounds, keep=keep))
    print(json.dumps(document, indent=2) if given.output == "json" else table(document))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Workloads on a real API server.")
    parser.add_argument("workload", nargs="*", help="a name or a file; all that come with Bayplan if none is given")
    parser.add_argument("--nodes", type=int, help="how many; as the workload says if not given")
    parser.add_argument("--pods", type=int, help="how many; as the workload says if not given")
    parser.add_argument("--rounds", type=int, default=1, help="so often each in turn; the fastest round counts")
    parser.add_argument("--only", choices=(BAYPLAN, KUBE_SCHEDULER, BIND_ONLY))
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the results as JSON, too")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them as SVG, too")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    return parser


async def measure(
    workloads: list[Workload],
    contenders: list[str],
    nodes: int | None = None,
    pods: int | None = None,
    *,
    rounds: int = 1,
    keep: Callable[[dict[str, Any]], None] = lambda document: None,
) -> dict[str, Any]:
    """Every workload for every contender, on one control plane; ``keep`` gets what there is after each workload."""
    names = [workload.name for workload in workloads]
    ceiling_on = CEILING_ON if CEILING_ON in names else names[0]
    results: list[dict[str, Any]] = []
    with ControlPlane(extra_flags=PLANE_FLAGS) as plane:
        run = LiveRun(plane)
        try:
            for workload in workloads:
                sizes = workload.sized(nodes, pods)
                result: dict[str, Any] = {"workload": workload.name, "about": workload.about, "nodes": sizes.nodes}
                for contender in contenders * rounds:
                    if contender == BIND_ONLY and workload.name != ceiling_on and len(contenders) > 1:
                        continue
                    tried = await _tried(run, workload, sizes, contender)
                    result[contender] = max(result.get(contender, tried), tried, key=_speed)
                results.append(_compared(result))
                keep(_document(results))
        finally:
            await run.close()
    return _document(results)


def _document(results: list[dict[str, Any]]) -> dict[str, Any]:
    """All that was measured, with what Bayplan reaches of the ceiling."""
    ceiling = next((each[BIND_ONLY].get("podsPerSecond") for each in results if BIND_ONLY in each), None)
    for each in results:
        each["shareOfCeiling"] = _ratio(each.get(BAYPLAN, {}).get("podsPerSecond"), ceiling)
    machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
    return {"kind": "LiveBenchmark", "machine": machine, "bindOnlyPodsPerSecond": ceiling, "results": results}


async def _tried(run: LiveRun, workload: Workload, sizes: workload_file.Sizes, contender: str) -> dict[str, Any]:
    """What goes wrong with one is told, and the others are measured all the same."""
    try:
        if contender != BIND_ONLY:
            await run.look_idle(workload, sizes, contender)
        result = await run.measure(workload, sizes, contender)
    except (BayplanError, ProcessDiedError, RuntimeError) as error:
        say(f"{workload.name}: {contender}: {error}")
        return {"error": str(error).splitlines()[0]}
    say(f"{workload.name}: {contender}: {result['bound']} bound, {result['podsPerSecond']} a second")
    return result


def _compared(result: dict[str, Any]) -> dict[str, Any]:
    ours, theirs = result.get(BAYPLAN, {}), result.get(KUBE_SCHEDULER, {})
    result["ratio"] = _ratio(ours.get("podsPerSecond"), theirs.get("podsPerSecond"))
    result["cpuRatio"] = _ratio(theirs.get("cpuMillisecondsPerPod"), ours.get("cpuMillisecondsPerPod"))
    return result


def _speed(result: dict[str, Any]) -> float:
    return result.get("podsPerSecond") or 0.0


def _ratio(one: float | None, other: float | None) -> float | None:
    return round(one / other, 2) if one and other else None


COLUMNS = (("podsPerSecond", "PODS/S"), ("cpuMillisecondsPerPod", "CPU MS/POD"), ("residentMegabytes", "RSS MB"))


def table(document: dict[str, Any]) -> str:
    """A line for each workload and contender, with what they come to beside each other."""
    heads = ("NODES", "BOUND", *(head for _, head in COLUMNS), "RATIO", "CPU RATIO", "OF CEILING")
    lines = [f"{'WORKLOAD':<26}{'SCHEDULER':<16}" + "".join(f"{head:>12}" for head in heads)]
    for result in document["results"]:
        for contender in (BAYPLAN, KUBE_SCHEDULER, BIND_ONLY):
            if contender not in result:
                continue
            each = result[contender]
            compared = ("ratio", "cpuRatio", "shareOfCeiling") if contender == BAYPLAN else ()
            values = [result["nodes"], each.get("bound"), *(each.get(name) for name, _ in COLUMNS)]
            values += [result[name] for name in compared]
            shown = "".join(f"{'-' if value is None else value:>12}" for value in values)
            lines.append(f"{result['workload']:<26}{contender:<16}{shown}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
