"""
What goes wrong in the scheduler that WorkloadPolicy comes from, one test each: here it does not.

B1 to B13 are the numbers of the list that the behaviour was written down with; each test says what it is about.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from bayplan.framework import Code, CycleState
from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.testing import PodBuilder, node, pod
from tests.plugins.kosmos import APP, KEY, asking, domain, numbers, placed, required
from tests.plugins.leaf_node_workload_policy.simulated import NODES, bound, deployment, domains_of, simulated, written
from tests.plugins.leaf_node_workload_policy.support import Bench


@pytest.mark.parametrize("method", ["Balance", "Fill"])
@pytest.mark.parametrize("seed", range(8))
def test_b1_soft_numbers_overflow_without_an_error(method: str, seed: int) -> None:
    made = written(numbers(member=1, host=3), allocationMethod=method)
    result = simulated([*NODES, made, deployment(6)], seed)
    assert len(bound(result)) == 6
    counts = domains_of(result)
    assert counts["member"] >= 1
    assert counts["host"] >= 3


@pytest.mark.parametrize("seed", range(8))
def test_b2_filling_keeps_to_the_numbers(seed: int) -> None:
    made = written(numbers(member=1, host=3), allocationMethod="Fill")
    assert domains_of(simulated([*NODES, made, deployment(4)], seed)) == {"member": 1, "host": 3}


@pytest.mark.parametrize("method", ["Balance", "Fill"])
def test_b3_a_domain_of_no_pods_is_the_last_resort_and_no_error(method: str) -> None:
    soft = written(numbers(member=0, host=3), allocationMethod=method)
    assert domains_of(simulated([*NODES, soft, deployment(5)])) == {"host": 5}
    only_member = [each for each in NODES if each["metadata"]["labels"][KEY] == "member"]
    assert domains_of(simulated([*only_member, soft, deployment(2)])) == {"member": 2}
    hard = written(numbers(member=0, host=3), allocationMethod=method, allocationType="Required")
    assert domains_of(simulated([*NODES, hard, deployment(5)])) == {"host": 3}


def test_b4_a_selector_of_expressions_counts_only_what_it_matches() -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}
    made = required(*numbers(host=1), labelSelector=selector)
    strangers = [pod(f"db-{number}").label(app="db").on("host") for number in range(5)]
    assert Bench([domain("host")], strangers, [made]).reasons(asking()) == {}
    assert Bench([domain("host")], placed("host", 1), [made]).reasons(asking()) != {}


def test_b5_a_new_revision_has_numbers_of_its_own_with_match_label_keys() -> None:
    old = placed("host", 3, **{"pod-template-hash": "old"})
    new = asking().label({"pod-template-hash": "new"})
    shared = Bench([domain("host")], old, [required(*numbers(host=3))])
    apart = Bench([domain("host")], old, [required(*numbers(host=3), matchLabelKeys=["pod-template-hash"])])
    assert shared.reasons(new) == {"host": [f"node(s) in {KEY}=host had 3/3 pods of WorkloadPolicy pol"]}
    assert apart.reasons(new) == {}
    full = Bench([domain("host")], [*old, *placed("host", 3, "new", **{"pod-template-hash": "new"})],
                 [required(*numbers(host=3), matchLabelKeys=["pod-template-hash"])])  # fmt: skip
    assert full.reasons(new) != {}


def test_b6_preemption_is_tried_where_it_can_help_and_only_there() -> None:
    nodes = [domain("host"), domain("edge"), node("bare")]
    statuses = Bench(nodes, placed("host", 1), [required(*numbers(host=1))]).statuses(asking())
    assert {name: status.code for name, status in statuses.items() if status} == {
        "host": Code.UNSCHEDULABLE,
        "edge": Code.UNRESOLVABLE,
        "bare": Code.UNRESOLVABLE,
    }
    low = [{**each, "spec": {**each["spec"], "priority": 0}} for each in bound_pods("host-1", 3)]
    high = deployment(1)
    high["spec"]["template"]["spec"]["priority"] = 1000
    made = written(numbers(host=3), allocationType="Required")
    result = simulated([*NODES, made, *low, high])
    assert Counter(each["state"] for each in result["pods"]) == {"Bound": 3, "Preempted": 1}


def bound_pods(on: str, count: int) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"low-{number}", "labels": APP},
            "spec": {"nodeName": on, "containers": [{"name": "c", "image": "i"}]},
        }
        for number in range(count)
    ]


def test_b7_pods_are_asked_again_when_the_policy_comes_or_changes() -> None:
    """The rest of it is in test_requeueing, and on the real API server in tests/app."""
    kinds = {each.kind for each in Bench([]).plugin.requeue_on()}
    assert {"WorkloadPolicy", "Pod", "Node"} <= kinds


def test_b8_a_nominated_pod_on_a_node_of_another_domain_upsets_nobody() -> None:
    bench = Bench([domain("host"), domain("edge"), node("bare")], (), [required(*numbers(host=1))])
    waiting, state = asking().node_selector(nothing="here").build(), bench.prepared(asking())
    for row in range(3):
        bench.plugin.add_pod(state, waiting, asking("nominated").build(), bench.cache.nodes.node(row))
    assert bench.plugin.filter_node(state, waiting, bench.cache.nodes.node(0)) is not None


@pytest.mark.parametrize(
    ("victim", "admits"), [(placed("host", 1)[0], True), (placed("host", 1)[0].terminating(), False)]
)
def test_b9_only_pods_that_were_counted_make_room_when_imagined_gone(victim: PodBuilder, admits: bool) -> None:
    others = placed("host", 1, "other") if not admits else []
    bench = Bench([domain("host")], [victim, *others], [required(*numbers(host=1))])
    state = bench.prepared(asking())
    imagined = WhatIfNode(bench.cache.nodes.node(0))
    imagined.remove_pod(victim.build())
    bench.plugin.remove_pod(state, asking().build(), victim.build(), imagined)
    assert (bench.plugin.filter_node(state, asking().build(), imagined) is None) is admits


def test_b10_taking_back_a_reservation_reads_nothing() -> None:
    plugin = type(Bench([]).plugin)()
    assert plugin.reserve(CycleState(), asking().build(), "host") is None
    plugin.unreserve(CycleState(), asking().build(), "host")


def test_b11_a_cycle_sees_one_version_of_the_policy() -> None:
    bench = Bench([domain("host")], placed("host", 1), [required(*numbers(host=1))])
    state = bench.prepared(asking())
    bench.cache.objects.put("WorkloadPolicy", "default", "pol", required(*numbers(host=9)))
    assert bench.plugin.filter(state, asking().build(), bench.cache.nodes).codes.tolist() == [2]
    bench.cache.objects.drop("WorkloadPolicy", "default", "pol")
    assert bench.plugin.filter(state, asking().build(), bench.cache.nodes).codes.tolist() == [2]
    assert bench.pre_filter(asking()).is_rejected


def test_b12_a_missing_policy_leaves_pods_unschedulable_and_is_no_error() -> None:
    status = Bench([domain("host")]).pre_filter(asking())
    assert status.code is Code.UNRESOLVABLE
    assert status.message == 'WorkloadPolicy "pol" not found in namespace "default"'


def test_b13_nodes_without_the_label_do_not_count_for_an_empty_value() -> None:
    nodes = [domain("", "empty"), node("bare")]
    made = required({"name": "", "replicas": 1})
    assert "empty" not in Bench(nodes, placed("bare", 5), [made]).reasons(asking())
    said = Bench(nodes, placed("empty", 1), [made]).reasons(asking())
    assert said["empty"] == [f"node(s) in {KEY}= had 1/1 pods of WorkloadPolicy pol"]
    assert said["bare"] == [f"node(s) lacked label {KEY} of WorkloadPolicy pol"]


def test_terminating_pods_leave_room_for_their_replacement() -> None:
    leaving = [each.terminating() for each in placed("host", 1)]
    assert Bench([domain("host")], leaving, [required(*numbers(host=1))]).reasons(asking()) == {}
