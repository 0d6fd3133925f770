"""What an API server adds to everything but pods."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects import policy, volume, workload
from bayplan.objects.admission.defaulting import Classes, default_node, default_object, implied_namespaces
from bayplan.objects.meta import ApiObject
from bayplan.objects.resources import Resources
from tests.objects.making import make, make_node, make_pod

EMPTY = Classes()


def test_a_node_that_says_only_what_it_has_gives_all_of_it() -> None:
    node = default_node(make_node("n1", status={"capacity": {"cpu": "4"}}))
    assert node.allocatable == Resources(cpu_milli=4000)
    kept = default_node(make_node("n1", status={"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3"}}))
    assert kept.allocatable == Resources(cpu_milli=3000)
    assert node.namespace == ""
    assert node.uid


def test_namespaces_carry_their_name_as_a_label() -> None:
    made = default_object(make(workload.Namespace, metadata={"name": "shop", "labels": {"a": "b"}}), EMPTY)
    assert made.labels == {"a": "b", "kubernetes.io/metadata.name": "shop"}


@pytest.mark.parametrize(
    "struct", [workload.Deployment, workload.ReplicaSet, workload.StatefulSet, workload.ReplicationController]
)
def test_workloads_have_one_replica_and_live_in_default(struct: type[workload.Deployment]) -> None:
    made = default_object(make(struct), EMPTY)
    assert isinstance(made, struct)
    assert made.spec.replicas == 1
    assert made.namespace == "default"
    zero = default_object(make(struct, spec={"replicas": 0}), EMPTY)
    assert isinstance(zero, struct)
    assert zero.spec.replicas == 0


def test_a_replication_controller_takes_labels_and_selector_from_its_template() -> None:
    template = {"metadata": {"labels": {"app": "web"}}}
    made = default_object(make(workload.ReplicationController, spec={"template": template}), EMPTY)
    assert isinstance(made, workload.ReplicationController)
    assert made.spec.selector == {"app": "web"}
    assert made.labels == {"app": "web"}


@pytest.mark.parametrize(
    ("spec", "parallelism", "completions"),
    [({}, 1, 1), ({"parallelism": 3}, 3, None), ({"completions": 3}, 1, 3), ({"parallelism": 0}, 0, None)],
)
def test_jobs(spec: dict[str, Any], parallelism: int, completions: int | None) -> None:
    made = default_object(make(workload.Job, spec=spec), EMPTY)
    assert isinstance(made, workload.Job)
    assert (made.spec.parallelism, made.spec.completions) == (parallelism, completions)


def default_class(name: str, created: str | None = None) -> volume.StorageClass:
    annotations = {volume.IS_DEFAULT_CLASS[0]: "true"}
    return make(
        volume.StorageClass,
        metadata={"name": name, "annotations": annotations, "creationTimestamp": created},
    )


@pytest.mark.parametrize(
    ("classes", "written", "expected"),
    [
        ([], None, None),
        ([default_class("a")], None, "a"),
        ([default_class("a")], "", ""),
        ([default_class("a")], "b", "b"),
        ([default_class("b"), default_class("a")], None, "a"),
        ([default_class("a"), default_class("b", "2026-01-01T00:00:00Z")], None, "b"),
        ([make(volume.StorageClass)], None, None),
    ],
)
def test_claims_without_a_class_get_the_default_one(
    classes: list[volume.StorageClass], written: str | None, expected: str | None
) -> None:
    claim = make(volume.PersistentVolumeClaim, spec={"storageClassName": written})
    made = default_object(claim, Classes.among(classes))
    assert isinstance(made, volume.PersistentVolumeClaim)
    assert made.spec.storage_class_name == expected
    assert made.status.phase == "Pending"


def test_storage_defaults() -> None:
    cls = default_object(make(volume.StorageClass), EMPTY)
    assert isinstance(cls, volume.StorageClass)
    assert cls.volume_binding_mode == "Immediate"
    free = default_object(make(volume.PersistentVolume), EMPTY)
    taken = default_object(make(volume.PersistentVolume, spec={"claimRef": {"name": "c"}}), EMPTY)
    assert isinstance(free, volume.PersistentVolume)
    assert isinstance(taken, volume.PersistentVolume)
    assert (free.status.phase, taken.status.phase) == ("Available", "Bound")
    driver = default_object(make(volume.CSIDriver), EMPTY)
    assert isinstance(driver, volume.CSIDriver)
    assert (driver.spec.attach_required, driver.spec.storage_capacity) == (True, False)


def test_priority_classes_preempt_unless_they_say_never() -> None:
    made = default_object(make(policy.PriorityClass, value=1), EMPTY)
    assert isinstance(made, policy.PriorityClass)
    assert made.preemption_policy == "PreemptLowerPriority"
    assert made.namespace == ""


@pytest.mark.parametrize(
    "thing",
    [
        make_pod(),
        make_node("n1", status={"capacity": {"cpu": "1"}}),
        make(workload.Namespace),
        make(workload.Service),
        make(workload.CronJob),
        make(workload.DaemonSet),
        make(workload.StatefulSet),
        make(workload.Job),
        make(policy.PodDisruptionBudget),
        make(volume.PersistentVolume),
        make(volume.CSIStorageCapacity),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_doing_it_again_changes_nothing(thing: ApiObject) -> None:
    once = default_object(thing, EMPTY)
    assert default_object(once, EMPTY) == once
    assert once.uid


def test_namespaces_that_are_only_mentioned_are_made() -> None:
    shop = make(workload.Namespace, metadata={"name": "shop"})
    made = implied_namespaces([make_pod(namespace="shop"), make_pod(namespace="lab"), make_node(), shop])
    assert [each.name for each in made] == ["lab"]
    assert made[0].labels == {"kubernetes.io/metadata.name": "lab"}
