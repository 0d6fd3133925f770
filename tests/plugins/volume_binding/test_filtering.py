"""Which nodes VolumeBinding lets a pod run on, and what it would bind there."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework import Code, CycleState
from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.volume import MIGRATED_PLUGINS, SELECTED_NODE
from bayplan.plugins.volume_binding import VolumeBinding
from bayplan.plugins.volume_binding.filtering import Found, on_node
from bayplan.plugins.volume_binding.plugin import CLAIMS
from bayplan.testing import PodBuilder, cluster, make, node, pod, reasons, run_filter
from bayplan.testing.agreement import assert_forms_agree
from tests.plugins.storage import claim, csi_driver, csi_node, room, storage_class, volume

NODE = "node(s) didn't match PersistentVolume's node affinity"
BIND = "node(s) didn't find available persistent volumes to bind"
SPACE = "node(s) did not have enough free storage"
GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
ZONE = "topology.kubernetes.io/zone"
EBS_ZONE = "topology.ebs.csi.aws.com/zone"
LOCAL = storage_class("local", "kubernetes.io/no-provisioner")
WAIT = storage_class("wait")
ASKED = pod("a").claim("c")
NODES = [node("n1").zone("a"), node("n2").zone("b")]


def zones(*values: str) -> list[Any]:
    return [{"matchLabelExpressions": [{"key": ZONE, "values": list(values)}]}]


def ebs(**fields: Any) -> Any:
    return volume("v", spec={"awsElasticBlockStore": {"volumeID": "vol-1"}}, **fields)


def migrated(name: str) -> Any:
    return csi_node(name, {}, annotations={MIGRATED_PLUGINS: "kubernetes.io/aws-ebs,kubernetes.io/gce-pd"})


FILTERED: list[tuple[str, PodBuilder, list[Any], dict[str, list[str]]]] = [
    ("a bound volume reached from everywhere", ASKED, [claim("c", volume="v"), volume("v")], {}),
    ("a bound volume in one zone", ASKED, [claim("c", volume="v"), volume("v", at={ZONE: "a"})], {"n2": [NODE]}),
    ("a bound volume that is gone", ASKED, [claim("c", volume="v")], {"n1": [GONE], "n2": [GONE]}),
    (
        "of two bound volumes the first that does not suit is told",
        pod("a").claim("c").claim("d"),
        [claim("c", volume="v"), volume("v", at={ZONE: "a"}), claim("d", volume="gone")],
        {"n1": [GONE], "n2": [NODE]},
    ),
    ("no volume and nobody to make one", ASKED, [LOCAL, claim("c", of="local")], {"n1": [BIND], "n2": [BIND]}),
    (
        "a volume on one node",
        ASKED,
        [LOCAL, claim("c", of="local"), volume("v", of="local", at={HOST: "n2"})],
        {"n1": [BIND]},
    ),
    ("a volume can be made", ASKED, [WAIT, claim("c")], {}),
    (
        "a volume can be made in one zone",
        ASKED,
        [storage_class("wait", allowedTopologies=zones("b", "c")), claim("c")],
        {"n1": [BIND]},
    ),
    (
        "there is a volume where none can be made",
        ASKED,
        [storage_class("wait", allowedTopologies=zones("b")), claim("c"), volume("v", at={ZONE: "a"})],
        {},
    ),
    (
        "two claims, one volume for both",
        pod("a").claim("c").claim("d"),
        [LOCAL, claim("c", of="local"), claim("d", of="local"), volume("v", of="local", at={HOST: "n1"})],
        {"n1": [BIND], "n2": [BIND]},
    ),
    (
        "two claims, a volume for each",
        pod("a").claim("c").claim("d"),
        [LOCAL, claim("c", of="local"), claim("d", of="local", size="2Gi")]
        + [volume(name, of="local", size=size, at={HOST: "n1"}) for name, size in (("v", "1Gi"), ("w", "3Gi"))],
        {"n2": [BIND]},
    ),
    (
        "a volume set aside is taken where it is reached, and no other anywhere",
        ASKED,
        [
            LOCAL,
            claim("c", of="local"),
            volume("mine", of="local", at={HOST: "n1"}, spec={"claimRef": {"namespace": "default", "name": "c"}}),
            volume("other", of="local", at={HOST: "n2"}),
        ],
        {"n2": [BIND]},
    ),
    (
        "a node was selected before",
        ASKED,
        [WAIT, claim("c", annotations={SELECTED_NODE: "n2"})],
        {"n1": [BIND]},
    ),
    (
        "the node that was selected is gone",
        ASKED,
        [WAIT, claim("c", annotations={SELECTED_NODE: "n3"})],
        {"n1": [BIND], "n2": [BIND]},
    ),
    (
        "a selected node where no volume can be made any more",
        ASKED,
        [storage_class("wait", allowedTopologies=zones("a")), claim("c", annotations={SELECTED_NODE: "n2"})],
        {"n1": [BIND], "n2": [BIND]},
    ),
    (
        "room in one zone",
        ASKED,
        [WAIT, claim("c"), csi_driver(), room("r", "wait", capacity="2Gi", nodeTopology={"matchLabels": {ZONE: "a"}})],
        {"n2": [SPACE]},
    ),
    (
        "room everywhere",
        ASKED,
        [WAIT, claim("c"), csi_driver(), room("r", "wait", capacity="2Gi", nodeTopology={})],
        {},
    ),
    (
        "room nowhere",
        ASKED,
        [WAIT, claim("c"), csi_driver(), room("r", "wait", capacity="2Gi")],
        {"n1": [SPACE], "n2": [SPACE]},
    ),
    (
        "both kinds of claims can be at fault, and both are told",
        pod("a").claim("c").claim("d").claim("e"),
        [
            claim("c", volume="v"),
            volume("v", at={ZONE: "a"}, phase="Bound"),
            WAIT,
            claim("d"),
            csi_driver(),
            claim("e", volume="gone"),
        ],
        {"n1": [SPACE, GONE], "n2": [NODE, SPACE]},
    ),
    (
        "fields of the node are not looked at",
        ASKED,
        [
            claim("c", volume="v"),
            volume(
                "v",
                spec={
                    "nodeAffinity": {
                        "required": {
                            "nodeSelectorTerms": [
                                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
                            ]
                        }
                    }
                },
            ),
        ],
        {},
    ),
    (
        "an EBS volume goes by the driver's labels where the driver looks after it",
        ASKED,
        [claim("c", volume="v"), ebs(at={ZONE: "a"}), migrated("n1")],
        {"n1": [NODE], "n2": [NODE]},
    ),
    (
        "its zone label is enough for that",
        ASKED,
        [claim("c", volume="v"), ebs(labels={ZONE: "a"}), migrated("n1")],
        {"n1": [NODE]},
    ),
    (
        "and by its own where not",
        ASKED,
        [claim("c", volume="v"), ebs(at={ZONE: "a"}), csi_node("n1", {})],
        {"n2": [NODE]},
    ),
]


@pytest.mark.parametrize(("case", "asked", "objects", "expected"), FILTERED, ids=[each[0] for each in FILTERED])
def test_nodes(case: str, asked: PodBuilder, objects: list[Any], expected: dict[str, list[str]]) -> None:
    cache = cluster(NODES, [], objects)
    plugin = make(VolumeBinding, cache)
    statuses = run_filter(plugin, asked, cache)
    assert reasons(statuses) == expected
    assert {status.code for status in statuses.values() if status} <= {Code.UNRESOLVABLE}
    assert_forms_agree(plugin, [asked], cache)


def test_a_node_with_the_drivers_labels_reaches_the_volume() -> None:
    objects = [claim("c", volume="v"), ebs(at={ZONE: "a"}), migrated("n1")]
    cache = cluster([node("n1").label({EBS_ZONE: "a"})], [], objects)
    assert reasons(run_filter(make(VolumeBinding, cache), ASKED, cache)) == {}


def test_a_volume_that_no_driver_can_know_is_an_error_where_a_driver_should() -> None:
    broken = volume("v", spec={"awsElasticBlockStore": {"volumeID": "aws://a/b/c"}})
    cache = cluster(NODES, [], [claim("c", volume="v"), broken, migrated("n2")])
    plugin = make(VolumeBinding, cache)
    statuses = run_filter(plugin, ASKED, cache)
    assert statuses["n1"] is None
    assert statuses["n2"] is not None
    assert statuses["n2"].code is Code.ERROR
    assert statuses["n2"].message.startswith("could not translate pv: ")
    assert_forms_agree(plugin, [ASKED], cache)


def test_filtering_without_pre_filter_says_what_is_missing() -> None:
    cache = cluster(NODES)
    plugin = make(VolumeBinding, cache)
    state, asked = CycleState(), ASKED.build()
    status = plugin.filter(state, asked, cache.nodes).statuses[0]
    assert status == plugin.filter_node(state, asked, cache.nodes.node(0))
    assert "preFilter" in status.reasons[0]  # type: ignore[union-attr]


def found(objects: list[Any], asked: PodBuilder = ASKED, name: str = "n1") -> tuple[dict[str, str], list[str]]:
    """What would be bound and made on a node."""
    cache, state = cluster(NODES, [], objects), CycleState()
    plugin = make(VolumeBinding, cache)
    assert plugin.pre_filter(state, asked.build(), cache.nodes) is None
    view = cache.nodes.node(cache.nodes.row_of(name) or 0)
    answer = on_node(state[CLAIMS], name, view.labels, None)
    assert isinstance(answer, Found)
    return {one.name: other.name for one, other in answer.bindings}, [each.name for each in answer.provisions]


CHOSEN: list[tuple[str, list[Any], PodBuilder, dict[str, str], list[str]]] = [
    (
        "the smallest volume that is large enough",
        [volume("large", size="9Gi"), volume("small", size="1Gi"), volume("right", size="2Gi"), claim("c", size="2Gi")],
        ASKED,
        {"c": "right"},
        [],
    ),
    (
        "among equals the first by name",
        [volume("b"), volume("a"), claim("c")],
        ASKED,
        {"c": "a"},
        [],
    ),
    (
        "the smallest claim chooses first",
        [volume("v", size="2Gi"), volume("w", size="3Gi"), claim("c", size="2Gi"), claim("d", size="1Gi")],
        pod("a").claim("c").claim("d"),
        {"d": "v", "c": "w"},
        [],
    ),
    (
        "the volume set aside, though a smaller one is free",
        [
            volume("free"),
            volume("mine", size="9Gi", spec={"claimRef": {"namespace": "default", "name": "c"}}),
            claim("c"),
        ],
        ASKED,
        {"c": "mine"},
        [],
    ),
    (
        "a claim mounted twice takes two volumes, as in kube-scheduler",
        [volume("v"), volume("w", size="2Gi"), claim("c")],
        pod("a").claim("c").volume("again", persistentVolumeClaim={"claimName": "c"}),
        {"c": "w"},
        [],
    ),
    (
        "what is not there is made, the selected first",
        [claim("c"), claim("d", annotations={SELECTED_NODE: "n1"})],
        pod("a").claim("c").claim("d"),
        {},
        ["d", "c"],
    ),
]


@pytest.mark.parametrize(
    ("case", "objects", "asked", "bindings", "provisions"), CHOSEN, ids=[each[0] for each in CHOSEN]
)
def test_what_is_chosen(
    case: str, objects: list[Any], asked: PodBuilder, bindings: dict[str, str], provisions: list[str]
) -> None:
    assert found([WAIT, *objects], asked) == (bindings, provisions)
