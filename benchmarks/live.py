"""
What a live scheduler costs on a real API server: pods a second, CPU a pod, memory a node and a pod.

``make bench`` runs it.  Bayplan and the real kube-scheduler each get the same nodes and the same backlog of pods, one
after the other, on a control plane of its own on this machine, so the two can be compared; absolute numbers depend on
the machine, since API server and etcd share it.

    python -m benchmarks.live --nodes 1000 --pods 10000 [--only bayplan] [-o json]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from tests.support.api import Api
from tests.support.control_plane import ControlPlane
from tests.support.processes import ProcessGroup, Server

TICKS_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
QUANTITIES = {"cpu": "4", "memory": "32Gi", "pods": "110"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Live benchmark on a real API server.")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=10000)
    parser.add_argument("--only", choices=("bayplan", "kube-scheduler"))
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table")
    given = parser.parse_args()
    chosen = [given.only] if given.only else ["bayplan", "kube-scheduler"]
    results = [measure(name, given.nodes, given.pods) for name in chosen]
    if given.output == "json":
        print(json.dumps(results, indent=2))
        return
    heads = ("NODES", "PODS", "PODS/S", "CPU MS/POD", "KB/NODE", "KB/POD", "RSS MB")
    print(f"{'SCHEDULER':<16}" + "".join(f"{head:>12}" for head in heads))
    for each in results:
        print(f"{each['scheduler']:<16}" + "".join(f"{value:>12}" for value in list(each.values())[1:]))


def measure(scheduler: str, nodes: int, pods: int) -> dict[str, Any]:
    """One scheduler on a fresh control plane: memory without and with nodes, then a backlog of pods to bind."""
    with ControlPlane() as plane:
        api = plane.api()
        empty, _ = _idle(plane, scheduler)
        _say(f"{scheduler}: making {nodes} nodes and {pods} pods")
        _all(nodes, lambda number: api.create(_node(number)))
        with_nodes, start_up_cpu = _idle(plane, scheduler)
        _all(pods, lambda number: api.create(_pod(number, scheduler)))
        _say(f"{scheduler}: scheduling")
        started = time.perf_counter()
        server = _start(plane, scheduler)
        first = None
        while _any(api, "spec.nodeName="):
            if first is None and _any(api, "spec.nodeName!="):
                first = time.perf_counter()
            time.sleep(0.1)
        seconds = time.perf_counter() - (first or started)
        cpu, resident = _cpu_s(server.pid) - start_up_cpu, _resident(server.pid)
        server.stop()
    return {
        "scheduler": scheduler,
        "nodes": nodes,
        "pods": pods,
        "podsPerSecond": round(pods / seconds),
        "cpuMillisecondsPerPod": round(cpu / pods * 1000, 2),
        "kilobytesPerNode": round((with_nodes - empty) / nodes / 1024, 1),
        "kilobytesPerPod": round((resident - with_nodes) / pods / 1024, 1),
        "residentMegabytes": round(resident / 1e6),
    }


def _start(plane: ControlPlane, scheduler: str) -> Server:
    if scheduler == "kube-scheduler":
        profile = {"profiles": [{"schedulerName": scheduler}]}
        return plane.start_kube_scheduler(profile, verbosity=0)
    config = plane.folder / "bayplan.yaml"
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": scheduler}],
    }
    config.write_text(yaml.safe_dump(document))
    kubeconfig = plane.kubeconfig("admin")
    command = [sys.executable, "-m", "bayplan", "scheduler", f"--config={config}", f"--kubeconfig={kubeconfig}"]
    return _PROCESSES.start([*command, "--secure-port=0"], Path(plane.folder) / "bayplan.log")


def _idle(plane: ControlPlane, scheduler: str) -> tuple[int, float]:
    """Memory and CPU seconds of a scheduler that has read what there is and has nothing to do."""
    server = _start(plane, scheduler)
    time.sleep(6)
    spent = _resident(server.pid), _cpu_s(server.pid)
    server.stop()
    return spent


def _any(api: Api, selector: str) -> bool:
    """Is there a pod like that?"""
    return bool(api.call("GET", "/api/v1/pods", fieldSelector=selector, limit="1")["items"])


def _resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_S


def _all(count: int, make: Callable[[int], Any]) -> None:
    with ThreadPoolExecutor(8) as workers:
        for _ in workers.map(make, range(count)):
            pass
    gc.collect()


def _node(number: int) -> dict[str, Any]:
    name = f"node-{number:05d}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{number % 3}"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": QUANTITIES, "allocatable": QUANTITIES},
    }


def _pod(number: int, scheduler: str) -> dict[str, Any]:
    requests = {"cpu": "10m", "memory": "50Mi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"pod-{number:06d}", "namespace": "default", "labels": {"app": "bench"}},
        "spec": {
            "schedulerName": scheduler,
            "containers": [{"name": "main", "image": "pause", "resources": {"requests": requests}}],
        },
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


_PROCESSES = ProcessGroup()

if __name__ == "__main__":
    main()
