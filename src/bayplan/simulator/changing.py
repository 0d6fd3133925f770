"""
Changes in the middle of a simulation: objects that come, or say something else, at a given moment.

``loading`` finds them by their annotation ``simulation.bayplan.io/at``; ``driving`` has them happen when their time
comes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import structlog
from msgspec.structs import replace

from bayplan.engine.events import NodeAdded, NodeChanged, ObjectChanged
from bayplan.engine.scheduler import Scheduler
from bayplan.objects import kinds
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Deployment, ReplicaSet, ReplicationController, StatefulSet
from bayplan.simulator.cluster import SimulatedCluster
from bayplan.simulator.workloads import Workloads

log = structlog.get_logger()


class Changes:
    """A ``Happening``: objects as they are from their moment on."""

    is_endless = False

    def __init__(
        self,
        scheduler: Scheduler,
        cluster: SimulatedCluster,
        workloads: Workloads,
        later: Iterable[tuple[float, ApiObject]],
        started_at: float,
    ) -> None:
        self._nodes = scheduler.cache.nodes
        self._cluster = cluster
        self._workloads = workloads
        self._later = deque((started_at + after_s, thing) for after_s, thing in later)

    def next_at(self) -> float | None:
        return self._later[0][0] if self._later else None

    async def happen(self, now: float) -> None:
        while self._later and self._later[0][0] <= now:
            self._change(self._later.popleft()[1])
            self._cluster.revision += 1

    def _change(self, thing: ApiObject) -> None:
        """Of a workload only its size changes."""
        events = self._cluster.events
        match thing:
            case Node():
                row = self._nodes.row_of(thing.name)
                events.append(NodeAdded(thing) if row is None else NodeChanged(self._nodes.object_at(row), thing))
            case Pod():
                self._cluster.add_pod(thing)
            case Deployment() | ReplicaSet() | ReplicationController() | StatefulSet():
                self._rescale(thing)
            case _:
                events.append(self._cluster.objects.put(self._with_generation(thing)))

    def _with_generation(self, thing: ApiObject) -> ApiObject:
        old = self._cluster.objects.get(kinds.kind_of(thing), thing.namespace, thing.name)
        generation = 1 if old is None else old.metadata.generation + 1
        return replace(thing, metadata=replace(thing.metadata, generation=generation))

    def _rescale(self, thing: Deployment | ReplicaSet | ReplicationController | StatefulSet) -> None:
        cluster = self._cluster
        pods = [record.pod for record in cluster.records.values() if not record.is_gone]
        rescaled = self._workloads.rescale(thing, pods)
        if rescaled is None:
            log.error("not there to change its size", kind=kinds.kind_of(thing), object=thing.key)
            return
        for pod in rescaled.leaving:
            cluster.scale_in(pod)
        cluster.events.append(ObjectChanged(kinds.kind_of(rescaled.new), rescaled.old, rescaled.new))
        for pod in rescaled.made:
            cluster.add_pod(pod)
