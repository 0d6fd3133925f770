"""
Size, seconds of CPU and memory of a report: ``python -m benchmarks.bench_report --nodes 5000 --pods 50000``.

The cluster is made here: zones, racks, four kinds of nodes, Deployments of fifty pods, and some pods that fit nowhere.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from bayplan.cli.output import set_up_logs
from bayplan.plugins.plugin_set import registry
from bayplan.simulator import simulation
from bayplan.simulator.loading import documents_of, load
from bayplan.view.documents import Origin
from bayplan.view.report_file import ReportFile
from bayplan.view.simulation_view import simulation_view

Manifest = dict[str, Any]
KINDS = {"small": ("16", "64Gi"), "large": ("64", "256Gi"), "memory": ("32", "512Gi"), "compute": ("96", "192Gi")}
REPLICAS = 50


def cluster(nodes: int, pods: int) -> list[Manifest]:
    """Everything that is scheduled."""
    made = [_node(number) for number in range(nodes)]
    made += [_deployment(number) for number in range(pods // REPLICAS)]
    return made


def _node(number: int) -> Manifest:
    kind = list(KINDS)[number % 4]
    cpu, memory = KINDS[kind]
    labels = {
        "kubernetes.io/hostname": f"node-{number:05}",
        "topology.kubernetes.io/zone": f"zone-{number % 3}",
        "example.com/rack": f"rack-{number // 40}",
        "node.kubernetes.io/instance-type": kind,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"node-{number:05}", "labels": labels},
        "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": "110"}},
    }


def _deployment(number: int) -> Manifest:
    name = f"app-{number:04}"
    cpu = "200" if number % 50 == 49 else f"{100 * (1 + number % 20)}m"
    container = {
        "name": "main",
        "image": "app",
        "resources": {"requests": {"cpu": cpu, "memory": f"{1 + number % 8}Gi"}},
    }
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    spec = {"replicas": REPLICAS, "selector": {"matchLabels": {"app": name}}, "template": template}
    meta = {"name": name, "namespace": f"team-{number % 20}"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}


def measured(nodes: int, pods: int, folder: Path) -> dict[str, float]:
    """One run with a report, step by step."""
    given = load(documents_of(cluster(nodes, pods)), None, registry((), False))
    figures: dict[str, float] = {"nodes": nodes, "pods": pods}
    started = time.process_time()
    simulation.simulate(given, now=0.0)
    figures["run_s"] = _since(started)
    ended: list[Any] = []
    started = time.process_time()
    simulation.simulate(given, now=0.0, keeps_history=True, at_end=ended.append)
    figures["run_with_scores_s"] = _since(started)
    figures["memory_before_mb"] = _peak_mb()
    started = time.process_time()
    view = simulation_view(ended[0], Origin("simulate", "bayplan simulate -f cluster.yaml", 0.0))
    figures["view_s"] = _since(started)
    for form in ("html", "svg", "png"):
        path = folder / f"report.{form}"
        started = time.process_time()
        ReportFile(str(path)).write(view)
        figures[f"{form}_s"] = _since(started)
        figures[f"{form}_mb"] = round(path.stat().st_size / 1e6, 2)
    figures["memory_peak_mb"] = _peak_mb()
    return figures


def _since(started: float) -> float:
    return round(time.process_time() - started, 2)


def _peak_mb() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50000)
    parser.add_argument("--folder", type=Path, help="keep the reports here")
    asked = parser.parse_args()
    set_up_logs(verbose=False)
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measured(asked.nodes, asked.pods, asked.folder or Path(folder)), indent=2))


if __name__ == "__main__":
    main()
