"""
What the volume controller, the provisioners and the ephemeral volume controller do, at once and without fail.

``world`` lets it settle the claims at the start, ``cluster`` tells it of pods and passes on what the scheduler
writes.  Claims whose file has a status are left as they are until the scheduler writes about them, and pods whose
file has one get no claims: they were taken from a real cluster, or are there to try something out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from bayplan.engine.events import Event, ObjectAdded, ObjectChanged, ObjectDeleted
from bayplan.errors import ConflictError, NotFoundError
from bayplan.objects.admission import defaulting
from bayplan.objects.admission.defaulting import Classes
from bayplan.objects.meta import ApiObject, ObjectMeta, OwnerReference
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.pod_volume import PersistentVolumeClaimSpec
from bayplan.objects.volume import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from bayplan.plugins.volume_binding.claims import could_serve, is_on_offer
from bayplan.simulator.controllers.provisioning import provisioned, reduced, set_aside
from bayplan.simulator.object_store import merged

Key: TypeAlias = "tuple[str, str, str]"
Stored: TypeAlias = PersistentVolume | PersistentVolumeClaim
Held: TypeAlias = StorageClass | CSIDriver | CSINode | CSIStorageCapacity | Stored
"""What is looked at here; nodes come beside."""


class Volumes:
    """Claims and volumes of a simulation."""

    def __init__(self, objects: Iterable[ApiObject], is_given: Callable[[ApiObject], bool]) -> None:
        """``is_given``: whether an object's status was given, so that it is not ours to work out."""
        self._objects: dict[Key, Any] = {}
        self._classes = Classes()
        self._is_given = is_given
        self._version = 0
        self._made: set[str] = set()
        self._given_volumes: dict[str, list[str]] = {}
        """By class, the names of the volumes that were there from the start: made ones belong to their claims."""
        for each in objects:
            if isinstance(each, Node | Held):
                self._objects[_key(each)] = each
                number = each.metadata.resource_version
                self._version = max(self._version, int(number) if number.isdigit() else 0)
                if isinstance(each, PersistentVolume):
                    self._given_volumes.setdefault(each.storage_class, []).append(each.name)
        self._classes = Classes.among(self._objects.values())

    def begin(self) -> list[Event]:
        """Bind what can be bound before any pod is placed."""
        events: list[Event] = []
        claims = [each for each in self._objects.values() if isinstance(each, PersistentVolumeClaim)]
        for claim in sorted(claims, key=lambda each: each.request_bytes):
            if not self._is_given(claim):
                events += self._settled(claim)
        return events

    def put(self, thing: ApiObject) -> list[Event]:
        """An object that comes, or says something else, later; claims that wait may be bound to it."""
        old = self._objects.get(_key(thing))
        events = [self._add(thing) if old is None else self._write(old, thing)]
        if isinstance(thing, StorageClass):
            self._classes = Classes.among(self._objects.values())
        if isinstance(thing, PersistentVolume) and old is None:
            self._given_volumes.setdefault(thing.storage_class, []).append(thing.name)
        return events + self.begin()

    def all(self) -> list[ApiObject]:
        """Classes, drivers, claims and volumes as they are now."""
        return [each for each in self._objects.values() if not isinstance(each, Node)]

    def node_changed(self, name: str, node: Node | None) -> None:
        if node is not None:
            self._objects[_key(node)] = node
        else:
            self._objects.pop(("Node", "", name), None)

    # -- pods come and go --

    def pod_added(self, pod: Pod) -> list[Event]:
        """The claims that are made for this pod alone."""
        events: list[Event] = []
        for volume in () if self._is_given(pod) else pod.volumes:
            name = volume.claim_name(pod.name)
            if volume.ephemeral is None or self._find(PersistentVolumeClaim, pod.namespace, name) is not None:
                continue
            template = volume.ephemeral.volume_claim_template
            owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True)
            labels = template.metadata.labels if template else None
            meta = ObjectMeta(name=name, namespace=pod.namespace, labels=labels, owner_references=(owner,))
            spec = template.spec if template else PersistentVolumeClaimSpec()
            claim = PersistentVolumeClaim(metadata=meta, spec=spec)
            made = defaulting.default_object(claim, self._classes)
            assert isinstance(made, PersistentVolumeClaim)
            events.append(self._add(made))
            events += self._settled(made)
        return events

    def pod_gone(self, pod: Pod) -> list[Event]:
        """Its own claims go with it, and the volumes that were made for them."""
        events: list[Event] = []
        for volume in pod.volumes:
            claim = self._find(PersistentVolumeClaim, pod.namespace, volume.claim_name(pod.name))
            if volume.ephemeral is None or claim is None or not claim.belongs_to(pod.uid):
                continue
            events.append(self._remove(claim))
            bound = self._find(PersistentVolume, "", claim.spec.volume_name)
            if bound is not None and bound.name in self._made:
                events.append(self._remove(bound))
        return events

    # -- what the scheduler writes --

    def patched(
        self, kind: str, namespace: str, name: str, patch: dict[str, Any], version: str
    ) -> tuple[str, list[Event]]:
        """Merge a patch into an object, and do what the controllers do then; gives its new version."""
        known = self._objects.get((kind, namespace, name))
        if not isinstance(known, Stored):
            raise NotFoundError(404, f'{kind} "{name}" not found')
        if version and version != known.metadata.resource_version:
            raise ConflictError(409, f'{kind} "{name}" has been modified; try again with the newest version')
        written = self._write(known, msgspec.convert(merged(msgspec.to_builtins(known), patch), type(known)))
        now = self._objects[kind, namespace, name]
        return now.metadata.resource_version, [written, *self._follow_up(now)]

    def _follow_up(self, thing: Stored) -> list[Event]:
        if isinstance(thing, PersistentVolume):
            wanted = thing.spec.claim_ref
            claim = self._find(PersistentVolumeClaim, wanted.namespace, wanted.name) if wanted else None
            is_unbound = claim is not None and not claim.is_bound and thing.is_set_aside_for(claim)
            return self._bind(claim, thing) if claim is not None and is_unbound else []
        return self._provision(thing) if SELECTED_NODE in thing.annotations and not thing.spec.volume_name else []

    # -- binding --

    def _settled(self, claim: PersistentVolumeClaim) -> list[Event]:
        """What the volume controller does with a claim when it first sees it."""
        if claim.is_bound:
            return []
        if claim.spec.volume_name:
            named = self._find(PersistentVolume, "", claim.spec.volume_name)
            is_free = named is not None and (named.spec.claim_ref is None or named.is_set_aside_for(claim))
            return self._bind(claim, named) if named is not None and is_free else []
        names = self._given_volumes.get(claim.storage_class, ())
        volumes = (self._find(PersistentVolume, "", name) for name in names)
        fitting = sorted(
            (each for each in volumes if could_serve(each, claim)),
            key=lambda each: (not each.is_set_aside_for(claim), each.capacity_bytes, each.name),
        )
        storage_class = self._find(StorageClass, "", claim.storage_class)
        is_waiting = storage_class is not None and storage_class.waits_for_consumer
        for volume in fitting:
            is_open = not is_waiting and volume.spec.claim_ref is None and is_on_offer(volume, claim)
            if volume.is_set_aside_for(claim) or is_open:
                return self._bind(claim, volume)
        return [] if is_waiting else self._provision(claim)

    def _provision(self, claim: PersistentVolumeClaim) -> list[Event]:
        """Make a volume, for the selected node if there is one."""
        storage_class = self._find(StorageClass, "", claim.storage_class)
        if storage_class is None or not storage_class.can_provision:
            return []
        name = claim.annotations.get(SELECTED_NODE, "")
        node, csi_node = self._find(Node, "", name), self._find(CSINode, "", name)
        driver = self._find(CSIDriver, "", storage_class.provisioner)
        events: list[Event] = []
        if node is not None and claim.has_request and driver is not None and driver.spec.storage_capacity:
            rooms = (each for each in self._objects.values() if isinstance(each, CSIStorageCapacity))
            used = reduced(rooms, claim, node)
            if used is None:
                return [self._give_up(claim)]
            events.append(self._write(*used))
        volume = provisioned(claim, storage_class, node, csi_node)
        self._made.add(volume.name)
        return [*events, self._add(volume), *self._bind(claim, self._objects[_key(volume)])]

    def _give_up(self, claim: PersistentVolumeClaim) -> Event:
        """The driver has no room there any more: the node is taken off the claim, so that another is looked for."""
        left = {key: value for key, value in claim.annotations.items() if key != SELECTED_NODE}
        return self._write(claim, claim.evolve(metadata=replace(claim.metadata, annotations=left)))

    def _bind(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> list[Event]:
        marks = {BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"}
        bound_claim = claim.evolve(
            metadata=replace(claim.metadata, annotations={**claim.annotations, **marks}),
            spec=replace(claim.spec, volume_name=volume.name),
            status=replace(claim.status, phase="Bound"),
        )
        status = replace(volume.status, phase="Bound")
        bound_volume = volume.evolve(spec=set_aside(volume.spec, claim), status=status)
        events = [] if bound_volume == volume else [self._write(volume, bound_volume)]
        return [*events, self._write(claim, bound_claim)]

    # -- objects --

    def _find(self, kind: type[Any], namespace: str, name: str) -> Any:
        return self._objects.get((kind.__name__, namespace, name))

    def _add(self, thing: Any) -> Event:
        stored = self._objects[_key(thing)] = self._numbered(thing)
        return ObjectAdded(type(thing).__name__, stored)

    def _write(self, old: Any, new: Any) -> Event:
        stored = self._objects[_key(new)] = self._numbered(new)
        return ObjectChanged(type(new).__name__, old, stored)

    def _remove(self, thing: Any) -> Event:
        del self._objects[_key(thing)]
        return ObjectDeleted(type(thing).__name__, thing)

    def _numbered(self, thing: Any) -> Any:
        self._version += 1
        return thing.evolve(metadata=replace(thing.metadata, resource_version=str(self._version)))


def _key(thing: ApiObject) -> Key:
    return type(thing).__name__, thing.namespace, thing.name
