"""VolumeRestrictions: which disks collide on a node, who may use a ReadWriteOncePod claim, and what frees them."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework import SKIP, Change, Code, CycleState
from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.framework.status import as_status
from bayplan.objects.pod import Pod
from bayplan.plugins.volume_restrictions import CLAIM_IN_USE, DISK_CONFLICT, VolumeRestrictions
from bayplan.testing import PodBuilder, cluster, make, node, pod, reasons, run_filter
from bayplan.testing.agreement import assert_forms_agree
from tests.plugins.storage import EPHEMERAL, claim

RWOP = {"accessModes": ["ReadWriteOncePod"]}


def gce(name: str, *, read_only: bool = False) -> dict[str, Any]:
    return {"gcePersistentDisk": {"pdName": name, "readOnly": read_only}}


def ebs(name: str, *, read_only: bool = False) -> dict[str, Any]:
    return {"awsElasticBlockStore": {"volumeID": name, "readOnly": read_only}}


def iscsi(name: str, portal: str = "a", *, read_only: bool = False) -> dict[str, Any]:
    return {"iscsi": {"targetPortal": portal, "iqn": name, "lun": 0, "readOnly": read_only}}


def rbd(image: str, pool: str = "p", monitors: str = "ab", *, read_only: bool = False) -> dict[str, Any]:
    return {"rbd": {"monitors": list(monitors), "image": image, "pool": pool, "readOnly": read_only}}


PAIRS: list[tuple[str, dict[str, Any], dict[str, Any], bool]] = [
    ("the same GCE disk", gce("d"), gce("d"), True),
    ("another GCE disk", gce("d"), gce("e"), False),
    ("a GCE disk, one of them read-only", gce("d", read_only=True), gce("d"), True),
    ("a GCE disk, both read-only", gce("d", read_only=True), gce("d", read_only=True), False),
    ("the same EBS volume", ebs("v"), ebs("v"), True),
    ("an EBS volume, both read-only", ebs("v", read_only=True), ebs("v", read_only=True), True),
    ("another EBS volume", ebs("v"), ebs("w"), False),
    ("a GCE disk called like an EBS volume", gce("v"), ebs("v"), False),
    ("the same iSCSI target through another portal", iscsi("q"), iscsi("q", "b"), True),
    ("an iSCSI target, both read-only", iscsi("q", read_only=True), iscsi("q", read_only=True), False),
    ("the same RBD image with one monitor in common", rbd("i", "p", "ab"), rbd("i", "p", "bc"), True),
    ("an RBD image of other monitors", rbd("i", "p", "ab"), rbd("i", "p", "cd"), False),
    ("an RBD image of another pool", rbd("i", "p"), rbd("i", "q"), False),
    ("another RBD image", rbd("i"), rbd("j"), False),
    ("an RBD image, both read-only", rbd("i", read_only=True), rbd("i", read_only=True), False),
    ("a kind of volume that may be shared", {"cinder": {"volumeID": "v"}}, {"cinder": {"volumeID": "v"}}, False),
]


@pytest.mark.parametrize(("case", "mine", "theirs", "collides"), PAIRS, ids=[each[0] for each in PAIRS])
def test_disks_collide(case: str, mine: dict[str, Any], theirs: dict[str, Any], collides: bool) -> None:
    cache = cluster([node("free"), node("busy")], [pod("b").volume("x", **theirs).on("busy")])
    asked, plugin = pod("a").volume("first", emptyDir={}).volume("v", **mine), make(VolumeRestrictions, cache)
    statuses = run_filter(plugin, asked, cache)
    assert reasons(statuses) == ({"busy": ["node(s) had no available disk"]} if collides else {})
    assert_forms_agree(plugin, [asked], cache)


def test_a_disk_is_free_on_a_node_whose_user_is_imagined_gone() -> None:
    user = pod("b").volume("x", **ebs("v")).on("n").build()
    cache = cluster([node("n")], [user])
    plugin, asked, state = make(VolumeRestrictions, cache), pod("a").volume("x", **ebs("v")).build(), CycleState()
    assert plugin.pre_filter(state, asked, cache.nodes) is None
    imagined = WhatIfNode(cache.nodes.node(0))
    assert plugin.filter_node(state, asked, imagined) is DISK_CONFLICT
    imagined.remove_pod(user)
    assert plugin.filter_node(state, asked, imagined) is None


def exclusive(*pods: PodBuilder) -> tuple[VolumeRestrictions, Any]:
    objects = [claim("own", spec=RWOP), claim("shared"), claim("own", spec=RWOP, namespace="x")]
    cache = cluster([node("n1"), node("n2")], pods, objects)
    return make(VolumeRestrictions, cache), cache


def test_a_claim_for_one_pod_that_another_pod_uses_leaves_no_node() -> None:
    plugin, cache = exclusive(pod("b").claim("own").on("n1"))
    statuses = run_filter(plugin, pod("a").claim("own"), cache)
    assert {status.message for status in statuses.values() if status} == {CLAIM_IN_USE.text}
    assert {status.code for status in statuses.values() if status} == {Code.UNSCHEDULABLE}
    assert len(reasons(statuses)) == 2


UNUSED = [
    ("nobody uses it", pod("a").claim("own"), pod("b").on("n1")),
    ("a pod elsewhere uses its own of that name", pod("a").claim("own"), pod("b").namespace("x").claim("own")),
    ("it may be shared", pod("a").claim("shared"), pod("b").claim("shared")),
    ("it has no volumes", pod("a"), pod("b").claim("own")),
    ("it has claims made for it alone", pod("a").volume("v", ephemeral=EPHEMERAL), pod("b").claim("own")),
]


@pytest.mark.parametrize(("case", "asked", "there"), UNUSED, ids=[each[0] for each in UNUSED])
def test_a_pod_is_skipped_if(case: str, asked: PodBuilder, there: PodBuilder) -> None:
    plugin, cache = exclusive(there.on("n1"))
    assert plugin.pre_filter(CycleState(), asked.build(), cache.nodes) is SKIP


def test_a_claim_is_free_on_every_node_once_its_user_is_imagined_gone() -> None:
    plugin, cache = exclusive(pod("b").claim("own").on("n1"))
    asked, state = pod("a").claim("own").build(), CycleState()
    user, other_node = cache.pod("pod-default-b"), cache.nodes.node(1)
    assert plugin.pre_filter(state, asked, cache.nodes) is None
    imagined, changed = WhatIfNode(cache.nodes.node(0)), state.clone()
    imagined.remove_pod(user)
    plugin.remove_pod(changed, asked, user, imagined)
    assert plugin.filter_node(changed, asked, other_node) is None
    plugin.add_pod(changed, asked, user, imagined)
    assert plugin.filter_node(changed, asked, other_node) is CLAIM_IN_USE
    assert plugin.filter_node(state, asked, other_node) is CLAIM_IN_USE


def test_a_claim_that_is_not_there_ends_it() -> None:
    plugin, cache = exclusive()
    status = as_status(plugin.pre_filter(CycleState(), pod("a").claim("none").build(), cache.nodes))
    assert (status.code, status.message) == (Code.UNRESOLVABLE, 'persistentvolumeclaim "none" not found')


WAITING = pod("a").claim("own").volume("disk", **ebs("v")).build()


@pytest.mark.parametrize(
    ("gone", "helps"),
    [
        (pod("b").claim("own"), True),
        (pod("b").volume("x", **ebs("v")), True),
        (pod("b").claim("other").volume("x", **ebs("w")), False),
        (pod("b").namespace("x").claim("own"), False),
        (pod("b").namespace("x").volume("x", **ebs("v")), False),
        (pod("b"), False),
    ],
)
def test_deleting_the_pod_that_held_it_helps(gone: PodBuilder, helps: bool) -> None:
    rule = make(VolumeRestrictions).requeue_on()[0]
    assert (rule.kind, rule.change) == ("Pod", Change.DELETED)
    assert rule.hint is not None
    assert rule.hint(WAITING, gone.build(), None) is helps


@pytest.mark.parametrize(
    ("waiting", "added", "helps"),
    [
        (WAITING, claim("own"), True),
        (WAITING, claim("other"), False),
        (WAITING, claim("own", namespace="x"), False),
        (pod("a").build(), claim("own"), False),
    ],
)
def test_adding_its_claim_helps(waiting: Pod, added: Any, helps: bool) -> None:
    _, nodes, rule = make(VolumeRestrictions).requeue_on()
    assert (rule.kind, rule.change) == ("PersistentVolumeClaim", Change.ADDED)
    assert rule.hint is not None
    assert rule.hint(waiting, None, added) is helps
    assert (nodes.kind, nodes.change, nodes.hint) == ("Node", Change.ADDED, None)
