"""
One engine decides: the live scheduler, ``simulate`` and ``bench`` run the same functions for the same pods.

Every call of a function of the engine is recorded while a Service's pods, and one pod that fits nowhere, are scheduled
by each driver.  ``explain`` asks the engine without a commit: what it runs to choose a node is what the others run.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import yaml

import bayplan
from bayplan.simulator.benchmarks import workload_file
from bayplan.simulator.benchmarks.workload_run import WorkloadRun
from bayplan.testing import simulate
from tests.support.control_plane import ControlPlane
from tests.support.explaining import explain_documents
from tests.support.fixtures import control_plane
from tests.support.live import Cluster, node_manifest, running

__all__ = ["control_plane"]

ENGINE = Path(bayplan.__file__).parent / "engine"
CHOOSING = ("evaluation", "filtering", "filter_answers", "scoring", "partial_search", "post_filtering")
DECIDING = (*CHOOSING, "batch", "committing", "kept")
PODS = 12

Called = set[tuple[str, str]]
Object = dict[str, Any]


@contextmanager
def recorded(*rooms: str) -> Iterator[Called]:
    """The functions of these modules and folders of the engine that are called meanwhile, by module and name."""
    called: Called = set()
    where = {str(ENGINE / f"{room}.py") for room in rooms}
    folders = tuple(f"{ENGINE / room}/" for room in rooms)

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and (code.co_filename in where or code.co_filename.startswith(folders)):
            called.add((Path(code.co_filename).stem, code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(before)


def cluster_of(namespace: str) -> list[Object]:
    """Nodes in two zones, a Service, its pods, and a pod that is too large."""
    nodes = [node_manifest(f"n{number}", cpu="8") for number in range(6)]
    for number, node in enumerate(nodes):
        node["metadata"]["labels"]["topology.kubernetes.io/zone"] = f"zone-{number % 2}"
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    }
    pods = [pod_of(namespace, f"web-{number:02}", "100m", labels={"app": "web"}) for number in range(PODS)]
    return [*nodes, service, *pods, pod_of(namespace, "large", "64")]


def pod_of(namespace: str, name: str, cpu: str, **metadata: Any) -> Object:
    container = {"name": "c", "image": "web:1", "resources": {"requests": {"cpu": cpu, "memory": "16Mi"}}}
    spec = {"schedulerName": "bayplan", "containers": [container]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": spec,
    }


def by_simulate() -> Called:
    with recorded(*DECIDING) as called:
        done = simulate(*cluster_of("default"), now=0.0)
    assert done["summary"]["bound"] == PODS
    assert done["summary"]["pending"] == 1
    return called


def workload(tmp_path: Path) -> Path:
    """The same cluster as a workload of ``bayplan bench``."""
    made = {each["metadata"]["name"]: each for each in cluster_of("default")}
    web, large = made["web-00"], made["large"]
    for pod in (web, large):
        del pod["spec"]["schedulerName"]  # a workload's pods are the default scheduler's
    first = [each for each in made.values() if each["kind"] != "Pod"]
    steps = [
        *({"createObjects": {"template": each}} for each in first),
        {"createPods": {"name": "large", "count": 1, "pending": True, "templates": [{"spec": large["spec"]}]}},
        {"createPods": {"templates": [{"metadata": {"labels": web["metadata"]["labels"]}, "spec": web["spec"]}]}},
        {"measure": {}},
    ]
    path = tmp_path / "web.yaml"
    path.write_text(yaml.safe_dump({"about": "web", "sizes": {"nodes": 6, "pods": PODS}, "steps": steps}))
    return path


def test_explain_chooses_a_node_by_what_simulate_chooses_by() -> None:
    with recorded(*CHOOSING) as by_explain:
        for name in ("web-00", "large"):
            explain_documents(cluster_of("default"), "default", name, discover=False)
    choosing = {each for each in by_simulate() if each[0] in CHOOSING}
    assert ("scoring", "pick") in by_explain
    assert by_explain <= choosing


def test_bench_decides_by_what_simulate_decides_by(tmp_path: Path) -> None:
    read = workload_file.read(workload(tmp_path))
    with recorded(*DECIDING) as by_bench:
        run = WorkloadRun(read, read.sized(None, None), 0, lambda done, total: None, remember=True)
        run.run()
    assert run.bound == PODS
    assert by_bench == by_simulate()


@pytest.mark.kube
async def test_the_live_scheduler_decides_by_what_simulate_decides_by(control_plane: ControlPlane) -> None:
    cluster = Cluster(control_plane)
    await cluster.start()
    for each in cluster_of(cluster.namespace):
        await cluster.create(each)
    with recorded(*DECIDING) as by_live:
        async with running(control_plane):
            await cluster.all_bound(PODS)
            await cluster.unschedulable("large")
    assert by_live == await asyncio.to_thread(by_simulate)
