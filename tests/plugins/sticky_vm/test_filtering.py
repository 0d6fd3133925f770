"""Where a pod of a virtual machine may go, and what it is told when that cannot be said."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework import SKIP, CycleState, PreFilterResult
from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.objects.pod import Pod
from bayplan.testing import assert_forms_agree, cluster, node, pod, reasons, run_filter
from tests.plugins.sticky_vm.support import Desk, instance, launcher, machine, member, stateful_set

NODES = [node("n1"), node("n2"), node("n3")]
OTHERS = "node(s) are not n2, to which VirtualMachine default/vm sticks"


def desk(*objects: Any, pods: tuple[Pod, ...] = (), **args: Any) -> Desk:
    return Desk(cluster(NODES, pods, objects), **args)


def test_a_pod_of_no_virtual_machine_is_none_of_its_business() -> None:
    plain = pod("a").owned_by("ReplicaSet", "web").build()
    made = desk(stateful_set(), machine(node="n2"))
    assert made.pre_filter(plain) == SKIP
    assert made.pre_filter(member()) == SKIP
    assert made.plugin.promise(plain.template) is not None
    assert made.plugin.promise(launcher().template) is None


@pytest.mark.parametrize("noted", [None, ""], ids=["never placed", "released"])
def test_a_machine_without_a_node_may_go_anywhere(noted: str | None) -> None:
    assert desk(machine(node=noted), instance()).nodes(launcher()) is None


def test_a_machine_returns_to_its_node_and_the_others_are_told_why() -> None:
    made = desk(machine(node="n2"), instance())
    assert made.pre_filter(launcher()) == PreFilterResult(frozenset({"n2"}), OTHERS)
    state = CycleState()
    made.pre_filter(launcher(), state)
    filtered = made.plugin.filter(state, launcher(), made.cache.nodes)
    assert filtered.codes.tolist() == [1, 0, 1]
    assert {name for name, said in run_filter(made.plugin, launcher(), made.cache).items() if said} == {"n1", "n3"}


def test_both_forms_agree_on_real_and_imagined_nodes() -> None:
    made = desk(machine(node="n2"), instance(), machine("free"), instance("free", of="free"))
    assert_forms_agree(made.plugin, [launcher(), launcher("b", of="free"), pod("c").build()], made.cache)
    state = CycleState()
    made.pre_filter(launcher(), state)
    said = made.plugin.filter_node(state, launcher(), WhatIfNode(made.cache.nodes.node(0)))
    assert said is not None


def test_a_profile_that_enables_only_the_filter_lets_pods_go_anywhere() -> None:
    made = desk(machine(node="n2"), instance())
    assert not made.plugin.filter(CycleState(), launcher(), made.cache.nodes).codes.any()
    assert made.plugin.filter_node(CycleState(), launcher(), made.cache.nodes.node(0)) is None


def test_a_pod_on_its_way_counts_before_anything_is_noted() -> None:
    made = desk(machine(), instance())
    made.cache.assume(launcher("first", on="n3"))
    assert made.nodes(launcher("second")) == {"n3"}


@pytest.mark.parametrize(
    ("objects", "pods", "expected"),
    [
        ((machine(), instance(on="n3")), (), {"n3"}),
        ((machine(), instance()), (launcher("old", uid="earlier", on="n1"),), None),
        ((machine(), instance()), (launcher("target", on="n1", is_target=True),), None),
        ((machine(node=""), instance(on="n3")), (launcher("old", on="n3"),), None),
        ((machine(node="n1"), instance(on="n3")), (), {"n1"}),
    ],
    ids=["the instance says it", "another instance's", "a migration target", "released", "what is noted holds"],
)
def test_what_tells_the_node_of_a_machine(objects: Any, pods: Any, expected: set[str] | None) -> None:
    assert desk(*objects, pods=pods).nodes(launcher()) == expected


def test_the_target_of_a_migration_may_go_elsewhere() -> None:
    assert desk(machine(node="n2"), instance(on="n2")).nodes(launcher(is_target=True)) is None


@pytest.mark.parametrize(
    ("objects", "text"),
    [
        ((), "VirtualMachineInstance default/vm, which owns this pod, was not found"),
        (
            (machine(), instance(uid="another")),
            "VirtualMachineInstance default/vm was made anew, and this pod belongs to the one before",
        ),
        (
            (instance(),),
            "VirtualMachine default/vm, which owns VirtualMachineInstance default/vm, was not found",
        ),
        (
            (machine(uid="another"), instance()),
            "VirtualMachine default/vm was made anew, and VirtualMachineInstance default/vm belongs to the one before",
        ),
        (
            (machine(node="gone"), instance()),
            "VirtualMachine default/vm sticks to node gone, which is not in the cluster",
        ),
        (
            (machine(node=" n2\n"), instance()),
            'VirtualMachine default/vm sticks to " n2\\n", which cannot be a node; write a node\'s name into its '
            "annotation bayplan.io/sticky-node, or nothing to set it free",
        ),
    ],
)
def test_a_pod_that_cannot_be_placed_for_certain_waits_and_says_why(objects: Any, text: str) -> None:
    assert desk(*objects).why(launcher()) == text


def test_of_two_instances_that_claim_one_machine_only_the_one_with_its_name_goes_on() -> None:
    made = desk(machine(node="n2"), instance(), instance("twin"))
    assert made.nodes(launcher()) == {"n2"}
    assert made.why(launcher("b", of="twin")) == (
        "VirtualMachine default/vm can have one instance, and vm is it: "
        "delete VirtualMachineInstance default/twin, which owns this pod, or vm"
    )
    assert desk(machine(), instance(phase="Failed"), instance("twin")).nodes(launcher("b", of="twin")) is None


def test_kinds_that_cannot_be_read_are_named() -> None:
    made = desk()
    made.cache.objects.refuse("VirtualMachineInstance", "the API server has none")
    assert made.why(launcher()) == (
        "VirtualMachineInstance default/vm, which owns this pod, cannot be read: the API server has none"
    )


def test_with_release_the_message_says_when() -> None:
    made = desk(machine(node="gone"), instance(), whenNodeIsGone="Release", releaseAfter="30m")
    assert made.why(launcher()).endswith("; it is released when that has been so for 30m0s")
    assert made.plugin._gone.next_due_s() is not None


def test_a_pod_that_is_only_looked_at_is_not_noted() -> None:
    made = desk(machine(node="gone"), instance(), whenNodeIsGone="Release", releaseAfter="30m")
    state = CycleState()
    state.is_dry_run = True
    made.plugin.pre_filter(state, launcher(), made.cache.nodes)
    assert made.plugin._gone.next_due_s() is None
    assert not made.plugin._notes.woken.is_set()


def test_another_annotation_can_be_used() -> None:
    made = desk(machine(node="n2"), instance(), annotationKey="team/node")
    assert made.nodes(launcher()) is None


# -- StatefulSets --


def test_pods_of_a_stateful_set_stick_each_to_its_node_if_told_so() -> None:
    made = desk(stateful_set(_0="n2", _1="n3"), mode="StickyOwner")
    assert made.nodes(member("web-0")) == {"n2"}
    assert made.nodes(member("web-1")) == {"n3"}
    assert made.nodes(member("web-2")) is None
    assert reasons(run_filter(made.plugin, member("web-0"), made.cache)).keys() == {"n1", "n3"}
    answer = made.pre_filter(member("web-0"))
    assert isinstance(answer, PreFilterResult)
    assert answer.reason == "node(s) are not n2, to which pod web-0 of StatefulSet default/web sticks"


def test_a_stateful_set_that_is_not_there_is_waited_for() -> None:
    made = desk(mode="StickyOwner")
    assert made.why(member()) == "StatefulSet default/web, which owns this pod, was not found"


# -- what brings a pod back --


@pytest.mark.parametrize(
    ("kind", "old", "new", "expected"),
    [
        ("VirtualMachine", None, machine(node="n2"), True),
        ("VirtualMachine", machine(node="n1"), machine(node="n2"), True),
        ("VirtualMachine", machine(node="n2", version="1"), machine(node="n2", version="2"), False),
        ("VirtualMachine", machine(node="n2", uid="earlier"), machine(node="n2"), True),
        ("VirtualMachine", None, machine("other"), False),
        ("VirtualMachineInstance", None, instance(), True),
        ("VirtualMachineInstance", instance("twin"), None, True),
        ("VirtualMachineInstance", None, instance("else", of="else"), False),
        ("Node", None, node("n2").build(), True),
        ("Node", None, node("n1").build(), False),
    ],
)
def test_only_what_could_help_brings_a_pod_back(kind: str, old: Any, new: Any, expected: bool) -> None:
    made = desk(machine(node="n2"), instance())
    (rule,) = (on for on in made.plugin.requeue_on() if on.kind == kind)
    assert rule.hint is not None
    assert rule.hint(launcher(), old, new) is expected
