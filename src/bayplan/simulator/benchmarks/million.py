"""
A million pods on a million nodes, in one process and in memory: how long it takes, and what it holds.

``bayplan bench million`` calls ``measure``.  Nodes and pods go in through the same door as those of an informer; only
their decoding is left out.
"""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

from bayplan.engine.events import NodeAdded, PodAdded
from bayplan.engine.scheduler import Scheduler
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.node import Node, NodeStatus
from bayplan.objects.pod import Container, Pod, PodSpec, ResourceRequirements
from bayplan.simulator.loading import load
from bayplan.simulator.world import assemble

MILLION = 1_000_000
ZONES = 100
# Often enough for a bar that moves, seldom enough not to be what is measured.
TELL_EVERY = 5_000

Tell = Callable[[int, int], None]


def measure(nodes: int = MILLION, pods: int = MILLION, seed: int = 0, progress: Tell = lambda done, total: None) -> Any:
    """Schedule so many pods on so many nodes; seconds and memory."""
    scheduler = assemble(load([]), seed=seed, now=0.0).scheduler
    collects = gc.isenabled()
    gc.disable()
    try:
        started = time.perf_counter()
        for node in _nodes(nodes):
            scheduler.handle(NodeAdded(node))
        known, with_nodes, spent = time.perf_counter(), _peak_bytes(), time.process_time()
        bound = _schedule(scheduler, pods, progress)
        ended, at_end, spent = time.perf_counter(), _peak_bytes(), time.process_time() - spent
    finally:
        if collects:
            gc.enable()
    return {
        "workload": "million",
        "nodes": nodes,
        "pods": pods,
        "bound": bound,
        "secondsForNodes": round(known - started, 1),
        "seconds": round(ended - known, 1),
        "cpuSeconds": round(spent, 1),
        "podsPerSecond": round(pods / (ended - known)),
        "microsecondsPerPod": round((ended - known) / pods * 1e6, 1),
        "bytesPerPod": round((at_end - with_nodes) / pods),
        "peakBytes": at_end,
    }


def _schedule(scheduler: Scheduler, count: int, progress: Tell) -> int:
    bound = 0
    for pod in _pods(count):
        scheduler.handle(PodAdded(pod))
    while (outcomes := scheduler.schedule()) is not None:
        for outcome in outcomes:
            if outcome.decision is not None and outcome.is_committed:
                scheduler.queue.done(outcome.decision.pod.uid)
                bound += 1
                if bound % TELL_EVERY == 0:
                    progress(bound, count)
    progress(bound, count)
    return bound


def _nodes(count: int) -> Iterator[Node]:
    status = NodeStatus(allocatable={"cpu": "4", "memory": "32Gi", "pods": "110"})
    for number in range(count):
        name = f"node-{number}"
        labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{number % ZONES}"}
        yield Node(metadata=ObjectMeta(name=name, uid=name, labels=labels), status=status)


def _pods(count: int) -> Iterator[Pod]:
    """Of one template, each with objects of its own as a watch would give them."""
    for number in range(count):
        name = f"pod-{number}"
        wanted = ResourceRequirements(requests={"cpu": "100m", "memory": "500Mi"})
        spec = PodSpec(containers=(Container(name="main", resources=wanted),), scheduler_name="default-scheduler")
        meta = ObjectMeta(name=name, namespace="default", uid=name, labels={"app": "bench"})
        yield Pod(metadata=meta, spec=spec)


def _peak_bytes() -> int:
    """The most memory this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
