"""
Placement in memory: the promised figures, start-up with many placements, and growth from 100 to 10,000 clusters.

    python -m benchmarks.bench_placement [--large] [--results FILE] [--plot FILE] [-o json]

Compute only: ``bench_hub`` measures a hub on a real API server, with what writing adds.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from typing import Any

from bayplan.placement import benchmark
from bayplan.placement.benchmark import Result
from benchmarks import curves

GROWTH = (100, 300, 1000, 3000, 10_000)
CURVES = {"placement-cold": "a new placement", "placement-change": "a cluster changes, for each placement"}


def main() -> None:
    parser = argparse.ArgumentParser(description="How long placement takes to think.")
    parser.add_argument("--large", action="store_true", help="10,000 placements on 1,000 clusters, too")
    parser.add_argument("--results", type=Path, metavar="FILE", help="write the results as JSON, too")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the growth as SVG, too")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    given = parser.parse_args()
    document = measure(is_large=given.large)
    if given.results:
        given.results.write_text(json.dumps(document, indent=2) + "\n")
    if given.plot:
        given.plot.write_text(picture(document))
    print(json.dumps(document, indent=2) if given.output == "json" else table(document))


def measure(*, is_large: bool = False, growth: tuple[int, ...] = GROWTH) -> dict[str, Any]:
    """Everything as one document."""
    results = benchmark.measure()
    if is_large:
        results.append(benchmark.storm(1000, 10_000, 10))
    grown = [result for clusters in growth for result in _grown(clusters)]
    machine = {"cpus": os.cpu_count(), "python": platform.python_version()}
    return {"kind": "PlacementBenchmark", "machine": machine, "results": results, "growth": grown}


def _grown(clusters: int) -> tuple[Result, Result]:
    """A tenth of the clusters is chosen."""
    return (
        benchmark.cold(clusters, clusters // 10),
        benchmark.change(clusters, clusters // 10, rounds=20, tries=5),
    )


def picture(document: dict[str, Any]) -> str:
    """The growth, in processor time."""
    drawn = {
        title: [
            (each["clusters"], max(each["cpuMilliseconds"], 0.001))
            for each in document["growth"]
            if each["workload"] == workload
        ]
        for workload, title in CURVES.items()
    }
    return curves.svg("milliseconds of processor time", "clusters, a tenth of them chosen", drawn)


def table(document: dict[str, Any]) -> str:
    lines = []
    for each in (*document["results"], *document["growth"]):
        lines.append("  ".join(f"{name}={value}" for name, value in each.items()))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
