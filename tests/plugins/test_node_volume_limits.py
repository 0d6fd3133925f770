"""NodeVolumeLimits: which volumes count for which driver, how often, and what makes room again."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework import SKIP, Change, Code, CycleState
from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.plugins.node_volume_limits import TOO_MANY, NodeVolumeLimits
from bayplan.testing import PodBuilder, cluster, make, node, pod, reasons, run_filter
from bayplan.testing.agreement import assert_forms_agree
from tests.plugins.storage import (
    DRIVER,
    EPHEMERAL,
    attachment,
    claim,
    csi_node,
    csi_volume,
    storage_class,
    volume,
)

EBS, GCE = "ebs.csi.aws.com", "pd.csi.storage.gke.io"
OBJECTS: list[Any] = [
    storage_class("wait"),
    storage_class("old", "kubernetes.io/aws-ebs"),
    storage_class("older", "kubernetes.io/vsphere-volume"),
    claim("one", volume="v1"),
    claim("two", volume="v2"),
    claim("same-as-one", volume="v1-again"),
    claim("of-another-driver", volume="v3"),
    claim("to-be-made"),
    claim("to-be-made-too"),
    claim("old-to-be-made", of="old"),
    claim("older-to-be-made", of="older"),
    claim("without-class", of=""),
    claim("of-no-class", of="gone"),
    claim("lost", volume="gone"),
    claim("on-disk", volume="path"),
    claim("on-ebs", volume="ebs"),
    claim("own-v", owners=[{"kind": "Pod", "name": "own", "uid": "pod-default-own", "controller": True}]),
    csi_volume("v1", "h1"),
    csi_volume("v1-again", "h1"),
    csi_volume("v2", "h2"),
    csi_volume("v3", "h1", "other.example.com"),
    volume("path", spec={"hostPath": {"path": "/x"}}),
    volume("ebs", spec={"awsElasticBlockStore": {"volumeID": "aws://a/vol-1"}}),
]

COUNTED: list[tuple[str, PodBuilder, list[PodBuilder], list[Any], dict[str, int | None], bool]] = [
    ("it fits", pod("a").claim("one"), [], [], {DRIVER: 1}, True),
    ("the limit is 0", pod("a").claim("one"), [], [], {DRIVER: 0}, False),
    ("there is one volume already", pod("a").claim("one"), [pod("b").claim("two")], [], {DRIVER: 1}, False),
    ("there is room for both", pod("a").claim("one"), [pod("b").claim("two")], [], {DRIVER: 2}, True),
    ("it brings two", pod("a").claim("one").claim("two"), [], [], {DRIVER: 1}, False),
    ("its volume is there already", pod("a").claim("one"), [pod("b").claim("one")], [], {DRIVER: 1}, True),
    ("two claims are one volume", pod("a").claim("one").claim("same-as-one"), [], [], {DRIVER: 1}, True),
    ("the driver says no number", pod("a").claim("one"), [pod("b").claim("two")], [], {DRIVER: None}, True),
    ("another driver is full", pod("a").claim("one"), [pod("b").claim("of-another-driver")], [], {EBS: 0}, True),
    ("a claim without volume counts for its class", pod("a").claim("to-be-made"), [], [], {DRIVER: 0}, False),
    (
        "claims without volume are different volumes",
        pod("a").claim("to-be-made"),
        [pod("b").claim("to-be-made-too")],
        [],
        {DRIVER: 1},
        False,
    ),
    ("they share such a claim", pod("a").claim("to-be-made"), [pod("b").claim("to-be-made")], [], {DRIVER: 1}, True),
    ("its volume is gone, so the class counts", pod("a").claim("lost"), [], [], {DRIVER: 0}, False),
    ("it has no class", pod("a").claim("without-class"), [], [], {DRIVER: 0}, True),
    ("its class is not there", pod("a").claim("of-no-class"), [], [], {DRIVER: 0}, True),
    ("its volume is nobody's", pod("a").claim("on-disk"), [], [], {DRIVER: 0}, True),
    ("a volume of an old plugin counts for the new driver", pod("a").claim("on-ebs"), [], [], {EBS: 0}, False),
    ("so does an old class", pod("a").claim("old-to-be-made"), [], [], {EBS: 0}, False),
    ("vSphere stays with its plugin", pod("a").claim("older-to-be-made"), [], [], {"csi.vsphere.vmware.com": 0}, True),
    ("an inline disk counts", pod("a").volume("v", gcePersistentDisk={"pdName": "d"}), [], [], {GCE: 0}, False),
    (
        "and is the same on both sides",
        pod("a").volume("v", awsElasticBlockStore={"volumeID": "vol-1"}),
        [pod("b").claim("on-ebs")],
        [],
        {EBS: 1},
        True,
    ),
    ("a claim of its own counts", pod("own").volume("v", ephemeral=EPHEMERAL), [], [], {DRIVER: 0}, False),
    ("claims that are gone count nothing", pod("a").claim("one"), [pod("b").claim("gone")], [], {DRIVER: 1}, True),
    (
        "a claim that is not the other pod's own counts nothing",
        pod("a").claim("one"),
        [pod("b-own").volume("v", ephemeral=EPHEMERAL)],
        [claim("b-own-v")],
        {DRIVER: 1},
        True,
    ),
    ("something is attached still", pod("a").claim("one"), [], [attachment("x", "n", "v2")], {DRIVER: 1}, False),
    ("its own volume is attached still", pod("a").claim("one"), [], [attachment("x", "n", "v1")], {DRIVER: 1}, False),
    (
        "what is attached belongs to a pod",
        pod("a").claim("one"),
        [pod("b").claim("two")],
        [attachment("x", "n", "v2")],
        {DRIVER: 2},
        True,
    ),
    ("something is attached elsewhere", pod("a").claim("one"), [], [attachment("x", "m", "v2")], {DRIVER: 1}, True),
    ("what is attached is gone", pod("a").claim("one"), [], [attachment("x", "n", "gone")], {DRIVER: 1}, True),
    ("what is attached is no CSI volume", pod("a").claim("one"), [], [attachment("x", "n", "path")], {DRIVER: 1}, True),
    ("the attachment names no volume", pod("a").claim("one"), [], [attachment("x", "n", None)], {DRIVER: 1}, True),
    ("the attachment has no driver", pod("a").claim("one"), [], [attachment("x", "n", "v2", "")], {DRIVER: 1}, True),
]


@pytest.mark.parametrize(
    ("case", "asked", "there", "objects", "limits", "fits"), COUNTED, ids=[each[0] for each in COUNTED]
)
def test_limits(
    case: str, asked: PodBuilder, there: list[PodBuilder], objects: list[Any], limits: dict[str, int | None], fits: bool
) -> None:
    cache = cluster(
        [node("n"), node("m")], [each.on("n") for each in there], [*OBJECTS, *objects, csi_node("n", limits)]
    )
    plugin = make(NodeVolumeLimits, cache)
    statuses = run_filter(plugin, asked, cache)
    assert reasons(statuses) == ({} if fits else {"n": ["node(s) exceed max volume count"]})
    assert fits or statuses["n"].code is Code.UNSCHEDULABLE  # type: ignore[union-attr]
    assert_forms_agree(plugin, [asked], cache)


def test_limits_follow_the_objects_as_they_change() -> None:
    """Kept counts must move with attachments, CSINodes, nodes and pods."""
    cache = cluster([node("n")], [], [*OBJECTS, csi_node("n", {DRIVER: 1})])
    plugin, asked = make(NodeVolumeLimits, cache), pod("a").claim("one")
    put, drop = cache.objects.put, cache.objects.drop

    def full() -> list[str]:
        assert_forms_agree(plugin, [asked], cache)
        return sorted(reasons(run_filter(plugin, asked, cache)))

    assert full() == []
    put("VolumeAttachment", "", "x", attachment("x", "n", "v2"))
    assert full() == ["n"]
    put("VolumeAttachment", "", "x", attachment("x", "m", "v2"))
    assert full() == []
    cache.add_node(node("m").build())
    put("CSINode", "", "m", csi_node("m", {DRIVER: 1}))
    assert full() == ["m"]
    put("CSINode", "", "m", csi_node("m", {DRIVER: 2}))
    assert full() == []
    cache.add_pod(pod("b").claim("two").on("n").build())
    cache.remove_node("m")
    assert full() == ["n"]
    drop("CSINode", "", "n")
    assert full() == []
    drop("VolumeAttachment", "", "x")
    put("CSINode", "", "n", csi_node("n", {DRIVER: 1}))
    cache.remove_pod(pod("b").build())
    assert full() == []


def test_room_is_made_by_a_pod_that_is_imagined_gone() -> None:
    user = pod("b").claim("two").on("n").build()
    cache = cluster([node("n")], [user], [*OBJECTS, csi_node("n", {DRIVER: 1})])
    plugin, asked, state = make(NodeVolumeLimits, cache), pod("a").claim("one").build(), CycleState()
    imagined = WhatIfNode(cache.nodes.node(0))
    assert plugin.filter_node(state, asked, imagined) is TOO_MANY
    imagined.remove_pod(user)
    assert plugin.filter_node(state, asked, imagined) is None


UNREADABLE = [
    (
        "a claim that is not there",
        pod("a").claim("none"),
        Code.UNRESOLVABLE,
        'looking up PVC default/none: persistentvolumeclaim "none" not found',
        {"n", "bare"},
    ),
    (
        "a claim of its own that is not its own",
        pod("to-be").volume("made", ephemeral=EPHEMERAL),
        Code.ERROR,
        "PVC default/to-be-made was not created for pod default/to-be (pod is not owner)",
        {"n", "bare"},
    ),
    (
        "a disk that no driver knows",
        pod("a").volume("v", azureDisk={"diskName": "d", "diskURI": "u", "kind": "Shared"}),
        Code.ERROR,
        "converting volume(v) from inline to csi: kind(Shared) is not supported in csi migration",
        {"n"},
    ),
    ("a claim without a name", pod("a").claim(""), Code.ERROR, "PersistentVolumeClaim had no name", {"n", "bare"}),
]


@pytest.mark.parametrize(("case", "asked", "code", "text", "where"), UNREADABLE, ids=[each[0] for each in UNREADABLE])
def test_what_it_says_of(case: str, asked: PodBuilder, code: Code, text: str, where: set[str]) -> None:
    cache = cluster([node("n"), node("bare")], [], [*OBJECTS, csi_node("n", {})])
    plugin = make(NodeVolumeLimits, cache)
    statuses = run_filter(plugin, asked, cache)
    assert {name: (status.code, status.message) for name, status in statuses.items() if status} == dict.fromkeys(
        where, (code, text)
    )
    assert_forms_agree(plugin, [asked], cache)


@pytest.mark.parametrize(
    ("asked", "skips"),
    [
        (pod("a"), True),
        (pod("a").volume("v", emptyDir={}), True),
        (pod("a").volume("v", iscsi={"iqn": "q"}), True),
        (pod("a").claim("one"), False),
        (pod("a").volume("v", ephemeral=EPHEMERAL), False),
        (pod("a").volume("v", vsphereVolume={"volumePath": "p"}), False),
    ],
)
def test_pods_without_anything_to_attach_are_left_alone(asked: PodBuilder, skips: bool) -> None:
    cache = cluster([node("n")])
    plugin = make(NodeVolumeLimits, cache)
    assert (plugin.pre_filter(CycleState(), asked.build(), cache.nodes) is SKIP) is skips
    assert (plugin.promise(asked.build().template) is not None) is skips


WAITING = pod("a").claim("one")
DISK = pod("a").volume("v", awsElasticBlockStore={"volumeID": "vol-1"})
HINTS: list[tuple[str, PodBuilder, str, Change, Any, Any, bool]] = [
    ("a limit grew", WAITING, "CSINode", Change.UPDATED, csi_node("n", {"d": 1}), csi_node("n", {"d": 2}), True),
    ("a driver came", WAITING, "CSINode", Change.UPDATED, csi_node("n", {}), csi_node("n", {"d": 1}), True),
    ("one without limit", WAITING, "CSINode", Change.UPDATED, csi_node("n", {}), csi_node("n", {"d": None}), False),
    ("a limit shrank", WAITING, "CSINode", Change.UPDATED, csi_node("n", {"d": 2}), csi_node("n", {"d": 1}), False),
    ("a pod with a claim went", WAITING, "Pod", Change.DELETED, pod("b").claim("x").on("n").build(), None, True),
    ("a nominated one went", WAITING, "Pod", Change.DELETED, pod("b").claim("x").nominated("n").build(), None, True),
    ("one without a node went", WAITING, "Pod", Change.DELETED, pod("b").claim("x").build(), None, False),
    ("a pod without claims went", WAITING, "Pod", Change.DELETED, pod("b").on("n").build(), None, False),
    ("its claim came", WAITING, "PersistentVolumeClaim", Change.ADDED, None, claim("one"), True),
    ("another claim came", WAITING, "PersistentVolumeClaim", Change.ADDED, None, claim("two"), False),
    ("one elsewhere came", WAITING, "PersistentVolumeClaim", Change.ADDED, None, claim("one", namespace="x"), False),
    (
        "a claim of its own came",
        pod("a").volume("v", ephemeral=EPHEMERAL),
        "PersistentVolumeClaim",
        Change.ADDED,
        None,
        claim("a-v"),
        True,
    ),
    ("something was detached", WAITING, "VolumeAttachment", Change.DELETED, attachment("x", "n", "v"), None, True),
    ("its driver detached", DISK, "VolumeAttachment", Change.DELETED, attachment("x", "n", "v", EBS), None, True),
    ("another driver detached", DISK, "VolumeAttachment", Change.DELETED, attachment("x", "n", "v"), None, False),
]


@pytest.mark.parametrize(
    ("case", "waiting", "kind", "change", "old", "new", "helps"), HINTS, ids=[each[0] for each in HINTS]
)
def test_what_brings_the_pod_back(
    case: str, waiting: PodBuilder, kind: str, change: Change, old: Any, new: Any, helps: bool
) -> None:
    (rule,) = (each for each in make(NodeVolumeLimits).requeue_on() if (each.kind, each.change) == (kind, change))
    assert rule.hint is not None
    assert rule.hint(waiting.build(), old, new) is helps


def test_every_new_csi_node_brings_the_pod_back() -> None:
    rules = make(NodeVolumeLimits).requeue_on()
    assert (rules[0].kind, rules[0].change, rules[0].hint) == ("CSINode", Change.ADDED, None)
