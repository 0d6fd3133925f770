"""
How fast the engine is, by itself and in memory: queue, decision and commit of the pods of a workload file.

``bayplan bench`` calls ``measure``.  What the API server adds to the time of a pod is not in here; for that the same
files are run by ``benchmarks.live``.
"""

from __future__ import annotations

from bayplan.simulator.benchmarks.workload_file import Manifest, Workload
from bayplan.simulator.benchmarks.workload_run import Tell, WorkloadRun

FULL_PASSES = 1000


def measure(
    workload: Workload,
    nodes: int | None = None,
    pods: int | None = None,
    seed: int = 0,
    progress: Tell = lambda done, total: None,
) -> Manifest:
    """
    Run a workload; how long its measured part took.  A share of the pods is scheduled once more with every plugin
    asked about every node for every pod, which is what a pod costs that has no others of its kind.
    """
    sizes = workload.sized(nodes, pods)
    run = WorkloadRun(workload, sizes, seed, progress, remember=True)
    run.run()
    fewer = workload.sized(sizes.nodes, min(sizes.pods, FULL_PASSES))
    full = WorkloadRun(workload, fewer, seed, lambda done, total: None, remember=False)
    full.run()
    return {
        "workload": workload.name,
        "about": workload.about,
        "nodes": sizes.nodes,
        "pods": run.wanted,
        "bound": run.bound,
        "seconds": round(run.seconds, 3),
        "podsPerSecond": run.pods_per_second,
        "microsecondsPerPod": _each(run.seconds, run),
        "cpuMicrosecondsPerPod": _each(run.cpu_seconds, run),
        "fullPassPodsPerSecond": full.pods_per_second,
        "fullPassCpuMicrosecondsPerPod": _each(full.cpu_seconds, full),
    }


def _each(seconds: float, run: WorkloadRun) -> float:
    return round(seconds / max(1, run.bound) * 1e6, 1)
