"""
Changes in the middle of a simulation: objects that come, say something else, or go at a given moment.

``loading`` finds them by their annotations ``simulation.bayplan.io/at`` and ``until``; ``driver`` has them happen when
their time comes.  What the controllers of a cluster do then is done here, or asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from bayplan.clock import Clock
from bayplan.engine.events import NodeAdded, NodeChanged, NodeDeleted
from bayplan.objects import kinds
from bayplan.objects.devices.resource_claim import ResourceClaim, ResourceClaimTemplate
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.policy import PodDisruptionBudget
from bayplan.objects.workload import (
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    Scalable,
    StatefulSet,
)
from bayplan.simulator.cluster import SimulatedCluster
from bayplan.simulator.controllers import node_lifecycle
from bayplan.simulator.controllers.daemons import node_of
from bayplan.simulator.controllers.disruption_budgets import DisruptionController
from bayplan.simulator.controllers.pod_makers import Step
from bayplan.simulator.controllers.rollouts import Rollouts
from bayplan.simulator.controllers.volumes import Held, Volumes
from bayplan.simulator.controllers.workloads import Updatable, Workloads, key_of
from bayplan.simulator.pod_records import DELETED, SCALED_IN
from bayplan.simulator.timetable import delays

PodMaking = Scalable | DaemonSet | Job


class Changes:
    """A ``Timetable``: objects as they are from their moment on, and until when they are there."""

    is_endless = False

    def __init__(
        self,
        cluster: SimulatedCluster,
        workloads: Workloads,
        budgets: DisruptionController,
        volumes: Volumes,
        clock: Clock,
    ) -> None:
        self.rollouts = Rollouts(cluster, workloads, clock, self._carry_out)
        """What follows from another size or template of a workload."""
        self.on_node: Callable[[str, Node | None], None] = lambda name, node: None
        """Who else keeps nodes and wants to know of one that came, changed or went (None)."""
        self._cluster = cluster
        self._workloads = workloads
        self._budgets = budgets
        self._volumes = volumes
        self._started_at = clock.now()
        self._due: deque[tuple[float, bool, ApiObject]] = deque()

    def plan(self, later: Iterable[tuple[float, ApiObject]], ends: Iterable[tuple[float, ApiObject]]) -> None:
        """What is to come and to go, in seconds after the start; at one moment things go before others come."""
        moments = [(after_s, True, thing) for after_s, thing in later]
        moments += [(after_s, False, thing) for after_s, thing in ends]
        moments.sort(key=lambda each: each[:2])
        self._due = deque((self._started_at + after_s, comes, thing) for after_s, comes, thing in moments)

    def begin(self) -> None:
        """What controllers would long have done to the nodes as they were given."""
        self._taint_by_condition()

    def next_at(self) -> float | None:
        return self._due[0][0] if self._due else None

    async def happen(self, now: float) -> None:
        due = []
        while self._due and self._due[0][0] <= now:
            due.append(self._due.popleft()[1:])
        self.play(due)

    def play(self, due: Iterable[tuple[bool, ApiObject]]) -> None:
        """Let these come (or say something else), or go, in this moment and in this order."""
        has_nodes = False
        for comes, thing in due:
            self._come(thing) if comes else self._go(thing)
            self._cluster.revision += 1
            has_nodes |= isinstance(thing, Node)
        if has_nodes:
            # Not after each: of nodes that fail together, none is looked at while the others seem well.
            self._taint_by_condition()

    def lose(self, nodes: Iterable[Node]) -> None:
        """These nodes are gone together: no pod of one comes to another of them, and each pod is looked at once."""
        lost = {node.name: node for node in nodes}
        daemons = [pod for pod in self._cluster.living() if pod.controller and pod.controller.kind == "DaemonSet"]
        leaving: list[Pod] = []
        for name in lost:
            leaving += self._workloads.node_changed(name, None, daemons)[1]
            self._volumes.node_changed(name, None)
            self.on_node(name, None)
        self._cluster.lose_nodes(set(lost))
        self._cluster.events.extend(NodeDeleted(node) for node in lost.values())
        self._cluster.revision += 1
        self._dismiss(leaving)

    # -- coming, and saying something else --

    def _come(self, thing: ApiObject) -> None:
        cluster = self._cluster
        match thing:
            case Node():
                self._node(thing.name, thing)
            case Pod() if cluster.pod(thing.key) is not None:
                cluster.update(thing)
            case Pod():
                cluster.add_pod(thing)
            case Deployment() | ReplicaSet() | ReplicationController() | StatefulSet() | DaemonSet() | Job() if (
                not self._workloads.knows(thing)
            ):
                self._create(thing)
            case Deployment() | ReplicaSet() | ReplicationController() | StatefulSet() | DaemonSet():
                self._put(thing)
                self.rollouts.update(thing)
            case PodDisruptionBudget():
                has_status = thing.status != PodDisruptionBudget().status
                counted = self._budgets.put(thing, cluster.living(), is_kept=has_status)
                cluster.events.append(cluster.objects.put(self._with_generation(counted)))
            case _:
                self._put(self._with_generation(thing))

    def _put(self, thing: ApiObject) -> None:
        stored = self._cluster.objects.put(thing)
        self._cluster.events.extend(self._volumes.put(thing) if isinstance(thing, Held) else [stored])
        if isinstance(thing, ResourceClaimTemplate):
            self._cluster.make_claims(thing)

    def _with_generation(self, thing: ApiObject) -> ApiObject:
        old = self._cluster.objects.get(kinds.kind_of(thing), thing.namespace, thing.name)
        generation = 1 if old is None else old.metadata.generation + 1
        return replace(thing, metadata=replace(thing.metadata, generation=generation))

    def _create(self, thing: PodMaking) -> None:
        cluster = self._cluster
        objects, pods = self._workloads.create(thing)
        for each in (thing, *objects):
            self._put(each)
        for pod, delay_s in delays(pods):
            if delay_s:
                self._due.append((self._started_at + cluster.elapsed_s + delay_s, True, pod))
            else:
                cluster.add_pod(pod)
        self._due = deque(sorted(self._due, key=lambda each: each[:2]))

    def _carry_out(self, thing: Updatable, step: Step, as_made: Callable[[Pod], Pod]) -> None:
        """What a controller wants done for a workload."""
        cluster, name = self._cluster, f"{kinds.kind_of(thing)} {thing.name}"
        for each in step.objects:
            self._put(each)
        for pod in step.leaving:
            cluster.scale_in(pod, f"{name} rolls out" if key_of(thing) in self.rollouts.begun else "")
        for pod in step.made:
            cluster.add_pod(as_made(pod))
        for pod in step.replaced:
            cluster.end(pod, DELETED, f"{name} rolls out")

    # -- nodes --

    def _node(self, name: str, node: Node | None) -> None:
        """A node comes, changes or goes: DaemonSets follow, and what was on a node that goes goes with it."""
        cluster, old = self._cluster, self._workloads.nodes.get(name)
        made, leaving = self._workloads.node_changed(name, node, cluster.living())
        self._volumes.node_changed(name, node)
        self.on_node(name, node)
        if node is not None:
            cluster.gain_node(name)
            cluster.events.append(NodeAdded(node) if old is None else NodeChanged(old, node))
        elif old is not None:
            cluster.lose_node(name)
            cluster.events.append(NodeDeleted(old))
        self._dismiss(leaving)
        for pod in made:
            cluster.add_pod(pod)

    def _dismiss(self, daemons: Iterable[Pod]) -> None:
        """Pods that DaemonSets take away; those that were on a node that is gone went with it."""
        for pod in daemons:
            if self._cluster.pod(pod.key) is not None:
                self._cluster.end(pod, SCALED_IN, f"{node_of(pod)} is not a node for its DaemonSet any more")

    def _taint_by_condition(self) -> None:
        for node in node_lifecycle.tainted(self._workloads.nodes):
            self._node(node.name, node)
            self._cluster.revision += 1

    # -- going --

    def _go(self, thing: ApiObject) -> None:
        cluster = self._cluster
        match thing:
            case Node():
                self._node(thing.name, None)
            case Pod():
                pod = cluster.pod(thing.key)
                if pod is not None:
                    cluster.end(pod, DELETED, "deleted")
            case Deployment() | ReplicaSet() | ReplicationController() | StatefulSet() | DaemonSet() | Job():
                objects, pods = self._workloads.remove(thing, cluster.living())
                for pod in pods:
                    cluster.end(pod, DELETED, f"{kinds.kind_of(thing)} {thing.name} was deleted")
                for each in (*objects, thing):
                    self._drop(each)
            case ResourceClaim():
                known = cluster.objects.get(kinds.kind_of(thing), thing.namespace, thing.name)
                cluster.events.extend([] if known is None else cluster.claims.deleted(known))
            case _:
                if isinstance(thing, PodDisruptionBudget):
                    self._budgets.drop(thing)
                self._drop(thing)

    def _drop(self, thing: ApiObject) -> None:
        if self._cluster.objects.get(kinds.kind_of(thing), thing.namespace, thing.name) is not None:
            self._cluster.events.append(self._cluster.objects.drop(thing))
