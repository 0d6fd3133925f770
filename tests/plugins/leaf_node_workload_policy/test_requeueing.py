"""Pods that wait on a policy come back when the policy, a node or a counted pod changes, and not for anything else."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework import Change, ClusterEvent
from bayplan.framework.events import ASSIGNED_POD
from bayplan.objects.third_party.kosmos import WorkloadPolicy, WorkloadPolicyStatus
from bayplan.simulator.simulation import run
from bayplan.testing import NodeBuilder, PodBuilder, node, pod
from bayplan.testing.harness import built_pod
from tests.plugins.kosmos import APP, asking, domain, numbers, placed, policy, required
from tests.plugins.leaf_node_workload_policy.simulated import deployment, written
from tests.plugins.leaf_node_workload_policy.simulated import node as node_manifest
from tests.plugins.leaf_node_workload_policy.support import Bench
from tests.simulator.support import world

FIXED = required(*numbers(host=1))
SHARED = required(*numbers(host="100%"))
OPEN = required(*numbers(host=1), unlistedDomains="Allow")


def wakes(event: ClusterEvent, old: Any, new: Any, made: WorkloadPolicy | None = FIXED, pod: Any = None) -> bool:
    """Would the queue bring a waiting pod back?"""
    plugin = Bench([], (), [] if made is None else [made]).plugin
    rules = [each for each in plugin.requeue_on() if each.matches(event)]
    waiting = built_pod(pod or asking())
    return any(each.hint is None or each.hint(waiting, old, new) for each in rules)


@pytest.mark.parametrize(
    ("old", "new", "helps"),
    [
        (None, FIXED, True),
        (None, required(*numbers(host=1), name="other"), False),
        (None, required(*numbers(host=1), namespace="other"), False),
        (FIXED, required(*numbers(host=2)), True),
        (FIXED, policy(*numbers(host=1)), True),
        (FIXED, FIXED.evolve(status=WorkloadPolicyStatus(current=1)), False),
    ],
)
def test_its_own_policy_brings_a_pod_back_unless_only_the_status_changed(
    old: WorkloadPolicy | None, new: WorkloadPolicy, helps: bool
) -> None:
    event = ClusterEvent("WorkloadPolicy", Change.ADDED if old is None else Change.UPDATED)
    assert wakes(event, old, new) is helps
    assert wakes(event, old, new, made=None) is helps, "also while the policy is not known"


@pytest.mark.parametrize(
    ("gone", "is_news"),
    [(FIXED, True), (required(name="other"), False), (required(namespace="other"), False)],
)
def test_a_policy_that_goes_brings_its_pods_back_for_their_reason_is_not_true_any_more(
    gone: WorkloadPolicy, is_news: bool
) -> None:
    event = ClusterEvent("WorkloadPolicy", Change.DELETED)
    assert wakes(event, gone, None, made=None) is is_news


def test_in_virtual_time_the_reason_is_renewed_when_the_policy_goes() -> None:
    made = world(node_manifest("n", "host"), written(numbers(host=0), allocationType="Required"), deployment(1))
    run(made)
    (record,) = made.cluster.records.values()
    assert "had 0/0 pods of WorkloadPolicy" in record.message
    stored = made.cluster.objects
    made.cluster.events.append(stored.drop(stored.get("WorkloadPolicy", "default", "pol")))
    run(made)
    assert "not found in namespace" in record.message


def on(name: str, **labels: str) -> PodBuilder:
    return pod(name).label({**APP, **labels}).on("host")


@pytest.mark.parametrize(
    ("change", "old", "new", "helps"),
    [
        (Change.DELETED, on("a"), None, True),
        (Change.DELETED, on("a").namespace("other"), None, False),
        (Change.DELETED, on("a", app="db"), None, False),
        (Change.DELETED, on("a").terminating(), None, False),
        (Change.DELETED, pod("a").label(APP).nominated("host"), None, True),
        (Change.UPDATED, on("a"), on("a").terminating(), True),
        (Change.UPDATED, on("a"), on("a"), False),
        (Change.POD_LABEL, on("a"), on("a", app="db"), True),
        (Change.POD_LABEL, on("a", app="db"), on("a"), False),
        (Change.ADDED, None, on("a"), False),
    ],
)
def test_a_counted_pod_that_goes_brings_pods_back(
    change: Change, old: PodBuilder | None, new: PodBuilder | None, helps: bool
) -> None:
    before, after = old.build() if old else None, new.build() if new else None
    assert wakes(ClusterEvent(ASSIGNED_POD, change), before, after) is helps


def test_with_shares_also_a_counted_pod_that_comes_and_a_workload_that_grows_bring_pods_back() -> None:
    came = placed("host", 1)[0].build()
    assert wakes(ClusterEvent(ASSIGNED_POD, Change.ADDED), None, came, made=SHARED)
    assert wakes(ClusterEvent("ReplicaSet", Change.UPDATED), None, None, made=SHARED)
    assert not wakes(ClusterEvent("ReplicaSet", Change.UPDATED), None, None)


def test_its_own_labels_bring_a_pod_back() -> None:
    waiting = asking().build()
    event = ClusterEvent("UnschedulablePod", Change.POD_LABEL)
    assert wakes(event, asking().label(extra="1").build(), waiting)
    assert not wakes(event, waiting, waiting)


@pytest.mark.parametrize(
    ("change", "old", "new", "made", "helps"),
    [
        (Change.ADDED, None, domain("host"), FIXED, True),
        (Change.ADDED, None, domain("edge"), FIXED, False),
        (Change.ADDED, None, node("bare"), FIXED, False),
        (Change.ADDED, None, node("bare"), OPEN, True),
        (Change.ADDED, None, domain("host"), None, False),
        (Change.LABEL, node("n"), domain("host", "n"), FIXED, True),
        (Change.LABEL, domain("host", "n"), domain("edge", "n"), FIXED, True),
        (Change.LABEL, domain("edge", "n"), domain("far", "n"), FIXED, False),
        (Change.LABEL, domain("host", "n"), domain("host", "n").label(x="y"), FIXED, False),
        (Change.DELETED, domain("host"), None, FIXED, True),
        (Change.DELETED, domain("edge"), None, FIXED, False),
    ],
)
def test_nodes_that_come_go_or_change_their_domain_bring_pods_back(
    change: Change, old: NodeBuilder | None, new: NodeBuilder | None, made: WorkloadPolicy | None, helps: bool
) -> None:
    before, after = old.build() if old else None, new.build() if new else None
    assert wakes(ClusterEvent("Node", change), before, after, made) is helps
