"""Objects of a simulation that plugins write to."""

from __future__ import annotations

import pytest

from bayplan.engine.events import ObjectAdded, ObjectChanged, ObjectDeleted
from bayplan.errors import ConflictError, NotFoundError
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.third_party.kubevirt import VirtualMachine
from bayplan.simulator.object_store import StoredObjects, merged

VM = VirtualMachine(metadata=ObjectMeta(name="vm", namespace="default"))
NOTE = {"metadata": {"annotations": {"a": "1"}}}


def test_objects_come_change_and_go() -> None:
    stored = StoredObjects()
    first, second = stored.put(VM), stored.put(VM)
    assert isinstance(first, ObjectAdded)
    assert isinstance(second, ObjectChanged)
    assert second.old == first.value
    assert isinstance(stored.drop(VM), ObjectDeleted)
    assert stored.get("VirtualMachine", "default", "vm") is None


def test_a_patch_is_merged_into_the_version_it_is_for() -> None:
    stored = StoredObjects([VM])
    version, (event,) = stored.patched("VirtualMachine", "default", "vm", NOTE, "")
    assert isinstance(event, ObjectChanged)
    assert event.new.annotations == {"a": "1"}
    assert event.new.metadata.resource_version == version
    with pytest.raises(ConflictError):
        stored.patched("VirtualMachine", "default", "vm", NOTE, "another")
    with pytest.raises(NotFoundError):
        stored.patched("VirtualMachine", "default", "nobody", NOTE, "")


def test_null_takes_a_field_away() -> None:
    assert merged({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"c": None}, "e": [4]}) == {"a": 1, "b": {"d": 3}, "e": [4]}
