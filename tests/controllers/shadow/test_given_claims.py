"""Claims name the node before the bind is seen; pods are judged with their claims as they were before."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.controllers.shadow.given_claims import inverse
from bayplan.controllers.shadow.verdict import Finding
from bayplan.engine.events import Event, ObjectAdded, ObjectChanged, Tick
from bayplan.objects.kinds import decode
from bayplan.testing import node, pod
from tests.controllers.shadow.support import Shadow, came

ZONE = "topology.kubernetes.io/zone"
BIG, SMALL = node("big").cpu(16).zone("z1"), node("small").cpu(2).zone("z2")
P = pod("p").cpu(1).claim("data")


def storage_class(mode: str = "WaitForFirstConsumer", provisioner: str = "example.com/disks") -> Any:
    return decode(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "disks"},
            "provisioner": provisioner,
            "volumeBindingMode": mode,
        }
    )


def claim(volume: str = "", **annotations: str) -> Any:
    spec = {
        "storageClassName": "disks",
        "resources": {"requests": {"storage": "1Gi"}},
        "accessModes": ["ReadWriteOnce"],
    }
    names = {"selected": "volume.kubernetes.io/selected-node", "completed": "pv.kubernetes.io/bind-completed"}
    return decode(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": "data",
                "namespace": "default",
                "uid": "data",
                "annotations": {names[key]: value for key, value in annotations.items()},
            },
            "spec": {**spec, **({"volumeName": volume} if volume else {})},
        }
    )


def volume(zone: str, claimed: bool) -> Any:
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
    reference = {"claimRef": {"namespace": "default", "name": "data", "uid": "data"}} if claimed else {}
    return decode(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{zone}"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "disks",
                "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
                **reference,
            },
            "status": {"phase": "Bound" if claimed else "Available"},
        }
    )


def changed(old: Any, new: Any) -> Event:
    return ObjectChanged(type(new).__name__, old, new)


def provisioned(shadow: Shadow) -> None:
    """A scheduler chose the node small, and a volume was made for it."""
    selected = claim(selected="small")
    shadow.take(changed(claim(), selected))
    shadow.take(came(volume("z2", claimed=True)))
    shadow.take(changed(selected, claim("pv-z2", selected="small", completed="yes")))


def test_a_claim_that_was_given_a_volume_leaves_us_our_choice() -> None:
    shadow = Shadow(BIG, SMALL, storage_class(), claim())
    shadow.take(came(P))
    provisioned(shadow)
    verdict = shadow.bind(P, "small")
    assert (verdict.finding, verdict.ours) == (Finding.DIFFER, "big")
    objects = shadow.judge.engine.cache.objects
    assert objects.get("PersistentVolumeClaim", "default", "data").spec.volume_name == "pv-z2"
    assert objects.get("PersistentVolume", "", "pv-z2").spec.claim_ref is not None


def test_a_volume_that_was_there_is_open_again() -> None:
    shadow = Shadow(BIG, SMALL, storage_class(provisioner="kubernetes.io/no-provisioner"), claim())
    for zone in ("z1", "z2"):
        shadow.take(came(volume(zone, claimed=False)))
    shadow.take(came(P))
    shadow.take(changed(volume("z2", claimed=False), volume("z2", claimed=True)))
    shadow.take(changed(claim(), claim("pv-z2", completed="yes")))
    assert shadow.bind(P, "small").ours == "big"


def test_a_claim_that_was_bound_before_the_pod_came_stays_as_it_is() -> None:
    shadow = Shadow(BIG, SMALL, storage_class(), claim())
    provisioned(shadow)
    verdict = shadow.come_and_bind(P, "small")
    assert (verdict.finding, verdict.ours) == (Finding.AGREE, "small")


def test_a_claim_that_waits_for_nobody_stays_as_it_is() -> None:
    shadow = Shadow(BIG, SMALL, storage_class("Immediate"), claim())
    shadow.take(came(P))
    provisioned(shadow)
    assert shadow.bind(P, "small").finding is Finding.AGREE


def test_only_changes_of_claims_are_taken_back() -> None:
    there = ObjectAdded("PersistentVolume", volume("z1", claimed=False))
    with pytest.raises(TypeError, match="not a change of a claim"):
        inverse(there)
    with pytest.raises(TypeError):
        inverse(Tick())
