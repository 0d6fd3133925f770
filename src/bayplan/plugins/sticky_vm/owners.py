"""
From a pod to what it belongs to: the virtual machine behind its instance, or its StatefulSet.

``plugin`` asks ``Finder`` in PreFilter and in its hints.  A pod whose machine cannot be told for certain gets a reason
and no node: a wrong node would be worse than none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from bayplan.framework import Handle, Status, unresolvable
from bayplan.objects.meta import ApiObject, OwnerReference
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import PodTemplate
from bayplan.objects.third_party.kubevirt import (
    INSTANCE,
    MACHINE,
    MIGRATION_LABEL,
    VirtualMachine,
    VirtualMachineInstance,
    owner_of,
)
from bayplan.objects.workload import StatefulSet
from bayplan.plugins.object_index import Index

STATEFUL_SET = "StatefulSet"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node is noted: an annotation of an object."""

    kind: str
    namespace: str
    name: str
    uid: str
    annotation: str
    pod_name: str = ""
    """Of a StatefulSet, whose pods have a node each."""

    def __str__(self) -> str:
        if self.pod_name:
            return f"pod {self.pod_name} of {self.kind} {self.namespace}/{self.name}"
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Found:
    """The object that notes a pod's node, and where the pod's forerunner is known to be or to have been."""

    place: Place
    owner: ApiObject
    seen_on: str = ""


@dataclass(frozen=True, slots=True)
class Loose:
    """A pod that sticks to no node, and why, where that is not obvious."""

    why: str = ""


Finding: TypeAlias = Found | Loose | Status
"""A status says why the pod must wait."""


class Finder:
    """Looks things up in what the informers know."""

    def __init__(self, handle: Handle, annotation: str, with_stateful_sets: bool) -> None:
        self._handle = handle
        self._objects = handle.objects
        self._annotation = annotation
        self._with_stateful_sets = with_stateful_sets
        self._instances: Index[VirtualMachineInstance] = Index(handle.objects, INSTANCE, _machine_key)

    def is_asked(self, template: PodTemplate) -> bool:
        """Do its pods belong to something that sticks?"""
        if owner_of(template, INSTANCE) is not None:
            return True
        return self._with_stateful_sets and _stateful_set_of(template) is not None

    def find(self, pod: Pod) -> Finding:
        reference = owner_of(pod.metadata, INSTANCE)
        if reference is not None:
            return self._machine_of(pod, reference)
        reference = _stateful_set_of(pod) if self._with_stateful_sets else None
        return Loose() if reference is None else self._in_stateful_set(pod, reference)

    # -- virtual machines --

    def _machine_of(self, pod: Pod, reference: OwnerReference) -> Finding:
        label = f"{INSTANCE} {pod.namespace}/{reference.name}"
        instance: VirtualMachineInstance | None = self._objects.get(INSTANCE, pod.namespace, reference.name)
        if instance is None:
            return self._missing(INSTANCE, f"{label}, which owns this pod,")
        if not _is_same(reference, instance):
            return unresolvable(f"{label} was made anew, and this pod belongs to the one before")
        if MIGRATION_LABEL in pod.labels:
            return Loose()
        owner = instance.machine
        if owner is None:
            return Loose(f"{label} belongs to no {MACHINE}, so it sticks to no node")
        machine: VirtualMachine | None = self._objects.get(MACHINE, pod.namespace, owner.name)
        if machine is None:
            return self._missing(MACHINE, f"{MACHINE} {pod.namespace}/{owner.name}, which owns {label},")
        if not _is_same(owner, machine):
            return unresolvable(f"{MACHINE} {machine.key} was made anew, and {label} belongs to the one before")
        first = next(iter(self._claimants(machine)), instance)
        if first.uid != instance.uid:
            return unresolvable(
                f"{MACHINE} {machine.key} can have one instance, and {first.name} is it: "
                f"delete {label}, which owns this pod, or {first.name}"
            )
        return Found(self.place(machine), machine, self.seen_on(instance))

    def place(self, owner: VirtualMachine | StatefulSet, pod: Pod | None = None) -> Place:
        kind = MACHINE if isinstance(owner, VirtualMachine) else STATEFUL_SET
        if pod is None:
            return Place(kind, owner.namespace, owner.name, owner.uid, self._annotation)
        ordinal = pod.name.rpartition("-")[2]
        return Place(kind, owner.namespace, owner.name, owner.uid, f"{self._annotation}-{ordinal}", pod.name)

    def instance_of(self, machine: VirtualMachine) -> VirtualMachineInstance | None:
        """The one instance that counts, also one that has just ended."""
        claimants = self._claimants(machine, with_ended=True)
        return claimants[0] if claimants else None

    def seen_on(self, instance: VirtualMachineInstance) -> str:
        """The node an instance runs on or ran on, as far as that is known; "" before it was ever placed."""
        if instance.status.node_name:
            return instance.status.node_name
        for row, pod in self._pods_of(INSTANCE, instance):
            reference = owner_of(pod.metadata, INSTANCE)
            if MIGRATION_LABEL not in pod.labels and reference is not None and _is_same(reference, instance):
                return self._handle.snapshot().nodes.names[row]
        return ""

    def _claimants(self, machine: VirtualMachine, *, with_ended: bool = False) -> list[VirtualMachineInstance]:
        """Its instances.  The one with its name comes first: that is how KubeVirt names them."""
        found = [
            each
            for each in self._instances.at(machine.key)
            if each.machine is not None and _is_same(each.machine, machine) and (with_ended or not each.is_over)
        ]
        return sorted(
            found, key=lambda each: (each.name != machine.name, each.metadata.creation_timestamp or "", each.name)
        )

    # -- StatefulSets --

    def _in_stateful_set(self, pod: Pod, reference: OwnerReference) -> Finding:
        owner: StatefulSet | None = self._objects.get(STATEFUL_SET, pod.namespace, reference.name)
        label = f"{STATEFUL_SET} {pod.namespace}/{reference.name}"
        if owner is None:
            return self._missing(STATEFUL_SET, f"{label}, which owns this pod,")
        if not _is_same(reference, owner):
            return unresolvable(f"{label} was made anew, and this pod belongs to the one before")
        return Found(self.place(owner, pod), owner)

    def pods_of_set(self, owner: StatefulSet) -> Iterable[tuple[str, Pod]]:
        """Its pods on nodes, each with the node's name; not those of one before it that had its name."""
        names = self._handle.snapshot().nodes.names
        owned = ((row, pod, _stateful_set_of(pod)) for row, pod in self._pods_of(STATEFUL_SET, owner))
        return [(names[row], pod) for row, pod, its in owned if its is not None and _is_same(its, owner)]

    # -- both --

    def _pods_of(self, kind: str, owner: ApiObject) -> list[tuple[int, Pod]]:
        return list(self._handle.snapshot().nodes.pods_of(kind, owner.namespace, owner.name))

    def _missing(self, kind: str, who: str) -> Status:
        why = self._objects.unreadable(kind)
        return unresolvable(f"{who} cannot be read: {why}" if why else f"{who} was not found")


def _stateful_set_of(pod: Pod | PodTemplate) -> OwnerReference | None:
    owner = pod.controller
    return owner if owner is not None and owner.kind == STATEFUL_SET and owner.api_version == "apps/v1" else None


def _machine_key(instance: VirtualMachineInstance) -> str:
    owner = instance.machine
    return "" if owner is None else f"{instance.namespace}/{owner.name}"


def _is_same(reference: OwnerReference, thing: ApiObject) -> bool:
    """Is this the very object, and not another one under its name?  Files may leave the uid out."""
    return not reference.uid or not thing.uid or reference.uid == thing.uid
