"""
``python -m benchmarks.what_if``: how long what-if, fit and compare take on a cluster of bound pods, and the memory.

    python -m benchmarks.what_if --nodes 60 --pods 800
    python -m benchmarks.what_if --nodes 5000 --pods 50000
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

REPLICAS = 40
COMMANDS: dict[str, list[str]] = {
    "drain": ["what-if", "--drain", "node-3"],
    "outage of a zone": ["what-if", "--remove", "zone=a"],
    "more nodes, more pods": ["what-if", "--add", "3", "--like", "node-1", "--scale", "deploy/team-0/app-0=200"],
    "fit": ["fit", "--pod", "pod.json"],
    "fit --node-template": ["fit", "--pod", "app.json", "--node-template", "m5.json"],
    "fit --shrink": ["fit", "--shrink"],
    "fit --make-room": ["fit", "--pod", "large.json", "--make-room"],
    "compare": ["compare", "--weights", "NodeResourcesFit=5"],
}
Object = dict[str, Any]


def spec(cpu: str, memory: str) -> Object:
    return {"containers": [{"name": "c", "image": "app", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]}


def node(name: str, zone: str) -> Object:
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}
    sizes = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    meta = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": {"allocatable": sizes}}


def deployment(name: str, namespace: str, replicas: int, pods: Object) -> Object:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pods}
    meta = {"name": name, "namespace": namespace}
    body = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": body}


def pod(name: str, namespace: str, pods: Object, **meta: Any) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace, **meta}, "spec": pods}


def cluster(nodes: int, pods: int) -> list[Object]:
    """Deployments whose pods are all on nodes, every fifth with a disruption budget."""
    rng = random.Random(0)
    made = [node(f"node-{number}", "abc"[number % 3]) for number in range(nodes)]
    for number in range(pods // REPLICAS):
        name, space = f"app-{number}", f"team-{number % 20}"
        asked = spec(rng.choice(("100m", "250m", "500m", "1")), rng.choice(("256Mi", "1Gi", "2Gi")))
        made.append(deployment(name, space, REPLICAS, asked))
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{name}-7f9c", "uid": name, "controller": True}
        for copy in range(REPLICAS):
            target = f"node-{(number * REPLICAS + copy) % nodes}"
            labels = {"app": name, "pod-template-hash": "7f9c"}
            bound = pod(
                f"{name}-7f9c-{copy:05}", space, {**asked, "nodeName": target}, labels=labels, ownerReferences=[owner]
            )
            made.append({**bound, "status": {"phase": "Running"}})
        if number % 5 == 0:
            selector = {"matchLabels": {"app": name}}
            meta = {"name": name, "namespace": space}
            budget = {"maxUnavailable": 1, "selector": selector}
            made.append({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": budget})
    return made


def measured(arguments: list[str], folder: Path) -> tuple[float, float, float]:
    """Seconds of the wall clock and of the CPU, and the most memory in MB, of one command in a process of its own."""
    script = (
        "import resource, subprocess, sys, time; began = time.monotonic();"
        "ended = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(ended.returncode, time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
    )
    command = [sys.executable, "-c", script, sys.executable, "-m", "bayplan", *arguments]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    code, seconds, cpu, memory = map(float, ended.stdout.split())
    if code not in (0, 1):
        raise RuntimeError(ended.stderr)
    return seconds, cpu, memory


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.what_if")
    parser.add_argument("--nodes", type=int, default=60)
    parser.add_argument("--pods", type=int, default=800)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        files: dict[str, Object] = {
            "cluster.json": {"apiVersion": "v1", "kind": "List", "items": cluster(given.nodes, given.pods)},
            "pod.json": pod("more", "default", spec("4", "1Gi")),
            "large.json": pod("large", "default", spec("14", "1Gi")),
            "app.json": deployment("new", "default", 6 * given.nodes, spec("3", "1Gi")),
            "m5.json": node("m5", "a"),
        }
        for name, document in files.items():
            (folder / name).write_text(json.dumps(document))
        print(f"{given.nodes} nodes, {given.pods} pods\n{'':24}{'seconds':>9}{'CPU s':>9}{'MB':>7}")
        for name, arguments in COMMANDS.items():
            seconds, cpu, memory = measured([*arguments, "-f", "cluster.json"], folder)
            print(f"{name:24}{seconds:9.1f}{cpu:9.1f}{memory:7.0f}", flush=True)


if __name__ == "__main__":
    main()
