"""
Which DeviceClass stands behind an extended resource.

A class may name a resource; every class also has one by its own name.  Where a node has none of the resource itself,
devices of the class are taken in its place: NodeResourcesFit then leaves the resource to DynamicResources.
"""

from __future__ import annotations

from bayplan.framework.handle import ObjectStore
from bayplan.objects.devices.device_class import DeviceClass
from bayplan.objects.devices.names import DEVICE_CLASS_PREFIX
from bayplan.objects.resources import is_extended_name
from bayplan.objects.times import parse_time

DEVICE_CLASS = DeviceClass.__name__


def may_be_devices(resource: str) -> bool:
    """Can a class stand behind a resource of this name?"""
    return is_extended_name(resource) or resource.startswith(DEVICE_CLASS_PREFIX)


class ExtendedResourceClasses:
    """Classes by the resources that they stand behind."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._generation = 0
        self._classes: dict[str, DeviceClass] = {}

    def of(self, resource: str) -> DeviceClass | None:
        """The class behind a resource; of several that name it the newest, and of these the first by name."""
        generation = self._objects.generation(DEVICE_CLASS)
        if generation != self._generation:
            self._generation = generation
            self._classes = {}
            later_names_first = sorted(self._objects.list(DEVICE_CLASS), key=_name, reverse=True)
            for each in sorted(later_names_first, key=_made_at):  # the last one stays
                self._classes[each.implicit_resource_name] = each
                if each.spec.extended_resource_name:
                    self._classes[each.spec.extended_resource_name] = each
        return self._classes.get(resource) if self._classes else None


def _name(device_class: DeviceClass) -> str:
    return device_class.name


def _made_at(device_class: DeviceClass) -> float:
    return parse_time(device_class.metadata.creation_timestamp) or 0.0
