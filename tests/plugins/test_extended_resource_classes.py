"""Which DeviceClass stands behind an extended resource: the newest that names it, then the first by name."""

from __future__ import annotations

import itertools

import pytest

from bayplan.engine.store import Store
from bayplan.objects.devices.device_class import DeviceClass, DeviceClassSpec
from bayplan.objects.meta import ObjectMeta
from bayplan.plugins.extended_resource_classes import ExtendedResourceClasses, may_be_devices

GPU = "example.com/gpu"


def device_class(name: str, resource: str = GPU, made: str = "2026-01-01T00:00:00Z") -> DeviceClass:
    metadata = ObjectMeta(name=name, creation_timestamp=made)
    return DeviceClass(metadata=metadata, spec=DeviceClassSpec(extended_resource_name=resource))


def behind(resource: str, *classes: DeviceClass) -> str | None:
    store = Store()
    for each in classes:
        store.put("DeviceClass", "", each.name, each)
    found = ExtendedResourceClasses(store).of(resource)
    return found and found.name


@pytest.mark.parametrize("order", list(itertools.permutations(["gpu", "gpu-large", "a-gpu"])))
def test_of_classes_made_together_the_first_by_name_stands_behind_the_resource(order: tuple[str, ...]) -> None:
    assert behind(GPU, *map(device_class, order)) == "a-gpu"


def test_a_name_that_begins_another_comes_first() -> None:
    assert behind(GPU, device_class("gpu-large"), device_class("gpu")) == "gpu"


def test_the_newest_class_wins_whatever_its_name() -> None:
    newest = device_class("z-gpu", made="2026-01-02T00:00:00Z")
    assert behind(GPU, newest, device_class("a-gpu")) == "z-gpu"


def test_every_class_stands_behind_its_own_name() -> None:
    assert behind("deviceclass.resource.kubernetes.io/gpu", device_class("gpu", resource="")) == "gpu"
    assert behind("deviceclass.resource.kubernetes.io/other", device_class("gpu", resource="")) is None


def test_a_class_that_comes_later_is_seen() -> None:
    store = Store()
    classes = ExtendedResourceClasses(store)
    assert classes.of(GPU) is None
    store.put("DeviceClass", "", "gpu", device_class("gpu"))
    assert classes.of(GPU) is not None


@pytest.mark.parametrize(
    ("resource", "may"),
    [(GPU, True), ("deviceclass.resource.kubernetes.io/gpu", True), ("cpu", False), ("memory", False)],
)
def test_only_extended_resources_may_be_devices(resource: str, may: bool) -> None:
    assert may_be_devices(resource) is may
