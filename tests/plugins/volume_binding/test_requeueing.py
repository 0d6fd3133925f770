"""Which changes bring back a pod that VolumeBinding turned down."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework import Change
from bayplan.framework.events import ClusterEvent
from bayplan.objects.volume import MIGRATED_PLUGINS
from bayplan.plugins.volume_binding import VolumeBinding
from bayplan.testing import PodBuilder, make, pod
from tests.plugins.storage import EPHEMERAL, claim, csi_driver, csi_node, room, storage_class

WAITING = pod("a").claim("c")
INLINE = pod("a").volume("v", csi={"driver": "csi.example.com"})
ZONES = [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}]
CLASS, CLAIM, ROOM = "StorageClass", "PersistentVolumeClaim", "CSIStorageCapacity"
PLUGIN = {MIGRATED_PLUGINS: "kubernetes.io/gce-pd"}

HINTS: list[tuple[str, PodBuilder, str, Any, Any, bool]] = [
    ("a class came", WAITING, CLASS, None, storage_class("any"), True),
    (
        "a class allows other places",
        WAITING,
        CLASS,
        storage_class("s"),
        storage_class("s", allowedTopologies=ZONES),
        True,
    ),
    ("a class changed otherwise", WAITING, CLASS, storage_class("s"), storage_class("s", labels={"a": "b"}), False),
    ("its claim came", WAITING, CLAIM, None, claim("c"), True),
    ("its claim changed", WAITING, CLAIM, claim("c"), claim("c", volume="v"), True),
    ("another claim came", WAITING, CLAIM, None, claim("d"), False),
    ("one elsewhere came", WAITING, CLAIM, None, claim("c", namespace="x"), False),
    ("its own claim came", pod("a").volume("v", ephemeral=EPHEMERAL), CLAIM, None, claim("a-v"), True),
    ("a CSINode came", WAITING, "CSINode", None, csi_node("n", {}), True),
    ("a driver took volumes over", WAITING, "CSINode", csi_node("n", {}), csi_node("n", {}, annotations=PLUGIN), True),
    ("a CSINode changed otherwise", WAITING, "CSINode", csi_node("n", {}), csi_node("n", {"d": 1}), False),
    ("a driver stopped tracking", INLINE, "CSIDriver", csi_driver(tracks=True), csi_driver(tracks=False), True),
    ("a driver started tracking", INLINE, "CSIDriver", csi_driver(tracks=False), csi_driver(tracks=True), False),
    ("another driver stopped", INLINE, "CSIDriver", csi_driver("x"), csi_driver("x", tracks=None), False),
    ("a driver stopped, for claims", WAITING, "CSIDriver", csi_driver(), csi_driver(tracks=False), False),
    ("room came", WAITING, ROOM, None, room("r", "s"), True),
    ("room was told", WAITING, ROOM, room("r", "s"), room("r", "s", capacity="1Gi"), True),
    ("room grew", WAITING, ROOM, room("r", "s", capacity="1Gi"), room("r", "s", capacity="2Gi"), True),
    ("room shrank", WAITING, ROOM, room("r", "s", capacity="2Gi"), room("r", "s", capacity="1Gi"), False),
    ("room is told no more", WAITING, ROOM, room("r", "s", capacity="2Gi"), room("r", "s"), False),
]


@pytest.mark.parametrize(("case", "waiting", "kind", "old", "new", "helps"), HINTS, ids=[each[0] for each in HINTS])
def test_hints(case: str, waiting: PodBuilder, kind: str, old: Any, new: Any, helps: bool) -> None:
    (rule,) = (each for each in make(VolumeBinding).requeue_on() if each.kind == kind)
    assert rule.hint is not None
    assert rule.hint(waiting.build(), old, new) is helps


@pytest.mark.parametrize(
    ("kind", "change", "listens"),
    [
        ("PersistentVolume", Change.ADDED, True),
        ("PersistentVolume", Change.UPDATED, True),
        ("PersistentVolume", Change.DELETED, False),
        ("Node", Change.ADDED, True),
        ("Node", Change.LABEL, True),
        ("Node", Change.ALLOCATABLE, False),
        ("CSIDriver", Change.ADDED, False),
    ],
)
def test_events_it_listens_to(kind: str, change: Change, listens: bool) -> None:
    event = ClusterEvent(kind, change)
    assert any(rule.matches(event) for rule in make(VolumeBinding).requeue_on()) is listens
