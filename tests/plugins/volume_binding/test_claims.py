"""What VolumeBinding makes of a pod's claims before it looks at nodes."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework import SKIP, Code, CycleState
from bayplan.framework.status import as_status
from bayplan.objects.volume import SELECTED_NODE
from bayplan.plugins.volume_binding import VolumeBinding
from bayplan.plugins.volume_binding.plugin import CLAIMS
from bayplan.testing import PodBuilder, cluster, make, node, pod
from tests.plugins.storage import DRIVER, EPHEMERAL, claim, csi_driver, room, storage_class, volume

OWN = {"kind": "Pod", "name": "a", "uid": "pod-default-a", "controller": True}
ASKED = pod("a").claim("c")
EPHEMERAL_POD = pod("a").volume("v", ephemeral=EPHEMERAL)


def prepared(asked: PodBuilder, objects: list[Any]) -> Any:
    """The state after PreFilter, or its status."""
    cache, state = cluster([node("n")], [], objects), CycleState()
    status = as_status(make(VolumeBinding, cache).pre_filter(state, asked.build(), cache.nodes))
    return state[CLAIMS] if status.is_success else status


REFUSED: list[tuple[str, PodBuilder, list[Any], str]] = [
    ("the claim is not there", ASKED, [], 'persistentvolumeclaim "c" not found'),
    (
        "its own claim is not there yet",
        EPHEMERAL_POD,
        [],
        'waiting for ephemeral volume controller to create the persistentvolumeclaim "a-v"',
    ),
    (
        "its own claim is somebody else's",
        EPHEMERAL_POD,
        [claim("a-v", owners=[OWN | {"uid": "other"}])],
        "PVC default/a-v was not created for pod default/a (pod is not owner)",
    ),
    (
        "the claim lost its volume",
        ASKED,
        [claim("c", volume="v", phase="Lost")],
        'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
    ),
    ("the claim is being deleted", ASKED, [claim("c", deleted=True)], 'persistentvolumeclaim "c" is being deleted'),
    (
        "the claim should have been bound at once",
        ASKED,
        [claim("c"), storage_class("wait", waits=False)],
        "pod has unbound immediate PersistentVolumeClaims",
    ),
    (
        "the class is not there",
        ASKED,
        [claim("c", of="gone")],
        "pod has unbound immediate PersistentVolumeClaims",
    ),
    ("there is no class", ASKED, [claim("c", of="")], "pod has unbound immediate PersistentVolumeClaims"),
    (
        "the claim names a volume and nobody has bound them",
        ASKED,
        [claim("c", volume="v", annotations={}), storage_class("wait")],
        "pod has unbound immediate PersistentVolumeClaims",
    ),
    (
        "one of two claims should have been bound",
        pod("a").claim("waits").claim("c"),
        [claim("waits"), storage_class("wait"), claim("c", of="")],
        "pod has unbound immediate PersistentVolumeClaims",
    ),
]


@pytest.mark.parametrize(("case", "asked", "objects", "text"), REFUSED, ids=[each[0] for each in REFUSED])
def test_no_node_would_do_if(case: str, asked: PodBuilder, objects: list[Any], text: str) -> None:
    status = prepared(asked, objects)
    assert (status.code, status.message) == (Code.UNRESOLVABLE, text)


def test_a_class_without_binding_mode_is_an_error() -> None:
    status = prepared(ASKED, [claim("c"), storage_class("wait", waits=None)])
    assert (status.code, status.message) == (Code.ERROR, 'VolumeBindingMode not set for StorageClass "wait"')


@pytest.mark.parametrize(
    "asked", [pod("a"), pod("a").volume("v", emptyDir={}), pod("a").volume("v", rbd={"image": "i"})]
)
def test_pods_without_claims_are_left_alone(asked: PodBuilder) -> None:
    cache = cluster([node("n")])
    plugin = make(VolumeBinding, cache)
    assert plugin.pre_filter(CycleState(), asked.build(), cache.nodes) is SKIP
    promise = plugin.promise(asked.build().template)
    assert promise is not None
    assert not promise.reserves


def test_claims_are_told_apart() -> None:
    claims = prepared(
        pod("a").claim("bound").claim("large").claim("small").claim("chosen").volume("v", ephemeral=EPHEMERAL),
        [
            storage_class("wait"),
            claim("bound", volume="there"),
            volume("there"),
            claim("large", size="5Gi"),
            claim("small", size="1Gi"),
            claim("chosen", annotations={SELECTED_NODE: "n"}),
            claim("a-v", owners=[OWN], size="2Gi"),
        ],
    )
    assert [(each.claim.name, each.volume.name) for each in claims.bound] == [("bound", "there")]
    assert [each.claim.name for each in claims.selected] == ["chosen"]
    assert [each.claim.name for each in claims.open] == ["small", "a-v", "large"]


def test_the_old_annotation_names_the_class() -> None:
    old = "volume.beta.kubernetes.io/storage-class"
    claims = prepared(
        ASKED,
        [
            storage_class("wait"),
            claim("c", of="gone", annotations={old: "wait"}),
            volume("annotated", of="gone", annotations={old: "wait"}),
            volume("other", annotations={old: "gone"}),
        ],
    )
    assert [each.name for each in claims.open[0].open] == ["annotated"]


UNFIT: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("it is too small", {}, {"size": "1023Mi"}),
    ("it is of another class", {}, {"of": "other"}),
    ("it is in use", {}, {"phase": "Bound"}),
    ("it is released", {}, {"phase": "Released"}),
    ("it is being deleted", {}, {"deleted": True}),
    ("it is set aside for another claim", {}, {"spec": {"claimRef": {"namespace": "default", "name": "d"}}}),
    ("it is a block device", {}, {"spec": {"volumeMode": "Block"}}),
    ("a block device is wanted", {"spec": {"volumeMode": "Block"}}, {}),
    ("its attributes differ", {}, {"spec": {"volumeAttributesClassName": "fast"}}),
    ("other attributes are wanted", {"spec": {"volumeAttributesClassName": "fast"}}, {}),
    ("it cannot be mounted so", {"spec": {"accessModes": ["ReadWriteOnce", "ReadWriteMany"]}}, {}),
    ("its labels are others", {"spec": {"selector": {"matchLabels": {"tier": "gold"}}}}, {"labels": {"tier": "tin"}}),
]


@pytest.mark.parametrize(("case", "wanted", "offered"), UNFIT, ids=[each[0] for each in UNFIT])
def test_a_volume_is_not_taken_if(case: str, wanted: dict[str, Any], offered: dict[str, Any]) -> None:
    objects = [storage_class("wait"), storage_class("other"), claim("c", **wanted), volume("v", **offered)]
    (delayed,) = prepared(ASKED, objects).open
    assert (delayed.set_aside, delayed.open) == ((), ())


FIT: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("it is just large enough", {}, {}),
    ("it is larger", {}, {"size": "9Gi"}),
    ("it can be mounted in more ways", {}, {"spec": {"accessModes": ["ReadWriteMany", "ReadWriteOnce"]}}),
    ("both are block devices", {"spec": {"volumeMode": "Block"}}, {"spec": {"volumeMode": "Block"}}),
    ("the mode is written out", {"spec": {"volumeMode": "Filesystem"}}, {}),
    ("it has the labels", {"spec": {"selector": {"matchLabels": {"tier": "gold"}}}}, {"labels": {"tier": "gold"}}),
    ("no size is asked for", {"size": None}, {"size": "1"}),
]


@pytest.mark.parametrize(("case", "wanted", "offered"), FIT, ids=[each[0] for each in FIT])
def test_a_volume_may_be_taken_if(case: str, wanted: dict[str, Any], offered: dict[str, Any]) -> None:
    (delayed,) = prepared(ASKED, [storage_class("wait"), claim("c", **wanted), volume("v", **offered)]).open
    assert [each.name for each in delayed.open] == ["v"]


SET_ASIDE: list[tuple[str, dict[str, Any], bool]] = [
    ("by name", {"namespace": "default", "name": "c"}, True),
    ("by name and uid", {"namespace": "default", "name": "c", "uid": "PersistentVolumeClaim-c"}, True),
    ("for an earlier claim of the name", {"namespace": "default", "name": "c", "uid": "earlier"}, False),
    ("for one elsewhere", {"namespace": "x", "name": "c"}, False),
]


@pytest.mark.parametrize(("case", "reference", "counts"), SET_ASIDE, ids=[each[0] for each in SET_ASIDE])
def test_a_volume_set_aside(case: str, reference: dict[str, str], counts: bool) -> None:
    """Its phase, labels and access modes do not matter then."""
    offered = volume("v", phase="Bound", spec={"claimRef": reference, "accessModes": []})
    (delayed,) = prepared(ASKED, [storage_class("wait"), claim("c"), offered, volume("open")]).open
    assert [each.name for each in delayed.set_aside] == (["v"] if counts else [])
    assert [each.name for each in delayed.open] == ["open"]


ROOM: list[tuple[str, list[Any], set[str] | None]] = [
    ("the driver is not known", [], None),
    ("the driver does not track it", [csi_driver(tracks=None)], None),
    ("there is none", [csi_driver()], set()),
    ("there is enough", [csi_driver(), room("r", "wait", capacity="2Gi")], {"r"}),
    ("there is too little", [csi_driver(), room("r", "wait", capacity="1023Mi")], set()),
    ("no volume can be that large", [csi_driver(), room("r", "wait", capacity="9Gi", maximumVolumeSize="1Mi")], set()),
    ("it is of another class", [csi_driver(), room("r", "other", capacity="9Gi")], set()),
    ("the driver has said nothing yet", [csi_driver(), room("r", "wait")], set()),
]


@pytest.mark.parametrize(("case", "objects", "found"), ROOM, ids=[each[0] for each in ROOM])
def test_room_to_make_a_volume(case: str, objects: list[Any], found: set[str] | None) -> None:
    (delayed,) = prepared(ASKED, [storage_class("wait"), claim("c"), *objects]).open
    assert (None if delayed.capacities is None else {each.name for each in delayed.capacities}) == found


def test_room_is_not_asked_for_a_claim_without_a_size() -> None:
    (delayed,) = prepared(ASKED, [storage_class("wait"), claim("c", size=None), csi_driver(DRIVER)]).open
    assert delayed.capacities is None
