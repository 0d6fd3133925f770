"""A node."""

from __future__ import annotations

import pytest

from bayplan.objects.node import Node
from bayplan.objects.resources import Resources
from tests.objects.making import make_node


def test_an_empty_node_has_sensible_answers() -> None:
    node = Node()
    assert (node.name, node.zone, node.region) == ("", "", "")
    assert not any((node.taints, node.images, node.conditions, node.declared_features))
    assert not node.unschedulable
    assert node.allocatable == Resources()
    assert dict(node.allocatable_map) == {}


def test_what_a_node_says() -> None:
    node = make_node(
        "n1",
        spec={"unschedulable": True, "taints": [{"key": "k", "effect": "NoSchedule"}]},
        status={
            "capacity": {"cpu": "8"},
            "allocatable": {"cpu": "4", "memory": "32Gi", "pods": "110", "example.com/gpu": "2"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "images": [{"names": ["a", "b"], "sizeBytes": 7}],
            "declaredFeatures": ["X"],
        },
    )
    assert node.unschedulable
    assert node.taints[0].key == "k"
    assert node.allocatable == Resources(4000, 32 * 2**30, 0, 110, {"example.com/gpu": 2})
    assert node.allocatable.pods == 110
    assert node.images[0].names == ("a", "b")
    assert node.images[0].size_bytes == 7
    assert node.conditions[0].type == "Ready"
    assert node.declared_features == ("X",)


@pytest.mark.parametrize("prefix", ["topology.kubernetes.io", "failure-domain.beta.kubernetes.io"])
def test_zone_and_region_by_either_name(prefix: str) -> None:
    node = make_node("n1", metadata={"labels": {f"{prefix}/zone": "z", f"{prefix}/region": "r"}})
    assert (node.zone, node.region) == ("z", "r")


def test_a_changed_copy_works_everything_out_again() -> None:
    node = make_node("n1", status={"allocatable": {"cpu": "1"}})
    assert node.allocatable.cpu_milli == 1000
    larger = node.evolve(status=make_node("n2", status={"allocatable": {"cpu": "2"}}).status)
    assert larger.allocatable.cpu_milli == 2000
    assert larger.name == "n1"


def test_a_bad_quantity_names_its_field() -> None:
    with pytest.raises(ValueError, match=r"status\.allocatable\.cpu"):
        _ = make_node("n1", status={"allocatable": {"cpu": "four"}}).allocatable
