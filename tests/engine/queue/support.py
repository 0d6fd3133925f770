"""What the queue's tests share: small pods, plugins that say what they are told, and a queue to put them in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from bayplan.clock import VirtualClock
from bayplan.engine.queue.requeueing import QueueProfile
from bayplan.engine.queue.scheduling_queue import SchedulingQueue
from bayplan.framework.events import Change, ClusterEvent, On
from bayplan.framework.plugin import PreEnqueuePlugin, QueuedPod
from bayplan.framework.status import Verdict, unresolvable
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.pod import (
    Container,
    Pod,
    PodSchedulingGate,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Toleration,
)

PROFILE = "default-scheduler"
START = 1_000_000.0
"""A whole second, so that expiries are easy to read."""

NODE_ADD = ClusterEvent("Node", Change.ADDED)
NODE_LABEL = ClusterEvent("Node", Change.LABEL)
NODE_TAINT = ClusterEvent("Node", Change.TAINT)
POD_DELETE = ClusterEvent("AssignedPod", Change.DELETED)


def a_pod(
    name: str = "web",
    *,
    uid: str = "",
    priority: int = 0,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    gates: tuple[str, ...] = (),
    tolerations: int = 0,
    cpu: str = "1",
    nominated: str = "",
    scheduler: str = PROFILE,
    version: str = "1",
) -> Pod:
    resources = ResourceRequirements(requests={"cpu": cpu})
    return Pod(
        metadata=ObjectMeta(
            name=name,
            namespace="default",
            uid=uid or f"uid-{name}",
            labels=labels,
            annotations=annotations,
            resource_version=version,
        ),
        spec=PodSpec(
            priority=priority,
            scheduler_name=scheduler,
            containers=(Container(name="main", image="app", resources=resources),),
            scheduling_gates=tuple(PodSchedulingGate(name=gate) for gate in gates),
            tolerations=tuple(Toleration(key=f"key-{number}", operator="Exists") for number in range(tolerations)),
        ),
        status=PodStatus(nominated_node_name=nominated),
    )


def labelled(pod: Pod, **labels: str) -> Pod:
    return pod.evolve(metadata=msgspec.structs.replace(pod.metadata, labels=labels))


class Gate(PreEnqueuePlugin):
    """Keeps the pods out whose names it holds, and counts how often it was asked."""

    name = "Gate"

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.closed_for = set(names)
        self.asked: list[str] = []

    def pre_enqueue(self, pod: Pod) -> Verdict:
        self.asked.append(pod.name)
        return unresolvable("the gate is closed") if pod.name in self.closed_for else None


class SecondGate(Gate):
    name = "SecondGate"


class Asked:
    """A hint with a fixed answer that remembers which pods it was asked about."""

    def __init__(self, answer: bool | Exception = True) -> None:
        self.answer = answer
        self.pods: list[str] = []

    def __call__(self, pod: Pod, old: Any, new: Any) -> bool:
        self.pods.append(pod.name)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Recorded:
    """Keeps all metrics, to be looked at."""

    def __init__(self) -> None:
        self.counters: dict[tuple[str, ...], float] = {}
        self.gauges: dict[tuple[str, ...], float] = {}
        self.observed: list[tuple[str, ...]] = []

    def counter(self, name: str, value: float = 1, **labels: str) -> None:
        key = (name, *labels.values())
        self.counters[key] = self.counters.get(key, 0) + value

    def gauge(self, name: str, value: float, **labels: str) -> None:
        self.gauges[name, *labels.values()] = value

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        self.observed.append((name, *labels.values()))


def by_priority(queued: QueuedPod) -> tuple[int, float]:
    return -queued.pod.priority, queued.timestamp


DEFAULT_RULES: Mapping[str, tuple[On, ...]] = {
    "Fit": (On("Node", Change.ADDED), On("AssignedPod", Change.DELETED)),
    "Affinity": (On("Node", Change.ADDED | Change.LABEL),),
    "Gate": (On("Pod", Change.POD_LABEL),),
}


class World:
    """A queue at a virtual time, with one profile."""

    def __init__(
        self,
        *,
        gates: tuple[PreEnqueuePlugin, ...] = (),
        rules: Mapping[str, tuple[On, ...]] = DEFAULT_RULES,
        start: float = START,
        **settings: Any,
    ) -> None:
        self.clock = VirtualClock(start)
        self.profiles = {PROFILE: QueueProfile(gates, rules)}
        self.queue = SchedulingQueue(self.clock, self.profiles, by_priority, **settings)

    def add(self, *pods: Pod) -> None:
        for pod in pods:
            self.queue.add(pod)

    def pop(self) -> QueuedPod:
        queued = self.queue.pop()
        assert queued is not None, "nobody to pop"
        return queued

    def pop_names(self) -> list[str]:
        """Pops until nobody is left."""
        names = []
        while (queued := self.queue.pop()) is not None:
            names.append(queued.pod.name)
        return names

    def fail(self, queued: QueuedPod, *rejectors: str, pending: tuple[str, ...] = (), pod: Pod | None = None) -> None:
        self.queue.requeue_failed(
            queued,
            unschedulable_plugins=frozenset(rejectors),
            pending_plugins=frozenset(pending),
            pod=pod,
        )

    def park(self, pod: Pod, *rejectors: str, pending: tuple[str, ...] = ()) -> QueuedPod:
        """Add the pod and let the plugins reject it."""
        self.queue.add(pod)
        queued = self.pop()
        assert queued.pod.uid == pod.uid, "another pod was first in line"
        self.fail(queued, *rejectors, pending=pending)
        assert self.where(pod) == "unschedulable"
        return queued

    def where(self, pod: Pod) -> str | None:
        return self.queue.where(pod.uid)

    def wait(self, seconds: float) -> None:
        """Let time pass and do what time brings."""
        self.clock.advance(seconds)
        self.queue.flush()
