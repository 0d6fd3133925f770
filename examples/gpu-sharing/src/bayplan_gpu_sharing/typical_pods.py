"""
The typical pods of a workload: the most frequent shapes that together are 95% of its pods.

``fgd`` goes by them: a node's free GPUs are worth what these pods could use of them.

    python -m bayplan_gpu_sharing.typical_pods cluster.yaml > typical.yaml
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

import yaml

from bayplan.objects.pod import Pod
from bayplan_gpu_sharing.gpu_request import GpuRequest, request_of

COVERED = 0.95


def typical_pods(pods: Iterable[Pod]) -> list[tuple[GpuRequest, float]]:
    """Shapes, each with its share; the shares add up to 1."""
    counts = Counter(map(request_of, pods))
    total = counts.total()
    chosen: list[tuple[GpuRequest, int]] = []
    covered = 0
    # Of two that are as frequent, the larger goes first.
    for shape, count in sorted(counts.items(), key=lambda pair: (pair[1], pair[0]), reverse=True):
        if covered >= COVERED * total:
            break
        chosen.append((shape, count))
        covered += count
    return [(shape, count / covered) for shape, count in chosen]


def as_args(typical: Iterable[tuple[GpuRequest, float]]) -> list[dict[str, Any]]:
    """As the args of FGD have them."""
    return [
        {"cpuMilli": shape.cpu_milli, "gpuMilli": shape.milli, "gpus": shape.count, "models": shape.models, "share": p}
        for shape, p in typical
    ]


def main() -> None:
    from bayplan.simulator.loading import read

    given = read(sys.argv[1:])
    pods = [each for each in given.objects if isinstance(each, Pod)]
    pods += [each for _, each in given.later if isinstance(each, Pod)]
    yaml.safe_dump({"typical": as_args(typical_pods(pods))}, sys.stdout, sort_keys=False)


if __name__ == "__main__":
    main()
