"""The ``Cluster`` document of an engine's nodes and of rows of pods."""

from __future__ import annotations

import msgspec

from bayplan.engine.events import NodeAdded
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.node import Node
from bayplan.view.cluster_view import PodRow, cluster_view
from tests.simulator.support import ZONE, node, pod
from tests.view.support import ran

EVIL = "<script>alert(1)</script>"


def test_columns_of_nodes_and_pods_say_what_the_cluster_is() -> None:
    world = ran(
        node("n1", "4", labels={ZONE: "a"}),
        node("n2", "2", labels={ZONE: "b"}, taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]),
        node("n3", "2", labels={ZONE: "b"}, unschedulable=True),
        pod("web", "1", nodeName="n1", priority=7),
        pod("big", "9"),
    )
    pods = [
        PodRow(pod, "Bound" if pod.node_name else "Pending", "" if pod.node_name else "no room", "Job/x", 2, 1.5)
        for pod in world.cluster.living()
    ]
    view = cluster_view(world.scheduler.cache.nodes, pods, name="before")
    strings, nodes, shown = view["strings"], view["nodes"], view["pods"]

    assert view["name"] == "before"
    assert view["summary"] == {"nodes": 3, "pods": 2, "bound": 1, "pending": 1}
    assert view["groupings"] == [ZONE]
    assert nodes["name"] == ["n1", "n2", "n3"]
    assert [strings[each] for each in nodes["labels"][ZONE]] == ["a", "b", "b"]
    assert nodes["allocatable"]["cpu"] == [4000, 2000, 2000]
    assert nodes["requested"]["cpu"] == [1000, 0, 0]
    assert [strings[each] for each in nodes["state"]] == ["", "", "Cordoned"]
    assert strings[nodes["taints"][1]] == "gpu=yes:NoSchedule"
    assert shown["name"] == ["web", "big"]
    assert shown["node"] == [0, -1]
    assert shown["priority"] == [7, 0]
    assert [view["requestSets"][each]["cpu"] for each in shown["requests"]] == [1000, 9000]
    assert [strings[each] for each in shown["message"]] == ["", "no room"]
    assert view["pending"] == [{"pods": [1], "message": "no room", "view": None}]


def test_pending_pods_of_one_owner_that_were_told_the_same_stand_together() -> None:
    world = ran(node("n1", "1"), *(pod(name, "9") for name in "abcd"))
    told = [
        ("Deployment/a", "no cpu"),
        ("Deployment/b", "no cpu"),
        ("Deployment/a", "no cpu"),
        ("Deployment/a", "gate"),
    ]
    rows = [
        PodRow(p, "Pending", message, owner) for p, (owner, message) in zip(world.cluster.living(), told, strict=True)
    ]
    asked: list[str] = []

    def explained(row: PodRow) -> None:
        asked.append(row.pod.name)

    view = cluster_view(world.scheduler.cache.nodes, rows, explained=explained)

    assert [group["pods"] for group in view["pending"]] == [[0, 2], [1], [3]]
    assert asked == ["a", "b", "d"]


def test_hostile_labels_annotations_and_messages_are_text_and_cut() -> None:
    long = "x" * 10_000_000
    world = ran(node("n0"))
    for number, value in enumerate((EVIL, long, EVIL), 1):  # files are refused that say so; a watch may bring it
        hostile = Node(metadata=ObjectMeta(name=f"n{number}", labels={"zone": value, long: "x"}))
        world.scheduler.handle(NodeAdded(hostile))
    (row, *_) = [PodRow(p, "Pending", long + "\u202e", EVIL) for p in ran(node("n"), pod("a", "9")).cluster.living()]
    view = cluster_view(world.scheduler.cache.nodes, [row])

    assert view["strings"][view["nodes"]["labels"]["zone"][1]] == EVIL
    assert len(msgspec.json.encode(view)) < 10_000


def test_a_pod_that_is_gone_is_on_no_node() -> None:
    world = ran(node("n1"), pod("a", nodeName="n1"))
    (living,) = world.cluster.living()
    view = cluster_view(world.scheduler.cache.nodes, [PodRow(living, "Preempted", is_there=False)])
    assert view["pods"]["node"] == [-1]
