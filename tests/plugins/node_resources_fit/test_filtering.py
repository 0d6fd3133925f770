"""NodeResourcesFit, Filter: what is short, in which order it is told, and whether evicting could help."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework import Code, CycleState, Verdicts
from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.framework.status import as_status
from bayplan.plugins.node_resources_fit import NodeResourcesFit
from bayplan.plugins.node_resources_fit.filtering import MAX_WANTS
from bayplan.testing import NodeBuilder, PodBuilder, assert_forms_agree, cluster, make, node, pod, reasons, run_filter

GPU = "example.com/gpu"
UNS, UUR = Code.UNSCHEDULABLE, Code.UNRESOLVABLE

CASES: list[tuple[str, PodBuilder, NodeBuilder, PodBuilder, Code | None, list[str]]] = [
    ("it fits exactly", pod("a").cpu("3").memory("31Gi"), node("n"), pod("b").cpu("1").memory("1Gi"), None, []),
    ("cpu is short", pod("a").cpu("3001m"), node("n"), pod("b").cpu("1"), UNS, ["Insufficient cpu"]),
    ("memory is short", pod("a").memory("32Gi"), node("n"), pod("b").memory("1"), UNS, ["Insufficient memory"]),
    (
        "ephemeral storage is short",
        pod("a").request(ephemeral_storage="2Gi"),
        node("n").allocatable(ephemeral_storage="3Gi"),
        pod("b").request(ephemeral_storage="2Gi"),
        UNS,
        ["Insufficient ephemeral-storage"],
    ),
    ("more than there is in all", pod("a").cpu("5"), node("n"), pod("b"), UUR, ["Insufficient cpu"]),
    ("nothing there at all", pod("a").scalar(GPU, 1), node("n"), pod("b"), UUR, [f"Insufficient {GPU}"]),
    (
        "a scalar is short",
        pod("a").scalar(GPU, 2),
        node("n").scalar(GPU, 2),
        pod("b").scalar(GPU, 1),
        UNS,
        [f"Insufficient {GPU}"],
    ),
    ("a scalar of 0 is not looked at", pod("a").scalar(GPU, 0), node("n"), pod("b"), None, []),
    ("too many pods", pod("a"), node("n").pods(1), pod("b"), UNS, ["Too many pods"]),
    ("a node that takes no pods", pod("a"), node("n").pods(0), pod("b"), UNS, ["Too many pods"]),
    (
        "every shortage in its order, resolvable together",
        pod("a").scalar(GPU, 1).cpu("4").memory("32Gi").request(ephemeral_storage="1Gi"),
        node("n").pods(1).allocatable(ephemeral_storage="1Gi").scalar(GPU, 1),
        pod("b").cpu("1").memory("1Gi").scalar(GPU, 1).request(ephemeral_storage="1Gi"),
        UNS,
        [
            "Too many pods",
            "Insufficient cpu",
            "Insufficient memory",
            "Insufficient ephemeral-storage",
            f"Insufficient {GPU}",
        ],
    ),
    (
        "one hopeless shortage spoils the others",
        pod("a").cpu("4").memory("33Gi"),
        node("n"),
        pod("b").cpu("1"),
        UUR,
        ["Insufficient cpu", "Insufficient memory"],
    ),
    (
        "scalars are told in the order of their names",
        pod("a").scalar("b.example/x", 1).scalar("a.example/x", 1),
        node("n"),
        pod("b"),
        UUR,
        ["Insufficient a.example/x", "Insufficient b.example/x"],
    ),
    (
        "init containers count with their peak",
        pod("a").cpu("1").init(cpu="4"),
        node("n"),
        pod("b").cpu("1m"),
        UNS,
        ["Insufficient cpu"],
    ),
    ("overhead is added", pod("a").cpu("4").overhead(cpu="1m"), node("n"), pod("b"), UUR, ["Insufficient cpu"]),
    ("pod-level requests replace the sum", pod("a").cpu("5").pod_level(cpu="4"), node("n"), pod("b"), None, []),
    ("a full node takes a pod that asks for nothing", pod("a"), node("n"), pod("b").cpu("4"), None, []),
    ("short of cpu, but only memory is asked for", pod("a").memory("1"), node("n"), pod("b").cpu("9"), None, []),
]


@pytest.mark.parametrize(("case", "asked", "there", "running", "code", "told"), CASES, ids=[each[0] for each in CASES])
def test_shortages(
    case: str, asked: PodBuilder, there: NodeBuilder, running: PodBuilder, code: Code | None, told: list[str]
) -> None:
    cache = cluster([there], [running.on("n")])
    plugin = make(NodeResourcesFit, cache)
    status = run_filter(plugin, asked, cache)["n"]
    assert (None if status is None else (status.code, list(status.reasons))) == (None if code is None else (code, told))
    assert_forms_agree(plugin, [asked], cache)


def test_nodes_are_told_apart_by_what_they_lack() -> None:
    cache = cluster(
        [node("ok"), node("slow").cpu("1"), node("small").memory("1Gi"), node("slow2").cpu("1"), node("full").pods(0)]
    )
    asked = pod("a").cpu("2").memory("2Gi").build()
    plugin, state = make(NodeResourcesFit, cache), CycleState()
    plugin.pre_filter(state, asked, cache.nodes)
    answer = plugin.filter(state, asked, cache.nodes)
    assert isinstance(answer, Verdicts)
    assert len(answer.statuses) == 3, "nodes with the same shortages share a status"
    assert reasons(run_filter(plugin, asked, cache)) == {
        "slow": ["Insufficient cpu"],
        "slow2": ["Insufficient cpu"],
        "small": ["Insufficient memory"],
        "full": ["Too many pods"],
    }


@pytest.mark.parametrize(
    ("args", "fits"),
    [
        ({}, False),
        ({"ignoredResources": ["example.com/gpu"]}, True),
        ({"ignoredResources": ["example.com/other"]}, False),
        ({"ignoredResourceGroups": ["example.com"]}, True),
        ({"ignoredResourceGroups": ["example.org"]}, False),
    ],
)
def test_extended_resources_can_be_ignored(args: dict[str, Any], fits: bool) -> None:
    cache = cluster([node("n")])
    assert (reasons(run_filter(make(NodeResourcesFit, **args), pod("a").scalar(GPU, 1), cache)) == {}) is fits


def test_huge_pages_are_no_extended_resource_and_cannot_be_ignored() -> None:
    asked = pod("a").scalar("hugepages-2Mi", "2Mi")
    statuses = run_filter(make(NodeResourcesFit, ignoredResources=["hugepages-2Mi"]), asked, cluster([node("n")]))
    assert reasons(statuses) == {"n": ["Insufficient hugepages-2Mi"]}


def test_a_pod_with_more_resources_than_bits_is_judged_all_the_same() -> None:
    asked = pod("a").request({f"example.com/r{number:02}": 1 for number in range(MAX_WANTS + 1)})
    cache = cluster([node("n").scalar("example.com/r05", 1)])
    told = reasons(run_filter(make(NodeResourcesFit), asked, cache))
    assert len(told["n"]) == MAX_WANTS
    assert "Insufficient example.com/r05" not in told["n"]


def test_room_of_pods_imagined_gone_counts() -> None:
    victim = pod("b").cpu("3").scalar(GPU, 1).on("n").build()
    cache = cluster([node("n").pods(1).scalar(GPU, 1)], [victim])
    asked, plugin, state = pod("a").cpu("2").scalar(GPU, 1).build(), make(NodeResourcesFit), CycleState()
    plugin.pre_filter(state, asked, cache.nodes)
    imagined = WhatIfNode(cache.nodes.node(0))
    assert as_status(plugin.filter_node(state, asked, imagined)).code is UNS
    imagined.remove_pod(victim)
    assert plugin.filter_node(state, asked, imagined) is None


def test_it_works_where_a_profile_leaves_out_its_pre_filter() -> None:
    cache, asked, plugin = cluster([node("n")]), pod("a").cpu("5").build(), make(NodeResourcesFit)
    assert as_status(plugin.filter_node(CycleState(), asked, cache.nodes.node(0))).reasons == ("Insufficient cpu",)
