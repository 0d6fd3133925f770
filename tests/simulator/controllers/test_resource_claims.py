"""The ResourceClaim controller of simulations, against stored objects and pods of the test's own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bayplan.engine.events import ObjectAdded, ObjectChanged, ObjectDeleted, PodAdded, PodChanged
from bayplan.errors import ConflictError, NotFoundError
from bayplan.objects.devices.names import DELETE_PROTECTION, POD_CLAIM_NAME
from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.objects.meta import ObjectMeta, OwnerReference
from bayplan.objects.pod import Pod
from bayplan.simulator.world import World
from tests.simulator.support import Manifest, node, pod, world
from tests.simulator.test_timed_changes import at

API = "resource.k8s.io/v1"
ASKS = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
FROM_TEMPLATE = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
SHARED = [{"name": "gpu", "resourceClaimName": "shared"}]
GIVEN = {"devices": {"results": [{"request": "gpu", "driver": "d", "pool": "p", "device": "gpu-0"}]}}


def template(**meta: Any) -> Manifest:
    spec = {"metadata": {"labels": {"a": "b"}, **meta}, "spec": ASKS}
    return {"apiVersion": API, "kind": "ResourceClaimTemplate", "metadata": {"name": "one-gpu"}, "spec": spec}


def claim(name: str = "shared", **status: Any) -> Manifest:
    made = {"apiVersion": API, "kind": "ResourceClaim", "metadata": {"name": name}, "spec": ASKS}
    return made | ({"status": status} if status else {})


def claims(here: World) -> list[ResourceClaim]:
    objects = here.cluster.objects
    return [objects.get(*key) for key in objects if key[0] == "ResourceClaim"]


def only_claim(here: World) -> ResourceClaim:
    (found,) = claims(here)
    return found


def named(here: World, name: str) -> Pod:
    found = here.cluster.pod(f"default/{name}")
    assert found is not None
    return found


def allocated(here: World, *consumers: Pod) -> ResourceClaim:
    """As the scheduler does it: the finalizer, then the status."""
    known = only_claim(here)
    reserved = [{"resource": "pods", "name": each.name, "uid": each.uid} for each in consumers]
    protected = {"metadata": {"finalizers": [DELETE_PROTECTION]}}
    write = here.cluster.patch
    place = "ResourceClaim", "default", known.name

    async def both() -> None:
        version = await write(*place, protected, known.metadata.resource_version)
        await write(*place, {"status": {"allocation": GIVEN, "reservedFor": reserved}}, version, "status")

    asyncio.run(both())
    return only_claim(here)


def test_a_claim_is_made_from_a_template_and_the_pod_says_its_name() -> None:
    here = world(node("n1"), template(annotations={"x": "y"}), pod("web", resourceClaims=FROM_TEMPLATE))
    made, owner = only_claim(here), named(here, "web")
    assert made.name.startswith("web-gpu-")
    assert len(made.name) == len("web-gpu-") + 5
    assert made.belongs_to(owner.uid)
    assert made.labels == {"a": "b"}
    assert made.annotations == {"x": "y", POD_CLAIM_NAME: "gpu"}
    (status,) = owner.status.resource_claim_statuses or ()
    assert (status.name, status.resource_claim_name) == ("gpu", made.name)
    (request,) = made.requests
    assert request.exactly is not None
    assert (request.exactly.allocation_mode, request.exactly.count) == ("ExactCount", 1)


def test_long_names_are_cut_in_proportion() -> None:
    long = "a" * 60
    wanted = [{"name": "b" * 40, "resourceClaimTemplateName": "one-gpu"}]
    here = world(node("n1"), template(), pod(long, resourceClaims=wanted))
    assert only_claim(here).name[:-5] == "a" * (60 * 57 // 102) + "-" + "b" * (40 * 57 // 102)


def test_a_claim_that_the_pod_has_already_is_not_made_again() -> None:
    mine = claim("web-gpu-abcde")
    mine["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "1", "controller": True}
    ]
    mine["metadata"]["annotations"] = {POD_CLAIM_NAME: "gpu"}
    status = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "web-gpu-abcde"}]}
    for known in (status, {}):  # without a status the orphan is found by its owner
        web = pod("web", meta={"uid": "1"}, status=known, resourceClaims=FROM_TEMPLATE)
        here = world(node("n1"), template(), mine, web)
        assert only_claim(here).name == "web-gpu-abcde"
        (told,) = named(here, "web").status.resource_claim_statuses or ()
        assert told.resource_claim_name == "web-gpu-abcde"


def test_a_pod_waits_for_a_template_that_comes_later() -> None:
    here = world(node("n1"), pod("web", resourceClaims=FROM_TEMPLATE), at("5s", template()))
    assert claims(here) == []
    asyncio.run(here.changes.happen(here.started_at + 5))
    assert [type(each) for each in here.cluster.events] == [ObjectAdded, ObjectAdded, PodChanged]
    assert only_claim(here).belongs_to(named(here, "web").uid)


def test_the_claim_of_a_pod_goes_with_it_though_devices_were_given() -> None:
    here = world(node("n1"), template(), pod("web", resourceClaims=FROM_TEMPLATE))
    web = named(here, "web")
    assert allocated(here, web).is_reserved_for(web.uid)
    here.cluster.events.clear()
    asyncio.run(here.cluster.delete_pod(web))
    assert claims(here) == []
    assert isinstance(here.cluster.events[-1], ObjectDeleted)


def test_a_pod_that_ends_gives_its_devices_back_and_its_own_claim_goes() -> None:
    here = world(node("n1"), template(), pod("web", resourceClaims=FROM_TEMPLATE))
    web = named(here, "web")
    allocated(here, web)
    asyncio.run(here.cluster.patch_pod_status(web, {"phase": "Succeeded"}))
    assert claims(here) == []


def test_a_shared_claim_is_kept_until_the_last_pod_goes_and_can_be_given_anew() -> None:
    here = world(node("n1"), claim(), pod("a", resourceClaims=SHARED), pod("b", resourceClaims=SHARED))
    allocated(here, named(here, "a"), named(here, "b"))
    asyncio.run(here.cluster.delete_pod(named(here, "a")))
    assert only_claim(here).is_allocated
    assert [each.name for each in only_claim(here).pods] == ["b"]
    asyncio.run(here.cluster.delete_pod(named(here, "b")))
    left = only_claim(here)
    assert not left.is_allocated
    assert not left.reserved_for
    assert not left.metadata.finalizers


def test_a_claim_that_nobody_ever_used_stays_allocated() -> None:
    here = world(node("n1"), claim(), pod("a", resourceClaims=SHARED))
    allocated(here)
    asyncio.run(here.cluster.delete_pod(named(here, "a")))
    assert only_claim(here).is_allocated


def test_a_deleted_claim_stays_while_a_pod_uses_it() -> None:
    here = world(node("n1"), claim(), pod("a", resourceClaims=SHARED))
    asyncio.run(here.cluster.delete(allocated(here, named(here, "a"))))
    assert only_claim(here).is_terminating
    assert only_claim(here).is_allocated
    asyncio.run(here.cluster.delete_pod(named(here, "a")))
    assert claims(here) == []


def test_a_deleted_claim_that_nobody_uses_goes_at_once() -> None:
    here = world(node("n1"), claim())
    asyncio.run(here.cluster.delete(allocated(here)))
    assert claims(here) == []


def test_a_pod_that_was_put_on_its_node_reserves_what_its_claim_has() -> None:
    here = world(node("n1"), claim(allocation=GIVEN), pod("a", nodeName="n1", resourceClaims=SHARED))
    assert only_claim(here).is_reserved_for(named(here, "a").uid)


def test_a_reservation_for_a_pod_that_is_gone_is_taken_off_when_it_is_written() -> None:
    here = world(node("n1"), claim(), pod("a", resourceClaims=SHARED))
    gone = named(here, "a")
    asyncio.run(here.cluster.delete_pod(gone))
    assert not allocated(here, gone).is_allocated


def test_a_consumer_that_the_scheduler_releases_leaves_the_devices_given() -> None:
    here = world(node("n1"), claim(), pod("a", resourceClaims=SHARED))
    given = allocated(here, named(here, "a"))
    asyncio.run(here.cluster.release_claim(given, named(here, "a").uid))
    assert only_claim(here).is_allocated
    assert not only_claim(here).reserved_for
    here.cluster.events.clear()
    asyncio.run(here.cluster.release_claim(given, "another"))
    assert not here.cluster.events


def test_a_claim_that_the_scheduler_makes_is_named_and_goes_with_its_pod() -> None:
    here = world(node("n1"), pod("web"))
    web = named(here, "web")
    owner = OwnerReference(api_version="v1", kind="Pod", name="web", uid=web.uid, controller=True)
    meta = ObjectMeta(generate_name="web-extended-resources-", namespace="default", owner_references=(owner,))
    made = asyncio.run(here.cluster.create(ResourceClaim(metadata=meta)))
    assert made.name.startswith("web-extended-resources-")
    assert made.uid
    assert asyncio.run(here.cluster.read("ResourceClaim", "default", made.name)) == made
    with pytest.raises(ConflictError):
        asyncio.run(here.cluster.create(made))
    asyncio.run(here.cluster.delete_pod(web))
    with pytest.raises(NotFoundError):
        asyncio.run(here.cluster.read("ResourceClaim", "default", made.name))


def test_somebody_who_was_quicker_is_a_conflict() -> None:
    here = world(node("n1"), claim())
    allocated(here)
    with pytest.raises(ConflictError):
        asyncio.run(here.cluster.patch("ResourceClaim", "default", "shared", {"status": {}}, "0", "status"))


def test_claims_come_before_the_pod_that_names_them() -> None:
    here = world(node("n1"))
    made = world(template(), pod("web", resourceClaims=FROM_TEMPLATE))
    web, one_gpu = named(made, "web"), made.cluster.objects.get("ResourceClaimTemplate", "default", "one-gpu")
    here.cluster.objects.put(one_gpu)
    here.cluster.add_pod(web.evolve(status=Pod().status))
    assert [type(each) for each in here.cluster.events] == [ObjectAdded, PodAdded]


def test_the_engine_hears_of_devices_given_back() -> None:
    here = world(node("n1"), claim(), pod("a", resourceClaims=SHARED))
    allocated(here, named(here, "a"))
    here.cluster.events.clear()
    asyncio.run(here.cluster.delete_pod(named(here, "a")))
    (freed,) = (each for each in here.cluster.events if isinstance(each, ObjectChanged))
    assert isinstance(freed.new, ResourceClaim)
    assert not freed.new.is_allocated
