"""Names that are not there, and changes that contradict each other: one line each."""

from __future__ import annotations

import pytest

from bayplan.errors import InputError
from bayplan.simulator.what_if.changes import Add, Change, Drain, Reconfigure, Remove, read_delete, read_scale
from tests.simulator.support import ZONE, node, workload
from tests.simulator.what_if.asking import asked

CLUSTER = [
    node("node-1", labels={ZONE: "a", "disk": "ssd"}),
    node("node-2", labels={ZONE: "b"}),
    workload("Deployment", "web", replicas=2),
    workload("DaemonSet", "agent"),
]


def scaled(text: str) -> Change:
    return read_scale(text, "--scale")


def deleted(text: str) -> Change:
    return read_delete(text, "--delete")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([Drain("nod-1")], '--drain: there is no node "nod-1"; did you mean "node-1"?'),
        ([Drain("elsewhere")], '--drain: there is no node "elsewhere"; there are node-1, node-2'),
        ([Remove("other")], '--remove: there is no node "other"; there are node-1, node-2'),
        ([Remove("disk=hdd")], '--remove: no node is selected by "disk=hdd"; disk is ssd'),
        ([Remove("rack=r1")], '--remove: no node is selected by "rack=r1"; no node has a label "rack"'),
        ([Remove("a=b=c")], '--remove: "a=b=c"'),
        ([Add(1, like="node-9")], '--like: there is no node "node-9"'),
        ([scaled("deploy/wbe=3")], '--scale: there is no Deployment "wbe" in namespace "default"; did you mean "web"?'),
        ([scaled("ds/agent=3")], "--scale: a DaemonSet has no size of its own"),
        ([scaled("deploy/web=9000000")], "9000000 pods are too many to simulate"),
        ([Add(1_000_000_000, like="node-1")], "--add: 1000000000 nodes are too many to simulate; write at most 100000"),
        ([Add(60_000, like="node-1"), Add(50_000, like="node-2")], "--add: 110000 nodes are too many to simulate"),
        ([deleted("pdb/web")], '--delete: there is no PodDisruptionBudget "web"'),
        ([Drain("node-1"), Drain("node-1")], "--drain: node-1 is drained twice"),
        ([Drain("node-1"), Remove("node-1")], "--drain: node-1 is drained and removed; leave one of them out"),
        ([Drain("node-1"), Remove("disk=ssd")], "--drain: node-1 is drained and removed"),
        ([Add(1, like="node-1"), Remove("node-1")], "--like: node-1 is removed, so nothing can be like it"),
        ([scaled("deploy/web=3"), deleted("deploy/web")], "--scale: Deployment default/web is scaled and deleted"),
        ([scaled("deploy/web=3"), scaled("deploy/web=4")], "--scale: Deployment default/web is scaled twice"),
        ([Reconfigure("a"), Reconfigure("b")], "--with-config: there can be one new configuration"),
    ],
)
def test_a_change_that_makes_no_sense_is_told_in_one_line(changes: list[Change], told: str) -> None:
    with pytest.raises(InputError) as wrong:
        asked(CLUSTER, *changes)
    assert str(wrong.value).startswith(told) or told in str(wrong.value)
    assert "\n" not in str(wrong.value)


def test_several_mistakes_are_told_at_once() -> None:
    with pytest.raises(InputError) as wrong:
        asked(CLUSTER, Drain("x"), scaled("deploy/y=1"))
    assert len(str(wrong.value).splitlines()) == 2


def test_a_zone_is_found_by_its_well_known_label() -> None:
    assert asked(CLUSTER, Remove("zone=a"))["after"]["nodes"] == 1


def test_what_is_applied_is_not_scaled_or_deleted_as_well() -> None:
    larger = workload("Deployment", "web", replicas=5)
    for change, told in (
        (scaled("deploy/web=3"), "scaled and applied"),
        (deleted("deploy/web"), "deleted and applied"),
    ):
        with pytest.raises(InputError, match=told):
            asked(CLUSTER, change, applied=[larger])


def test_a_replica_set_of_a_deployment_is_left_to_it() -> None:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u", "controller": True}
    owned = workload("ReplicaSet", "web-1", replicas=1)
    owned["metadata"]["ownerReferences"] = [reference]
    with pytest.raises(InputError, match=r"belongs to Deployment web, which would undo it; name deployment/web"):
        asked([*CLUSTER, owned], scaled("rs/web-1=3"))
