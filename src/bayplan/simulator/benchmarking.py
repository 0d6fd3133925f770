"""
How fast the engine is, by itself and in memory: queue, decision and commit of many pods on many nodes.

``bayplan bench`` calls ``measure``.  The workloads are those of kube-scheduler's own performance tests; what the API
server adds to the time of a pod is not in here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bayplan.engine.events import PodAdded
from bayplan.engine.intents import Bind
from bayplan.objects.pod import Pod
from bayplan.simulator.assembling import assemble
from bayplan.simulator.loading import documents_of, load

NODES, PODS = 5000, 5000
FULL_PASSES = 1000
ZONES = 3
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
LABELS = {"app": "bench"}

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Workload:
    """A kind of pod to schedule many of."""

    name: str
    about: str
    spec: Manifest
    one_per_node: bool = False


def _spread(action: str) -> Manifest:
    selector = {"matchLabels": LABELS}
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": action, "labelSelector": selector}
    return {"topologySpreadConstraints": [constraint]}


def _affinity(kind: str, key: str, weight: int | None = None) -> Manifest:
    term: Manifest = {"labelSelector": {"matchLabels": LABELS}, "topologyKey": key}
    if weight is None:
        return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    preferred = [{"weight": weight, "podAffinityTerm": term}]
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}}


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("plain", "pods with requests and nothing else", {}),
        Workload("spread", "evenly over zones, or not at all", _spread("DoNotSchedule")),
        Workload("soft-spread", "evenly over zones where possible", _spread("ScheduleAnyway")),
        Workload("anti-affinity", "one pod a node", _affinity("podAntiAffinity", HOSTNAME), one_per_node=True),
        Workload("affinity", "all in one zone", _affinity("podAffinity", ZONE)),
        Workload("preferred-affinity", "rather beside one another", _affinity("podAffinity", HOSTNAME, 1)),
    )
}


def measure(
    workload: Workload,
    nodes: int = NODES,
    pods: int = PODS,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Manifest:
    """
    Schedule the pods of a workload; how long that took.  A share of them is scheduled once more with every plugin
    asked about every node for every pod, which is what a pod costs that has no others of its kind.
    """
    count = min(pods, nodes) if workload.one_per_node else pods
    bound, seconds = _timed(workload, nodes, count, seed, progress, remember=True)
    sample = min(count, FULL_PASSES)
    _, sample_seconds = _timed(workload, nodes, sample, seed, lambda done, total: None, remember=False)
    return {
        "workload": workload.name,
        "nodes": nodes,
        "pods": count,
        "bound": bound,
        "seconds": round(seconds, 3),
        "podsPerSecond": round(count / seconds) if seconds else None,
        "microsecondsPerPod": round(seconds / count * 1e6, 1) if count else None,
        "fullPassPodsPerSecond": round(sample / sample_seconds) if sample_seconds else None,
    }


def _timed(
    workload: Workload,
    nodes: int,
    count: int,
    seed: int,
    progress: Callable[[int, int], None],
    *,
    remember: bool,
) -> tuple[int, float]:
    """How many pods were bound, and in how many seconds from their arrival."""
    cluster = load(documents_of(_nodes(nodes)))
    scheduler = assemble(cluster, seed=seed, now=0.0, discover=False, remember_classes=remember).scheduler
    waiting = list(_pods(workload, count))
    bound = 0
    started = time.perf_counter()
    for pod in waiting:
        scheduler.handle(PodAdded(pod))
    while (intents := scheduler.schedule_one()) is not None:
        for intent in intents:
            if isinstance(intent, Bind):
                scheduler.queue.done(intent.decision.pod.uid)
                bound += 1
                progress(bound, count)
    return bound, time.perf_counter() - started


def _nodes(count: int) -> Iterator[Manifest]:
    for number in range(count):
        name = f"node-{number:05d}"
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: f"zone-{number % ZONES}"}},
            "status": {"allocatable": {"cpu": "4", "memory": "32Gi", "pods": "110"}},
        }


def _pods(workload: Workload, count: int) -> Iterator[Pod]:
    """Pods of one template, each an object of its own as a watch would give them."""
    container = {"name": "main", "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}}}
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod-0", "labels": LABELS},
        "spec": {"containers": [container], **workload.spec},
    }
    for number in range(count):
        manifest["metadata"] = {"name": f"pod-{number}", "labels": dict(LABELS)}
        yield from (each for each in load(documents_of([manifest])).objects if isinstance(each, Pod))
