"""What a scheduler reads of KubeVirt's objects."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.kinds import all_kinds, decode
from bayplan.objects.third_party.kubevirt import MACHINE, VirtualMachineInstance, owner_of


def instance(status: dict[str, Any] | None = None, **metadata: Any) -> VirtualMachineInstance:
    raw = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {"name": "vm", **metadata},
        "spec": {"schedulerName": "stickyvm", "domain": {"devices": {}}},
        "status": status or {},
    }
    made = decode(raw)
    assert isinstance(made, VirtualMachineInstance)
    return made


def test_both_kinds_are_where_kubevirt_serves_them() -> None:
    paths = {(kind.api_version, kind.plural) for kind in all_kinds() if kind.group == "kubevirt.io"}
    assert paths == {("kubevirt.io/v1", "virtualmachines"), ("kubevirt.io/v1", "virtualmachineinstances")}


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        ({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "name": "vm"}, "vm"),
        ({"apiVersion": "kubevirt.io/v1alpha3", "kind": "VirtualMachine", "name": "vm"}, "vm"),
        ({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstanceReplicaSet", "name": "rs"}, None),
        ({"apiVersion": "example.com/v1", "kind": "VirtualMachine", "name": "vm"}, None),
    ],
)
def test_the_machine_is_the_owner_of_kubevirts_kind(owner: dict[str, str], expected: str | None) -> None:
    found = instance(ownerReferences=[owner]).machine
    assert (found.name if found else None) == expected


def test_an_instance_without_owners_has_no_machine() -> None:
    assert owner_of(instance().metadata, MACHINE) is None


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, ""),
        ({"nodeName": "b"}, ""),
        ({"nodeName": "b", "migrationState": {"sourceNode": "a", "targetNode": "b", "completed": True}}, "a"),
        ({"nodeName": "a", "migrationState": {"sourceNode": "a", "targetNode": "b"}}, ""),
        (
            {
                "nodeName": "a",
                "migrationState": {"sourceNode": "a", "targetNode": "b", "completed": True, "failed": True},
            },
            "",
        ),
        ({"nodeName": "c", "migrationState": {"sourceNode": "a", "targetNode": "b", "completed": True}}, ""),
    ],
)
def test_where_a_finished_migration_took_it_from(status: dict[str, Any], expected: str) -> None:
    assert instance(status).moved_from == expected


def test_an_instance_that_ended_or_goes_is_over() -> None:
    assert not instance({"phase": "Running"}).is_over
    assert instance({"phase": "Failed"}).is_over
    assert instance(deletionTimestamp="2026-01-31T10:00:00Z").is_over
