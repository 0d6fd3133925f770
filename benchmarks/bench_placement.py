"""
Placement in memory: the promised figures, start-up with many placements, and growth from 100 to 10,000 clusters.

    python -m benchmarks.bench_placement [--json] [--large]

Compute only: writing decisions to an API server is measured apart, by the tests on a real one.
"""

from __future__ import annotations

import json
import sys

from bayplan.placement import benchmarking
from bayplan.placement.benchmarking import Result

GROWTH = (100, 300, 1000, 3000, 10_000)
WIDTH = 50


def growth() -> list[Result]:
    return [
        result
        for clusters in GROWTH
        for result in (
            benchmarking.cold(clusters, clusters // 10),
            benchmarking.change(clusters, clusters // 10, rounds=30),
        )
    ]


def main(arguments: list[str]) -> None:
    results = benchmarking.measure()
    if "--large" in arguments:
        results.append(benchmarking.storm(1000, 10_000, 10))
    grown = growth()
    if "--json" in arguments:
        print(json.dumps({"results": results, "growth": grown}, indent=2))
        return
    for each in results:
        print("  ".join(f"{name}={value}" for name, value in each.items()))
    most = max(each["milliseconds"] for each in grown)
    print("\nms by number of clusters, a tenth of them chosen")
    for each in grown:
        bar = "#" * max(1, round(WIDTH * each["milliseconds"] / most))
        print(f"{each['workload']:17} {each['clusters']:6} {each['milliseconds']:8.3f} {bar}")


if __name__ == "__main__":
    main(sys.argv[1:])
