"""DaemonSets: which nodes get a pod, and what the controller writes into it."""

from __future__ import annotations

import pytest

from bayplan.objects.pod import Pod
from bayplan.simulator.controllers.daemons import node_of
from bayplan.simulator.controllers.workloads import Workloads
from tests.simulator.support import Manifest, node, objects, owned_by, pod, workload

NO_SCHEDULE = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
PREFER = {"key": "gpu", "value": "true", "effect": "PreferNoSchedule"}
PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "effect": "NoSchedule"}
NETWORK = {"key": "node.kubernetes.io/network-unavailable", "effect": "NoSchedule"}
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def daemons(nodes: list[Manifest], *more: Manifest, **spec: object) -> list[Pod]:
    workloads = Workloads(objects(*nodes, workload("DaemonSet", "agent", pods=dict(spec)), *more))
    return list(workloads.begin())


@pytest.mark.parametrize(
    ("case", "one", "spec", "wanted"),
    [
        ("a plain node", node("n"), {}, True),
        ("a node with another label", node("n"), {"nodeSelector": {"disk": "ssd"}}, False),
        ("a node with the label", node("n", labels={"disk": "ssd"}), {"nodeSelector": {"disk": "ssd"}}, True),
        ("a taint it does not tolerate", node("n", taints=[NO_SCHEDULE]), {}, False),
        ("a taint it tolerates", node("n", taints=[NO_SCHEDULE]), {"tolerations": [{"operator": "Exists"}]}, True),
        ("a taint that only asks", node("n", taints=[PREFER]), {}, True),
        ("memory pressure", node("n", taints=[PRESSURE]), {}, True),
        ("a cordoned node", node("n", taints=[CORDON], unschedulable=True), {}, True),
        ("no network", node("n", taints=[NETWORK]), {}, False),
        ("no network, for a daemon that needs none", node("n", taints=[NETWORK]), {"hostNetwork": True}, True),
        ("another node by name", node("n"), {"nodeName": "m"}, False),
    ],
)
def test_which_nodes_get_a_pod(case: str, one: Manifest, spec: Manifest, wanted: bool) -> None:
    assert bool(daemons([one], **spec)) is wanted, case


def test_each_pod_is_pinned_to_its_node_and_to_no_other() -> None:
    term = {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    labels = {"disk": "ssd"}
    pods = daemons([node("a", labels=labels), node("b", labels=labels), node("c")], affinity=affinity)
    assert [node_of(each) for each in pods] == ["a", "b"]
    for each in pods:
        requirement = each.required_node_affinity
        assert requirement is not None
        assert requirement.matches(node_of(each), {})
        assert not requirement.matches("c", labels)
        assert each.node_name == ""


def test_daemons_tolerate_what_their_controller_says() -> None:
    (plain,) = daemons([node("a")])
    assert {(each.key.rpartition("/")[2], each.effect) for each in plain.tolerations} == {
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    }
    assert all(each.toleration_seconds is None for each in plain.tolerations)
    assert plain.is_daemonset
    assert plain.labels["app"] == "agent"
    assert "controller-revision-hash" in plain.labels


def test_nodes_that_have_their_daemon_get_no_second_one() -> None:
    running = pod("agent-1", meta={"ownerReferences": owned_by("DaemonSet", "agent")}, nodeName="a")
    pods = daemons([node("a"), node("b")], running)
    assert sorted(node_of(each) for each in pods) == ["a", "b"]


def test_a_daemon_that_goes_is_made_again_for_the_same_node() -> None:
    workloads = Workloads(objects(node("a"), workload("DaemonSet", "agent")))
    (first,) = workloads.begin()
    (again,) = workloads.gone(first.assigned_to("a"))
    assert node_of(again) == "a"
    assert again.name != first.name
