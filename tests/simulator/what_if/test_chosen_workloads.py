"""Workloads by kind and name, as people write them, and one line for what names none."""

from __future__ import annotations

import pytest

from bayplan.errors import InputError
from bayplan.simulator.object_store import StoredObjects
from bayplan.simulator.what_if.changes import read_subject
from bayplan.simulator.what_if.chosen_workloads import resized, scalable
from tests.simulator.support import objects, owned_by, workload


def in_space(namespace: str, made: dict) -> dict:
    return {**made, "metadata": {**made["metadata"], "namespace": namespace}}


OWNED = workload("ReplicaSet", "web-1", replicas=1)
OWNED["metadata"]["ownerReferences"] = owned_by("Deployment", "web")
ORPHAN = workload("ReplicaSet", "api-1", replicas=1)
ORPHAN["metadata"]["ownerReferences"] = owned_by("Deployment", "api")
STORED = StoredObjects(
    objects(
        workload("Deployment", "web", replicas=2),
        in_space("shop", workload("Deployment", "web", replicas=3)),
        in_space("shop", workload("StatefulSet", "db", replicas=1)),
        workload("DaemonSet", "agent"),
        OWNED,
        ORPHAN,
    )
)


@pytest.mark.parametrize(
    ("text", "namespace", "found"),
    [
        ("deploy/web", "default", "default/web"),
        ("deploy/shop/web", "default", "shop/web"),
        ("statefulsets/db", "", "shop/db"),
        ("deployment/api", "default", "default/api-1"),
    ],
)
def test_a_workload_is_found_where_it_is(text: str, namespace: str, found: str) -> None:
    thing = scalable(read_subject(text, "--scale"), STORED, namespace, "--scale")
    assert thing.key == found
    assert resized(thing, 7).spec.replicas == 7


@pytest.mark.parametrize(
    ("text", "namespace", "told"),
    [
        ("deploy/web", "", '--scale: there are 2 called "deployment/web"; write KIND/NAMESPACE/NAME'),
        ("deploy/wep", "default", '--scale: there is no Deployment "wep" in namespace "default"; did you mean "web"?'),
        ("ds/agent", "default", "--scale: a DaemonSet has no size of its own"),
        ("rs/web-1", "default", "--scale: ReplicaSet default/web-1 belongs to Deployment web, which would undo it"),
    ],
)
def test_what_cannot_be_scaled_is_told(text: str, namespace: str, told: str) -> None:
    with pytest.raises(InputError) as raised:
        scalable(read_subject(text, "--scale"), STORED, namespace, "--scale")
    assert str(raised.value).startswith(told)
