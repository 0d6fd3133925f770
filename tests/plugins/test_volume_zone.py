"""VolumeZone: where the labels of bound volumes let a pod run, when that cannot be told, and what changes it."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework import SKIP, Change, Code, CycleState
from bayplan.framework.status import as_status
from bayplan.plugins.volume_zone import VolumeZone
from bayplan.testing import NodeBuilder, PodBuilder, cluster, make, node, pod, reasons, run_filter
from bayplan.testing.agreement import assert_forms_agree
from tests.plugins.storage import EPHEMERAL, claim, storage_class, volume

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE, OLD_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
ASKED = pod("a").claim("c")

PLACES: list[tuple[str, dict[str, str], NodeBuilder, bool]] = [
    ("the zone of the volume", {ZONE: "a"}, node("n").label({ZONE: "a"}), True),
    ("another zone", {ZONE: "a"}, node("n").label({ZONE: "b"}), False),
    ("one of several zones", {ZONE: "a__b"}, node("n").label({ZONE: "b"}), True),
    ("none of several zones", {ZONE: "a__b"}, node("n").label({ZONE: "c"}), False),
    ("the region of the volume", {REGION: "r"}, node("n").label({REGION: "r"}), True),
    ("the zone in another region", {ZONE: "a", REGION: "r"}, node("n").label({ZONE: "a", REGION: "s"}), False),
    ("no zone at all", {ZONE: "a"}, node("n").label(rack="r"), True),
    ("a region but no zone", {ZONE: "a"}, node("n").label({REGION: "r"}), False),
    ("the zone by its old name", {OLD_ZONE: "a"}, node("n").label({OLD_ZONE: "a"}), True),
    ("the zone by its new name", {OLD_ZONE: "a"}, node("n").label({ZONE: "a"}), True),
    ("another zone by the old name", {OLD_ZONE: "a"}, node("n").label({OLD_ZONE: "b", ZONE: "a"}), False),
    ("the old name of what the volume says newly", {ZONE: "a"}, node("n").label({OLD_ZONE: "a"}), False),
    ("the region by its new name", {OLD_REGION: "r"}, node("n").label({REGION: "r"}), True),
    ("any zone, if its label is odd", {ZONE: "a____b", REGION: "r"}, node("n").label({ZONE: "c", REGION: "r"}), True),
]


@pytest.mark.parametrize(("case", "labels", "where", "fits"), PLACES, ids=[each[0] for each in PLACES])
def test_a_pod_with_a_volume_in_a_zone_fits_a_node_with(
    case: str, labels: dict[str, str], where: NodeBuilder, fits: bool
) -> None:
    cache = cluster([where, node("other").label({ZONE: "z"})], [], [claim("c", volume="v"), volume("v", labels=labels)])
    plugin = make(VolumeZone, cache)
    assert ("n" not in reasons(run_filter(plugin, ASKED, cache))) is fits
    assert_forms_agree(plugin, [ASKED], cache)


def test_the_reason_cannot_be_resolved_by_evicting() -> None:
    objects = [claim("c", volume="v"), volume("v", labels={ZONE: "a"})]
    cache = cluster([node("n").zone("b")], [], objects)
    status = run_filter(make(VolumeZone, cache), ASKED, cache)["n"]
    assert status is not None
    assert (status.code, status.message) == (Code.UNRESOLVABLE, "node(s) had no available volume zone")


def test_without_its_pre_filter_it_finds_the_zones_itself() -> None:
    cache = cluster([node("n").zone("b")], [], [claim("c", volume="v"), volume("v", labels={ZONE: "a"})])
    plugin, state = make(VolumeZone, cache), CycleState()
    assert plugin.filter(state, ASKED.build(), cache.nodes).codes.tolist() == [1]
    assert plugin.filter_node(state, ASKED.build(), cache.nodes.node(0)) is not None


SKIPPED = [
    ("has no volumes", pod("a")),
    ("has no claims", pod("a").volume("v", emptyDir={})),
    ("has a claim made for it alone", pod("a").volume("v", ephemeral=EPHEMERAL)),
    ("waits to be placed before its volume is chosen", pod("a").claim("waits")),
    ("has a volume that says no zone", pod("a").claim("anywhere")),
]


@pytest.mark.parametrize(("case", "asked"), SKIPPED, ids=[each[0] for each in SKIPPED])
def test_it_is_skipped_for_a_pod_that(case: str, asked: PodBuilder) -> None:
    objects = [claim("waits"), storage_class("wait"), claim("anywhere", volume="v"), volume("v")]
    cache = cluster([node("n").zone("a")], [], objects)
    assert make(VolumeZone, cache).pre_filter(CycleState(), asked.build(), cache.nodes) is SKIP


UNKNOWN: list[tuple[str, list[Any], str]] = [
    ("its claim is not there", [], 'persistentvolumeclaim "c" not found'),
    ("its volume is not there", [claim("c", volume="v")], 'persistentvolume "v" not found'),
    ("its claim has no class", [claim("c", of="")], "PersistentVolumeClaim had no pv name and storageClass name"),
    ("its class is not there", [claim("c")], 'storageclass.storage.k8s.io "wait" not found'),
    (
        "its class has no mode",
        [claim("c"), storage_class("wait", waits=None)],
        'VolumeBindingMode not set for StorageClass "wait"',
    ),
    ("its claim should be bound", [claim("c"), storage_class("wait", waits=False)], "PersistentVolume had no name"),
]


@pytest.mark.parametrize(("case", "objects", "text"), UNKNOWN, ids=[each[0] for each in UNKNOWN])
def test_a_pod_waits_while(case: str, objects: list[Any], text: str) -> None:
    cache = cluster([node("n")], [], objects)
    status = as_status(make(VolumeZone, cache).pre_filter(CycleState(), ASKED.build(), cache.nodes))
    assert (status.code, status.message) == (Code.UNRESOLVABLE, text)


def test_a_claim_without_a_name_is_told() -> None:
    cache = cluster([node("n")])
    status = as_status(make(VolumeZone, cache).pre_filter(CycleState(), pod("a").claim("").build(), cache.nodes))
    assert status.message == "PersistentVolumeClaim had no name"


HINTS: list[tuple[str, str, Any, Any, bool]] = [
    ("a class that waits came", "StorageClass", None, storage_class("wait"), True),
    ("a class that binds at once came", "StorageClass", None, storage_class("now", waits=False), False),
    ("its claim came", "PersistentVolumeClaim", None, claim("c"), True),
    ("its claim changed", "PersistentVolumeClaim", claim("c"), claim("c", volume="v"), True),
    ("another claim came", "PersistentVolumeClaim", None, claim("d"), False),
    ("a claim of another namespace came", "PersistentVolumeClaim", None, claim("c", namespace="x"), False),
    ("a volume came", "PersistentVolume", None, volume("v"), True),
    ("a volume moved", "PersistentVolume", volume("v", labels={ZONE: "a"}), volume("v", labels={ZONE: "b"}), True),
    ("a volume changed otherwise", "PersistentVolume", volume("v"), volume("v", labels={"tier": "gold"}), False),
]


@pytest.mark.parametrize(("case", "kind", "old", "new", "helps"), HINTS, ids=[each[0] for each in HINTS])
def test_what_brings_the_pod_back(case: str, kind: str, old: Any, new: Any, helps: bool) -> None:
    (rule,) = (each for each in make(VolumeZone).requeue_on() if each.kind == kind)
    assert rule.hint is not None
    assert rule.hint(ASKED.build(), old, new) is helps


def test_every_new_node_and_every_change_of_node_labels_brings_it_back() -> None:
    (rule,) = (each for each in make(VolumeZone).requeue_on() if each.kind == "Node")
    assert (rule.change, rule.hint) == (Change.ADDED | Change.LABEL, None)
