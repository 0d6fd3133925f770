"""
The cluster of a simulation: holds the pods, does what the engine wants done, and answers with events.

It stands where the API server, the kubelets and the controllers stand in life.  ``driver`` delivers ``events`` to the
engine, plugins write through it as their ``ClusterWriter``, and ``simulation_report`` reads ``records`` in the end.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from bayplan.clock import Clock
from bayplan.engine.events import Event, ObjectAdded, ObjectChanged, PodAdded, PodChanged, PodDeleted
from bayplan.engine.failures import SCHEDULER_ERROR
from bayplan.engine.intents import PatchStatus
from bayplan.errors import ConflictError, NotFoundError
from bayplan.objects import kinds
from bayplan.objects.devices.resource_claim import ResourceClaim, ResourceClaimTemplate
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Condition, Pod
from bayplan.objects.pod_spec import PodStatus
from bayplan.objects.policy import PodDisruptionBudget
from bayplan.objects.times import format_time
from bayplan.simulator.clock_loop import Standstill
from bayplan.simulator.controllers.disruption_budgets import DisruptionController, is_healthy
from bayplan.simulator.controllers.resource_claims import CLAIM, ResourceClaims
from bayplan.simulator.controllers.volumes import Volumes
from bayplan.simulator.controllers.workloads import Workloads
from bayplan.simulator.object_store import StoredObjects
from bayplan.simulator.pod_records import EVICTED, LOST, SCALED_IN, PodRecords, Record

_EXACT_S = 1e-4
"""Floats of epoch seconds are not exact beyond the microsecond."""

VOLUME_KINDS = ("PersistentVolume", "PersistentVolumeClaim")

MAX_WRITES_AT_ONCE = 100_000
"""How often plugins may write in one moment, beside a hundred times for every pod."""


class SimulatedCluster:
    """Pods by name, and what happened to them.  A ``ClusterWriter`` and an ``EventSink``."""

    def __init__(
        self,
        clock: Clock,
        workloads: Workloads,
        budgets: DisruptionController,
        volumes: Volumes | None = None,
        objects: StoredObjects | None = None,
    ) -> None:
        self.events: deque[Event] = deque()
        """What the engine has not been told yet."""
        self.news = asyncio.Event()
        """Set when a binding cycle that goes on has written something that the engine should hear of now."""
        self.revision = 0
        """Moves when a pod appears, goes or is bound: when something has changed for the others."""
        self.landed = 0
        """How often a pod came to a node; once in a moment for a pod and those made in its place."""
        self._landed_now: tuple[float, set[str]] = 0.0, set()
        self._clock = clock
        self._started_at = clock.now()
        self._workloads = workloads
        self._budgets = budgets
        self._volumes = volumes or Volumes((), lambda thing: False)
        self.objects = objects or StoredObjects()
        """What plugins write to beside volumes and their claims."""
        self.claims = ResourceClaims(self.objects, workloads.names, self.pod, self._time)
        self.pods = PodRecords()
        self._writes = (0.0, 0)
        self._lost_nodes: set[str] = set()
        self._time_text = (-1.0, "")

    # -- what is there --

    def add_pod(self, pod: Pod, instead_of: Record | None = None) -> None:
        """A pod appears, perhaps in place of one that went."""
        if pod.spec.resource_claims:
            pod, events = self.claims.pod_added(pod)
            self.events.extend(events)
        self.pods.add(pod, self.elapsed_s, instead_of)
        self.revision += 1
        if pod.spec.volumes:
            self.events.extend(self._volumes.pod_added(pod))
        self.events.append(PodAdded(pod))
        self._follow_up(self._budgets.added(pod))

    def make_claims(self, template: ResourceClaimTemplate) -> None:
        """Pods that waited for this template get their claims."""
        for key in self.claims.waiting_for(template):
            record = self.pods.named(key)
            if record is not None:
                pod, events = self.claims.pod_added(record.pod)
                self.events.extend(events)
                self._change(record, pod)

    def pod(self, key: str) -> Pod | None:
        """The pod of that ``namespace/name``, as it is now."""
        record = self.pods.named(key)
        return record.pod if record is not None else None

    @property
    def records(self) -> dict[str, Record]:
        """Every pod's story by its uid, in the order the pods appeared."""
        return self.pods.all

    @property
    def elapsed_s(self) -> float:
        return self._clock.now() - self._started_at

    # -- what the engine wants done --

    def failed(self, patch: PatchStatus) -> None:
        """
        The pod was not placed.  The engine hears of it again only where a nomination changed: no rule reads the
        condition itself, and telling would have plugins that listen to everything try the pod again for nothing.
        """
        record = self.records[patch.pod.uid]
        record.message = patch.message
        record.has_failed = patch.reason == SCHEDULER_ERROR
        if not record.is_gone and patch.nominated_node is not None:
            self.nominate(record.pod, patch.nominated_node)

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Set a node aside for the pod; "" takes that back."""
        record = self.pods.same(pod)
        if record is None or record.pod.nominated_node_name == node_name:
            return
        self._change(record, record.pod.nominated_to(node_name))

    def preempt(self, victim: Pod, message: str) -> None:
        """A pod must go so that another fits."""
        record = self.pods.same(victim)
        if record is None:
            return
        record.message = message
        condition = Condition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler")
        others = tuple(each for each in record.pod.status.conditions or () if each.type != condition.type)
        record.pod = record.pod.evolve(status=replace(record.pod.status, conditions=(*others, condition)))
        self._remove(record)

    def replace_gone(self, pods: Iterable[Pod]) -> None:
        """Controllers make up for pods that went."""
        for pod in pods:
            for made in self._workloads.gone(pod):
                self.add_pod(made, instead_of=self.records[pod.uid])

    # -- ClusterWriter --

    async def bind(self, pod: Pod, node_name: str) -> None:
        """The pod is on the node, and runs at once."""
        record = self.pods.found(pod)
        current = record.pod
        if current.node_name:
            raise ConflictError(409, f"pod {pod.key} is already assigned to node {current.node_name}")
        status = replace(current.status, phase="Running", start_time=self._time(), nominated_node_name="")
        self.revision += 1
        self._note_landing(record)
        record.bound_at = self.elapsed_s
        record.message, record.has_failed = "", False
        self._change(record, current.evolve(spec=replace(current.spec, node_name=node_name), status=status))
        for made in self._workloads.bound(record.pod):
            self.add_pod(made)
        self._follow_up(self._budgets.changed(record.pod))
        if node_name in self._lost_nodes:  # it went while the pod was on its way
            self._lose(record.pod, node_name)

    async def patch_pod_status(self, pod: Pod, patch: dict[str, Any]) -> None:
        """Merge into the status; conditions are merged by their type, as the API server does."""
        self._count_write()
        record = self.pods.found(pod)
        status = msgspec.to_builtins(record.pod.status)
        for field, value in patch.items():
            status[field] = _by_type(status.get(field) or (), value) if field == "conditions" else value
        written = {field: value for field, value in status.items() if value is not None}
        changed = record.pod.evolve(status=msgspec.convert(written, PodStatus))
        if changed != record.pod:
            self._change(record, changed)

    async def patch(
        self,
        kind: str,
        namespace: str,
        name: str,
        patch: dict[str, Any],
        resource_version: str = "",
        subresource: str = "",
    ) -> str:
        """What the controllers of volumes and claims do about it has happened at once."""
        holder = self._volumes if kind in VOLUME_KINDS else self.objects
        version, events = holder.patched(kind, namespace, name, patch, resource_version)
        if kind == CLAIM and (claim := self.objects.get(kind, namespace, name)) is not None:
            events += self.claims.settled(claim)
        self._written(events)
        return version

    async def create(self, thing: ApiObject) -> ApiObject:
        if isinstance(thing, ResourceClaim):
            made, events = self.claims.created(thing)
            self._written(events)
            return made
        self._written([self.objects.create(thing)])
        return await self.read(kinds.kind_of(thing), thing.namespace, thing.name)

    async def delete(self, thing: ApiObject) -> None:
        known = self.objects.get(kinds.kind_of(thing), thing.namespace, thing.name)
        if known is not None and known.uid == thing.uid:
            is_claim = isinstance(known, ResourceClaim)
            self._written(self.claims.deleted(known) if is_claim else [self.objects.delete(known, self._time())])

    async def read(self, kind: str, namespace: str, name: str) -> ApiObject:
        known: ApiObject | None = self.objects.get(kind, namespace, name)
        if known is None:
            raise NotFoundError(404, f'{kind} "{name}" not found')
        return known

    async def release_claim(self, claim: ResourceClaim, consumer_uid: str) -> None:
        known = self.objects.get(CLAIM, claim.namespace, claim.name)
        if known is not None and known.uid == claim.uid:
            self._written(self.claims.released(known, consumer_uid))

    def _written(self, events: Iterable[Event]) -> None:
        self._count_write()
        self.revision += 1
        self.events.extend(events)
        self.news.set()

    async def delete_pod(self, pod: Pod) -> None:
        record = self.pods.same(pod)
        if record is not None:
            self._remove(record)
            self.replace_gone([record.pod])

    async def evict(self, pod: Pod) -> None:
        """As the API server does it: a pod that never ran or is done for may always go."""
        record = self.pods.same(pod)
        if record is None:
            return
        if record.pod.node_name and not record.pod.is_terminal:
            self._follow_up(self._budgets.spend(record.pod))
        record.ended = EVICTED
        await self.delete_pod(pod)

    def scale_in(self, pod: Pod, why: str = "") -> None:
        """Its controller wants one pod less, and this is the one."""
        self._end(self.pods.found(pod), SCALED_IN, why)

    def end(self, pod: Pod, how: str, why: str) -> None:
        """The pod is deleted, which no budget prevents; its controller makes another where it wants one."""
        record = self.pods.found(pod)
        self._end(record, how, why)
        self.replace_gone([record.pod])

    def lose_node(self, name: str) -> None:
        """The node is no more, nor are the pods on it."""
        self.lose_nodes({name})

    def lose_nodes(self, names: set[str]) -> None:
        """The same for many at once: every pod is looked at once."""
        self._lost_nodes |= names
        for pod in self.living():
            if pod.node_name in names:
                self._lose(pod, pod.node_name)

    def _lose(self, pod: Pod, node_name: str) -> None:
        for_good = "" if self._workloads.looks_after(pod) else ", and nobody makes the pod again"
        self.end(pod, LOST, f"its node {node_name} is gone{for_good}")

    def gain_node(self, name: str) -> None:
        self._lost_nodes.discard(name)

    def others(self) -> list[ApiObject]:
        """Everything that is neither a pod nor a node, as it is now."""
        budgets = {each.key: each for each in self._budgets.all()}
        held = {(kinds.kind_of(each), each.key): each for each in self._volumes.all()}
        stored = (self.objects.get(*key) for key in self.objects)
        now = [
            budgets.get(each.key, each) if isinstance(each, PodDisruptionBudget) else each
            for each in stored
            if (kinds.kind_of(each), each.key) not in held
        ]
        return [*now, *held.values()]

    def budgets_of(self, pod: Pod) -> list[PodDisruptionBudget]:
        """The disruption budgets that cover a pod."""
        return self._budgets.covering(pod)

    def living(self) -> list[Pod]:
        return [record.pod for record in self.pods.living()]

    # -- what controllers see --

    def owned(self, kind: str, namespace: str, name: str) -> list[Pod]:
        return [record.pod for record in self.pods.owned(kind, namespace, name)]

    def is_available(self, pod: Pod, min_ready_s: int) -> bool:
        return is_healthy(pod) and not self.waits([pod], min_ready_s)

    def waits(self, pods: Iterable[Pod], min_ready_s: int) -> list[float]:
        """For each of these pods that has been ready for less than so long: the seconds that are missing."""
        bound = (record.bound_at for pod in pods if min_ready_s and (record := self.pods.same(pod)) is not None)
        left = (at + min_ready_s - self.elapsed_s for at in bound if at is not None)
        return [seconds for seconds in left if seconds > _EXACT_S]

    def update(self, pod: Pod) -> None:
        """A pod that says something else now: what an API server lets change, and nothing else."""
        record = self.pods.named(pod.key)
        assert record is not None, "who changes a pod has found it"
        old = record.pod
        meta = replace(old.metadata, labels=pod.metadata.labels, annotations=pod.metadata.annotations)
        spec = replace(old.spec, tolerations=pod.spec.tolerations, scheduling_gates=pod.spec.scheduling_gates)
        self.revision += 1
        self._change(record, old.evolve(metadata=meta, spec=spec))
        self._follow_up(self._budgets.changed(record.pod))

    def annotate(self, pod: Pod, annotations: dict[str, str]) -> None:
        record = self.pods.found(pod)
        meta = replace(record.pod.metadata, annotations={**record.pod.annotations, **annotations})
        self._change(record, record.pod.evolve(metadata=meta))

    # -- EventSink --

    def emit(self, pod: Pod, *, type: str, reason: str, action: str, note: str, related: Pod | None = None) -> None:
        """Events of a simulation are not kept; its report says the same."""

    # -- private --

    def _end(self, record: Record, how: str, why: str) -> None:
        record.ended, record.message = how, why
        self._remove(record)

    def _change(self, record: Record, pod: Pod) -> None:
        before, record.pod = record.pod, pod
        self.events.append(PodChanged(before, pod))
        if pod.is_terminal and not before.is_terminal and self.claims.concern(pod):
            self.events.extend(self.claims.pod_gone(pod))

    def _remove(self, record: Record) -> None:
        self.pods.end(record)
        self.revision += 1
        self.events.append(PodDeleted(record.pod))
        if record.pod.spec.volumes:
            self.events.extend(self._volumes.pod_gone(record.pod))
        if self.claims.concern(record.pod):
            self.events.extend(self.claims.pod_gone(record.pod))
        self._follow_up(self._budgets.gone(record.pod))

    def _count_write(self) -> None:
        """A writer that never waits would keep time from moving on; it hears of it as an error."""
        now, count = self._clock.now(), self._writes[1]
        self._writes = now, count + 1 if now == self._writes[0] else 1
        if count > MAX_WRITES_AT_ONCE + 100 * len(self.records):
            raise Standstill(f"{count} writes in one moment: time cannot move on")

    def _note_landing(self, record: Record) -> None:
        if self._landed_now[0] != self.elapsed_s:
            self._landed_now = self.elapsed_s, set()
        before = len(self._landed_now[1])
        self._landed_now[1].add(record.lineage)
        self.landed += len(self._landed_now[1]) - before

    def _follow_up(self, budgets: Iterable[tuple[ApiObject, ApiObject]]) -> None:
        for old, new in budgets:
            self.events.append(ObjectChanged(kinds.kind_of(new), old, new))

    def _time(self) -> str:
        """The time as it is written; many pods are bound in one moment."""
        now = self._clock.now()
        if self._time_text[0] != now:
            self._time_text = now, format_time(now)
        return self._time_text[1]


def added(thing: ApiObject) -> ObjectAdded:
    """What the engine is told of an object that is neither a pod nor a node."""
    return ObjectAdded(kinds.kind_of(thing), thing)


def _by_type(old: Iterable[dict[str, Any]], new: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    merged = {each["type"]: each for each in old}
    for each in new:
        merged[each["type"]] = {**merged.get(each["type"], {}), **each}
    return list(merged.values())
