"""
Notes that are missing or behind: told anew from pods that are bound and from instances that run.

``plugin`` asks for all of it when scheduling begins, and for one object whenever that changes.  Only what this
profile schedules is touched; machines of other schedulers do not stick.
"""

from __future__ import annotations

import structlog

from bayplan.framework import Handle
from bayplan.framework.config.model import DEFAULT_SCHEDULER_NAME
from bayplan.objects.third_party.kubevirt import MACHINE, VirtualMachine, VirtualMachineInstance
from bayplan.objects.workload import StatefulSet
from bayplan.plugins.sticky_vm.node_notes import Notes
from bayplan.plugins.sticky_vm.owners import STATEFUL_SET, Finder, Place

log = structlog.get_logger()


def moved_key(place: Place) -> str:
    """The annotation for the uid of the last live migration that a note followed."""
    return f"{place.annotation}-moved"


class Repairer:
    """Compares what is noted with where things are."""

    def __init__(self, handle: Handle, finder: Finder, notes: Notes, with_stateful_sets: bool) -> None:
        self._handle = handle
        self._finder = finder
        self._notes = notes
        self._with_stateful_sets = with_stateful_sets

    def repair_all(self) -> None:
        """
        After a start: a bind may have got through whose note did not, and a machine may have moved.

        Nothing has been scheduled yet, so pods that are on nodes here are there in truth.
        """
        for machine in self._handle.objects.list(MACHINE):
            instance = self._finder.instance_of(machine)
            if instance is not None and self._is_ours(instance):
                self._repair(machine, self._finder.seen_on(instance))
                if instance.moved_from and not self._has_followed(machine, instance):
                    self._follow(machine, instance, instance.moved_from)
        for owner in self._handle.objects.list(STATEFUL_SET) if self._with_stateful_sets else ():
            self._repair_set(owner)

    def machine_changed(self, machine: VirtualMachine) -> None:
        """Note where it runs, if nothing is noted at all; an empty note means that it was released."""
        instance = self._finder.instance_of(machine)
        if instance is not None and self._is_ours(instance):
            self._repair(machine, instance.status.node_name)

    def instance_changed(self, old: VirtualMachineInstance | None, new: VirtualMachineInstance | None) -> None:
        if new is None or new.machine is None or not self._is_ours(new):
            return
        machine: VirtualMachine | None = self._handle.objects.get(MACHINE, new.namespace, new.machine.name)
        if machine is None or not self._is_its(machine, new):
            return
        if old is not None and old.uid == new.uid and old.status.node_name not in ("", new.status.node_name):
            self._follow(machine, new, old.status.node_name)
        self._repair(machine, new.status.node_name)

    def _repair(self, machine: VirtualMachine, node: str) -> None:
        place = self._finder.place(machine)
        if node and self._notes.node(place, machine) is None:
            log.info("repairing: VM runs on a node that is not annotated", owner=str(place), node=node)
            self._notes.take(place, machine, node)

    def _repair_set(self, owner: StatefulSet) -> None:
        for node, pod in self._finder.pods_of_set(owner):
            place = self._finder.place(owner, pod)
            if pod.scheduler_name == self._handle.profile_name and self._notes.node(place, owner) is None:
                log.info("repairing: pod is on a node that is not annotated", owner=str(place), node=node)
                self._notes.take(place, owner, node)

    def _follow(self, machine: VirtualMachine, instance: VirtualMachineInstance, source: str) -> None:
        """The machine has moved.  A note of any other node than the one it left was written on purpose."""
        place, node = self._finder.place(machine), instance.status.node_name
        if node and self._is_ours(instance) and self._notes.node(place, machine) == source:
            log.info("VM has moved, its annotation follows", owner=str(place), node=node, moved_from=source)
            moved = {moved_key(place): instance.migration} if instance.migration else None
            self._notes.take(place, machine, node, beside=moved)

    def _has_followed(self, machine: VirtualMachine, instance: VirtualMachineInstance) -> bool:
        """Was this very move noted once?  Then the node it left was written again to send the machine back there."""
        key = moved_key(self._finder.place(machine))
        return bool(instance.migration) and machine.annotations.get(key) == instance.migration

    def _is_ours(self, instance: VirtualMachineInstance) -> bool:
        return (instance.spec.scheduler_name or DEFAULT_SCHEDULER_NAME) == self._handle.profile_name

    def _is_its(self, machine: VirtualMachine, instance: VirtualMachineInstance) -> bool:
        """Is it the one instance that counts?  Others may claim the machine."""
        first = self._finder.instance_of(machine)
        return first is not None and first.uid == instance.uid
