"""Storage in a simulation: claims are bound and volumes made as the controllers would, and the scheduler sees it."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.engine.events import ObjectChanged
from bayplan.errors import ConflictError, NotFoundError
from bayplan.objects.admission.defaulting import Classes, default_object
from bayplan.objects.kinds import decode
from bayplan.objects.volume import SELECTED_NODE, PersistentVolume, PersistentVolumeClaim
from bayplan.simulator.controllers.volumes import Volumes
from tests.simulator.support import HOSTNAME, ZONE, Manifest, node, pod, simulated, workload

SIZE = {"requests": {"storage": "1Gi"}}


def storage_class(name: str, provisioner: str = "csi.example.com", *, waits: bool = True, **fields: Any) -> Manifest:
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    typed = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
    return typed | {"provisioner": provisioner, "volumeBindingMode": mode} | fields


def claim(name: str, of: str, *, status: Manifest | None = None, **spec: Any) -> Manifest:
    given = {"accessModes": ["ReadWriteOnce"], "storageClassName": of, "resources": SIZE} | spec
    made = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": given}
    return made | ({"status": status} if status else {})


def volume(name: str, of: str, *, on: str = "", **spec: Any) -> Manifest:
    given = {"accessModes": ["ReadWriteOnce"], "storageClassName": of, "capacity": {"storage": "1Gi"}} | spec
    if on:
        condition = {"key": HOSTNAME, "operator": "In", "values": [on]}
        given["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [condition]}]}}
    made = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}}
    return made | {"spec": given | {"local": {"path": "/x"}}}


def user(name: str, *claims: str, **spec: Any) -> Manifest:
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    return pod(name, volumes=volumes, **spec)


def placed(*manifests: Manifest) -> dict[str, str | None]:
    """Pods and their nodes in the end; for those on none the message."""
    return {each["name"]: each.get("node") or each["message"] for each in simulated(*manifests)["pods"]}


LOCAL = storage_class("local", "kubernetes.io/no-provisioner")
V = volume("v", "local", on="n2")
IMMEDIATE = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"


def test_pods_that_wait_for_local_volumes_get_one_each() -> None:
    """Both pods are placed before either claim is bound, so the choice of the first must hold for the second."""
    found = placed(
        node("n1"),
        node("n2"),
        LOCAL,
        volume("v1", "local", on="n1"),
        volume("v2", "local", on="n2"),
        claim("a", "local"),
        claim("b", "local"),
        claim("c", "local"),
        user("pod-a", "a"),
        user("pod-b", "b"),
        user("pod-c", "c"),
    )
    assert sorted(str(found[name]) for name in ("pod-a", "pod-b")) == ["n1", "n2"]
    assert str(found["pod-c"]).startswith("0/2 nodes are available: 2 node(s) didn't find available persistent volumes")


def test_a_pod_is_bound_a_second_after_its_claims_as_in_a_cluster() -> None:
    (told,) = simulated(node("n"), storage_class("wait"), claim("c", "wait"), user("a", "c"))["pods"]
    assert (told["node"], told["boundAt"]) == ("n", 1.0)


def test_a_claim_that_need_not_wait_is_bound_before_pods_are_placed() -> None:
    objects = [node("n1"), node("n2"), volume("v", "now", on="n2"), claim("c", "now"), user("a", "c")]
    assert placed(storage_class("now", waits=False), *objects) == {"a": "n2"}
    assert placed(*objects) == {"a": "n2"}


def test_a_claim_that_need_not_wait_gets_a_volume_made() -> None:
    objects = [node("n"), claim("c", "now"), user("a", "c")]
    assert placed(storage_class("now", waits=False), *objects) == {"a": "n"}
    assert placed(*objects) == {"a": IMMEDIATE}


def test_a_claim_that_names_its_volume_gets_it() -> None:
    named = claim("c", "x", volumeName="v")
    assert placed(node("n1"), node("n2"), volume("v", "x", on="n2"), named, user("a", "c")) == {"a": "n2"}
    taken = volume("v", "x", claimRef={"namespace": "default", "name": "other"})
    assert placed(node("n"), taken, named, user("a", "c")) == {"a": IMMEDIATE}


def test_a_claim_with_a_status_is_left_as_it_is() -> None:
    pending = claim("c", "now", status={"phase": "Pending"})
    assert placed(node("n"), storage_class("now", waits=False), pending, user("a", "c")) == {"a": IMMEDIATE}


def test_pods_of_a_stateful_set_get_claims_and_volumes() -> None:
    template = {"metadata": {"name": "data"}, "spec": claim("", "wait")["spec"]}
    found = placed(
        node("n1"),
        node("n2"),
        storage_class("wait"),
        workload("StatefulSet", "db", replicas=3, volumeClaimTemplates=[template]),
    )
    assert set(found) == {"db-0", "db-1", "db-2"}
    assert set(found.values()) <= {"n1", "n2"}


def test_claims_of_single_pods_are_made_for_them() -> None:
    source = {"volumeClaimTemplate": {"spec": claim("", "wait")["spec"]}}
    own = pod("a", volumes=[{"name": "scratch", "ephemeral": source}])
    assert placed(node("n"), storage_class("wait"), own) == {"a": "n"}
    assert placed(node("n"), own) == {"a": IMMEDIATE}
    given = own | {"status": {"phase": "Pending"}}
    assert "waiting for ephemeral volume controller" in str(placed(node("n"), given)["a"])


def test_what_is_made_takes_from_what_the_driver_has() -> None:
    def room(zone: str, capacity: str) -> Manifest:
        typed = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": zone}}
        topology = {"matchLabels": {ZONE: zone}}
        return typed | {"storageClassName": "wait", "capacity": capacity, "nodeTopology": topology}

    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "csi.example.com"}}
    found = placed(
        node("n1", labels={ZONE: "a"}),
        node("n2", labels={ZONE: "b"}),
        storage_class("wait"),
        driver | {"spec": {"storageCapacity": True}},
        room("a", "1Gi"),
        room("b", "100Mi"),
        claim("c", "wait"),
        claim("d", "wait"),
        user("first", "c"),
        user("second", "d", priority=-1),
    )
    assert found["first"] == "n1"
    assert "2 node(s) did not have enough free storage" in str(found["second"])


def test_a_volume_is_reached_from_nodes_like_the_one_it_was_made_for() -> None:
    csi_node = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "n1"},
        "spec": {"drivers": [{"name": "csi.example.com", "nodeID": "n1", "topologyKeys": [ZONE]}]},
    }
    shared = claim("c", "wait")
    # The second pod uses the same claim and may only go where the volume was made.
    found = placed(
        node("n1", labels={ZONE: "a"}),
        node("n2", cpu="8", labels={ZONE: "b"}),
        csi_node,
        storage_class("wait"),
        shared,
        user("first", "c", nodeSelector={HOSTNAME: "n1"}),
        user("second", "c", priority=-1),
    )
    assert found == {"first": "n1", "second": "n1"}


@pytest.mark.parametrize("objects", [[storage_class("wait"), claim("c", "wait")], [LOCAL, claim("c", "local"), V]])
def test_pods_that_share_a_claim_are_placed_one_after_the_other(objects: list[Manifest]) -> None:
    """The second is placed while the first still waits for its claim, and neither is tried twice."""
    told = simulated(node("n1"), node("n2"), *objects, user("first", "c"), user("second", "c"))["pods"]
    assert [(each["attempts"], each["boundAt"]) for each in told] == [(1, 1.0), (1, 1.0)]
    assert len({each["node"] for each in told}) == 1


def test_the_same_input_gives_the_same_run() -> None:
    manifests = [node("n1"), node("n2"), LOCAL, storage_class("wait"), claim("a", "wait"), claim("b", "local")]
    manifests += [volume("v", "local"), user("p", "a"), user("q", "b")]
    assert simulated(*manifests) == simulated(*manifests)


# -- patches --


def stored(*manifests: Manifest) -> Volumes:
    things = [decode(each) for each in manifests]
    classes = Classes.among(things)
    return Volumes([default_object(each, classes) for each in things], lambda thing: True)


def test_a_patch_needs_the_newest_version() -> None:
    volumes = stored(claim("c", "x"))
    first, _ = volumes.patched("PersistentVolumeClaim", "default", "c", {"metadata": {"labels": {"a": "b"}}}, "")
    with pytest.raises(ConflictError, match="modified"):
        volumes.patched("PersistentVolumeClaim", "default", "c", {"metadata": {"labels": {"a": None}}}, f"{first}0")
    _, (event,) = volumes.patched("PersistentVolumeClaim", "default", "c", {"metadata": {"labels": {"a": None}}}, first)
    assert isinstance(event, ObjectChanged)
    assert (event.old.labels, event.new.labels) == ({"a": "b"}, {})


def test_what_is_not_there_cannot_be_patched() -> None:
    with pytest.raises(NotFoundError, match='"v" not found'):
        stored(claim("c", "x")).patched("PersistentVolume", "", "v", {}, "")


def test_a_volume_set_aside_and_a_selected_node_bind_the_claim() -> None:
    volumes = stored(storage_class("wait"), claim("c", "wait"), claim("d", "wait"), volume("v", "wait"))
    reference = {"namespace": "default", "name": "c"}
    _, events = volumes.patched("PersistentVolume", "", "v", {"spec": {"claimRef": reference}}, "")
    *_, bound = [each.new for each in events if isinstance(each, ObjectChanged)]
    assert isinstance(bound, PersistentVolumeClaim)
    assert (bound.name, bound.is_bound, bound.spec.volume_name) == ("c", True, "v")
    change = {"metadata": {"annotations": {SELECTED_NODE: "n"}}}
    _, events = volumes.patched("PersistentVolumeClaim", "default", "d", change, "")
    kinds = [type(getattr(each, "value", None) or each.new) for each in events]  # type: ignore[union-attr]
    assert kinds == [PersistentVolumeClaim, PersistentVolume, PersistentVolumeClaim]
