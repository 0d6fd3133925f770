"""
StickyVM in simulation: the two published walks with the published configuration, nodes that cannot take a machine
back, and many machines at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import structlog
import yaml
from msgspec.structs import replace

from bayplan.engine.events import NodeAdded, NodeChanged, NodeDeleted
from bayplan.objects.kinds import decode
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kubevirt import STICKY_NODE, VirtualMachineInstance
from bayplan.simulator import loading
from bayplan.simulator.simulation import run
from bayplan.simulator.world import World, assemble

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "sticky-vm"
NAME = "kubevirt-smoke-fedora"
FIRST, SECOND = f"virt-launcher-{NAME}-nd4hp", f"virt-launcher-{NAME}-m8f7v"


def documents(*names: str) -> list[dict[str, Any]]:
    return [each for name in names for each in yaml.safe_load_all((EXAMPLE / name).read_text())]


def world_of(raws: list[dict[str, Any]], **args: Any) -> World:
    config = yaml.safe_load((EXAMPLE / "scheduler-config.yaml").read_text())
    if args:
        config["profiles"][0]["pluginConfig"] = [{"name": "StickyVM", "args": args}]
    return assemble(loading.load(loading.documents_of([*raws, config])), now=0.0)


def story(world: World, run_for_s: float | None = None) -> list[str]:
    """Let things happen; what the log tells of it."""
    with structlog.testing.capture_logs() as lines:
        run(world, run_for_s)
    told = (line for line in lines if line["log_level"] in ("debug", "info", "warning"))
    return [line["event"] for line in told if line["event"] != "evaluated in full"]  # that is the engine's own


def note(world: World, name: str = NAME) -> str | None:
    found: str | None = world.cluster.objects.get("VirtualMachine", "default", name).annotations.get(STICKY_NODE)
    return found


def node_of(world: World, pod: str) -> str:
    found = world.cluster.pod(f"default/{pod}")
    assert found is not None
    return found.node_name


def message(world: World, pod: str) -> str:
    (record,) = (each for each in world.cluster.records.values() if each.pod.name == pod and not each.is_gone)
    return record.message


def recreate(world: World, old: str, new: str, name: str = NAME) -> None:
    """The pod goes, and KubeVirt makes a new instance and a new pod."""
    cluster = world.cluster
    pod = cluster.pod(f"default/{old}")
    assert pod is not None
    before: VirtualMachineInstance = cluster.objects.get("VirtualMachineInstance", "default", name)
    uid = f"{before.uid}-again"
    cluster.scale_in(pod)
    cluster.events.append(cluster.objects.drop(before))
    made = before.evolve(metadata=replace(before.metadata, uid=uid))
    cluster.events.append(cluster.objects.put(made))
    (owner,) = pod.metadata.owner_references or ()
    meta = replace(pod.metadata, name=new, uid=f"{new}-uid", owner_references=(replace(owner, uid=uid),))
    cluster.add_pod(Pod(metadata=meta, spec=replace(pod.spec, node_name="")))


def test_the_published_walks_tell_the_published_story() -> None:
    world = world_of(documents("nodes.yaml", "first.yaml"))
    assert story(world) == [
        "PreFilter: found what owns the pod",
        "PreFilter: no sticky node yet, any will do",
        "PostBind: annotating selected node",
        "node annotated",
    ]
    assert (node_of(world, FIRST), note(world)) == ("node-1", "node-1")

    recreate(world, FIRST, SECOND)
    assert story(world) == [
        "PreFilter: found what owns the pod",
        "PreFilter: already sticky to node",
        "Filter: given node is sticky node",
        "PostBind: already has sticky annotation",
    ]
    assert (node_of(world, SECOND), note(world)) == ("node-1", "node-1")


def cordoned(node: Node) -> Node:
    return node.evolve(spec=replace(node.spec, unschedulable=True))


def full(node: Node) -> Node:
    return node.evolve(status=replace(node.status, allocatable={"cpu": "100m", "memory": "1Gi", "pods": "110"}))


def tainted(node: Node) -> Node:
    taint = decode(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "x"},
            "spec": {"taints": [{"key": "disk", "value": "broken", "effect": "NoSchedule"}]},
        }
    )
    assert isinstance(taint, Node)
    return node.evolve(spec=replace(node.spec, taints=taint.spec.taints))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (cordoned, "1 node(s) were unschedulable"),
        (full, "1 Insufficient cpu, 1 Insufficient memory"),
        (tainted, "1 node(s) had untolerated taint(s)"),
    ],
    ids=["cordoned", "full", "tainted"],
)
def test_a_machine_waits_for_its_node_and_says_why(changed: Any, why: str) -> None:
    world = world_of(documents("nodes.yaml", "first.yaml"))
    run(world)
    good: Node = world.scheduler.cache.nodes.object_at(world.scheduler.cache.nodes.row_of("node-1") or 0)
    world.cluster.events.append(NodeChanged(good, changed(good)))
    recreate(world, FIRST, SECOND)
    run(world)
    text = message(world, SECOND)
    assert f"2 node(s) are not node-1, to which VirtualMachine default/{NAME} sticks" in text
    assert why in text
    assert node_of(world, SECOND) == ""

    world.cluster.events.append(NodeChanged(changed(good), good))
    run(world)
    assert node_of(world, SECOND) == "node-1"


def test_a_machine_waits_for_a_node_that_is_gone_until_it_is_back() -> None:
    world = world_of(documents("nodes.yaml", "first.yaml"))
    run(world)
    good: Node = world.scheduler.cache.nodes.object_at(world.scheduler.cache.nodes.row_of("node-1") or 0)
    recreate(world, FIRST, SECOND)
    world.cluster.events.append(NodeDeleted(good))
    run(world)
    assert f"VirtualMachine default/{NAME} sticks to node node-1, which is not in the cluster" in message(world, SECOND)

    world.cluster.events.append(NodeAdded(good))
    run(world)
    assert node_of(world, SECOND) == "node-1"


def test_a_node_that_is_gone_for_good_is_given_up_after_the_time_that_was_set() -> None:
    raws = [each for each in documents("nodes.yaml", "again.yaml") if each["metadata"]["name"] != "node-1"]
    world = world_of(raws, whenNodeIsGone="Release", releaseAfter="20m")
    run(world, 19 * 60)
    assert node_of(world, SECOND) == ""
    again = world_of(raws, whenNodeIsGone="Release", releaseAfter="20m")
    run(again, 21 * 60)
    assert node_of(again, SECOND) in ("node-2", "node-3")
    assert note(again) == node_of(again, SECOND)
    (record,) = (each for each in again.cluster.records.values())
    assert record.bound_at == pytest.approx(20 * 60, abs=2)


def test_a_live_migration_takes_the_note_along() -> None:
    world = world_of(documents("nodes.yaml", "first.yaml"))
    run(world)
    cluster = world.cluster
    found: VirtualMachineInstance = cluster.objects.get("VirtualMachineInstance", "default", NAME)
    for node in ("node-1", "node-2"):
        found = found.evolve(status=replace(found.status, node_name=node))
        cluster.events.append(cluster.objects.put(found))
        run(world)
    assert note(world) == "node-2"
    recreate(world, FIRST, SECOND)
    run(world)
    assert node_of(world, SECOND) == "node-2"


def many(count: int) -> list[dict[str, Any]]:
    """Machines with their instances and pods, and nodes that they fill to nine tenths."""
    template = documents("first.yaml")
    raws: list[dict[str, Any]] = []
    for number in range(count):
        text = yaml.safe_dump_all(template).replace(NAME, f"vm{number}").replace("vm-1", f"m-{number}")
        raws += yaml.safe_load_all(text.replace("vmi-1", f"i-{number}").replace("nd4hp", "first"))
    sizes = {"cpu": "11", "memory": "64Gi", "pods": "110"}
    raws += [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}"}, "status": {"allocatable": sizes}}
        for number in range(count // 10)
    ]
    return raws


def test_a_thousand_machines_recreated_at_once_are_all_back_on_their_nodes() -> None:
    world = world_of(many(1000))
    run(world)
    before = {number: node_of(world, f"virt-launcher-vm{number}-first") for number in range(1000)}
    assert all(before.values())
    assert {number: note(world, f"vm{number}") for number in before} == before
    for number in before:
        recreate(world, f"virt-launcher-vm{number}-first", f"virt-launcher-vm{number}-next", f"vm{number}")
    run(world)
    assert {number: node_of(world, f"virt-launcher-vm{number}-next") for number in before} == before


def test_pods_of_a_stateful_set_return_to_their_nodes() -> None:
    spec = {"schedulerName": "stickyvm", "containers": [{"name": "c", "image": "i"}]}
    raws = documents("nodes.yaml")
    raws.append(
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": "web"},
            "spec": {
                "replicas": 3,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec},
            },
        }
    )
    world = world_of(raws, mode="StickyOwner")
    run(world)
    before = [node_of(world, f"web-{number}") for number in range(3)]
    notes = world.cluster.objects.get("StatefulSet", "default", "web").annotations
    assert [notes[f"{STICKY_NODE}-{number}"] for number in range(3)] == before
    for number in range(3):
        pod = world.cluster.pod(f"default/web-{number}")
        assert pod is not None
        world.cluster.preempt(pod, "evicted")
        world.cluster.replace_gone([pod])
        run(world)
    assert [node_of(world, f"web-{number}") for number in range(3)] == before
