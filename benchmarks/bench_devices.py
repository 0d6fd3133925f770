"""
How devices grow: what a pod that wants one costs at so many nodes, and what a device takes of memory.

Speed is that of ``bayplan bench devices``.  Memory is counted by tracemalloc, after an API server's JSON was read and a
first claim was answered on every node: the slices themselves, the columns over their devices, the pools, what each node
sees of them, and the answers.

    python -m benchmarks.bench_devices [--nodes 500 1000 2000 5000] [--pods 2000] [-o json]
"""

from __future__ import annotations

import argparse
import gc
import json
import tracemalloc
from collections.abc import Iterable
from typing import Any

import msgspec

from bayplan.engine.cache import ClusterCache
from bayplan.framework import CycleState
from bayplan.objects import kinds
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.plugins.dynamic_resources import DynamicResources
from bayplan.simulator.benchmarks import workload_file
from bayplan.simulator.benchmarks import workload_rendering as rendering
from bayplan.simulator.benchmarks.workload_file import CreateObjects, Manifest, Sizes
from bayplan.simulator.benchmarks.workload_run import WorkloadRun
from bayplan.testing import api_object, node, pod
from bayplan.testing.harness import make

WORKLOAD = "devices"
NODES = (500, 1000, 2000, 5000)
PODS = 2000


def main() -> None:
    parser = argparse.ArgumentParser(description="Devices: pods a second and bytes a device as clusters grow.")
    parser.add_argument("--nodes", type=int, nargs="+", default=NODES)
    parser.add_argument("--pods", type=int, default=PODS)
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    given = parser.parse_args()
    results = [{"nodes": count, **speed(count, given.pods), **memory(count)} for count in given.nodes]
    print(json.dumps(results, indent=2) if given.output == "json" else table(results))


def speed(nodes: int, pods: int) -> dict[str, Any]:
    """The engine alone, in memory."""
    workload = workload_file.find(WORKLOAD)
    run = WorkloadRun(workload, workload.sized(nodes, pods), 0, lambda done, total: None, remember=True)
    run.run()
    micros = round(run.cpu_seconds / max(1, run.bound) * 1e6, 1)
    return {"bound": run.bound, "podsPerSecond": run.pods_per_second, "cpuMicrosecondsPerPod": micros}


def memory(nodes: int) -> dict[str, Any]:
    """What devices add to a scheduler that knows the nodes."""
    raw = [msgspec.json.encode(each) for each in _manifests("ResourceSlice", nodes)]
    cache = ClusterCache()
    for number in range(nodes):
        cache.add_node(_node(number))
    plugin, wants = make(DynamicResources, cache), _wants_a_device(cache)
    _asked(plugin, wants, cache)  # so that what is only imported or compiled is not counted
    decode = kinds.decoder(kinds.named("ResourceSlice"))
    gc.collect()
    tracemalloc.start()
    try:
        for each in raw:
            slice = decode(each)
            cache.objects.put("ResourceSlice", "", slice.name, slice)
        devices = sum(len(each.devices) for each in cache.objects.list("ResourceSlice"))
        slices_b = _held() / devices
        _asked(plugin, wants, cache)
        return {"devices": devices, "bytesPerDevice": round(_held() / devices), "ofWhichSlices": round(slices_b)}
    finally:
        tracemalloc.stop()


def _held() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def _asked(plugin: DynamicResources, wants: Pod, cache: ClusterCache) -> None:
    state = CycleState()
    plugin.pre_filter(state, wants, cache.nodes)
    plugin.filter(state, wants, cache.nodes)


def _wants_a_device(cache: ClusterCache) -> Pod:
    """A pod with a claim as the workload's template makes it."""
    (device_class,) = _manifests("DeviceClass", 1)
    (template,) = _manifests("ResourceClaimTemplate", 1)
    made = [
        api_object("DeviceClass", "gpu", spec=device_class["spec"]).build(),
        api_object("ResourceClaim", "gpu", spec=template["spec"]["spec"]).build(),
    ]
    for each in made:
        cache.objects.put(kinds.kind_of(each), each.namespace, each.name, each)
    return pod("wants-one").resource_claim("gpu").build()


def _manifests(kind: str, nodes: int) -> Iterable[Manifest]:
    for action in workload_file.find(WORKLOAD).actions:
        if isinstance(action, CreateObjects) and action.template["kind"] == kind:
            yield from rendering.objects(action, Sizes(nodes=nodes))


def _node(number: int) -> Node:
    return node(f"node-{number}").build()


def table(results: Iterable[dict[str, Any]]) -> str:
    lines = [f"{'NODES':>6}{'DEVICES':>9}{'PODS/S':>9}{'CPU US/POD':>12}{'BYTES/DEVICE':>14}{'OF WHICH SLICES':>17}"]
    for each in results:
        lines.append(
            f"{each['nodes']:>6}{each['devices']:>9}{each['podsPerSecond']:>9}{each['cpuMicrosecondsPerPod']:>12}"
            f"{each['bytesPerDevice']:>14}{each['ofWhichSlices']:>17}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
