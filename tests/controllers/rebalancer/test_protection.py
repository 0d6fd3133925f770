"""Pods that stay where they are, each with its reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bayplan.controllers.rebalancer.protection import Protection
from tests.controllers.rebalancer.support import REGIONS, Looked, looked, pod, policy, region, replica_set
from tests.simulator.support import START, Manifest, config


def judged(*manifests: Manifest, name: str = "p", **terms: Any) -> str:
    found = looked(*REGIONS, policy({"regionA": 0, "regionB": 9}), *manifests)
    return reason(found, name, **terms)


def reason(found: Looked, name: str, **terms: Any) -> str:
    protection = Protection(found.observed, found.survey, replace(found.terms, **terms), START)
    (one,) = (each for each in found.observed.pods("default") if each.name == name)
    return protection.reason(one)


SET = replica_set(3)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ({}, ""),
        ({"owner": None}, "nobody would make another one in its place"),
        ({"labels": {"workload-policy/kosmos.io": "other"}}, "it does not name the policy"),
        ({"annotations": {"kubernetes.io/config.mirror": "x"}}, "it belongs to its node"),
        ({"owner": "n", "kind": "Node"}, "it belongs to its node"),
        ({"owner": "j", "kind": "Job"}, "it belongs to a Job, whose work would be lost"),
        ({"priority": 2_000_000_000}, "it is critical to the cluster"),
        ({"annotations": {"bayplan.io/rebalance": "false"}}, "annotation bayplan.io/rebalance says false"),
        (
            {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}},
            "annotation cluster-autoscaler.kubernetes.io/safe-to-evict says false",
        ),
        (
            {"annotations": {"descheduler.alpha.kubernetes.io/prefer-no-eviction": ""}},
            "annotation descheduler.alpha.kubernetes.io/prefer-no-eviction is there",
        ),
        (
            {"volumes": [{"name": "cache", "emptyDir": {}}]},
            'its volume cache is on its node; annotate it bayplan.io/rebalance: "true" if that may be lost',
        ),
        ({"volumes": [{"name": "cache", "emptyDir": {}}], "annotations": {"bayplan.io/rebalance": "true"}}, ""),
        ({"volumes": [{"name": "settings", "configMap": {"name": "x"}}]}, ""),
        ({"on": "gone"}, "its node gone is not known"),
    ],
)
def test_every_rule_has_its_reason(made: dict[str, Any], expected: str) -> None:
    assert judged(SET, pod("p", **{"on": "a1", **made})) == expected


def test_pods_of_a_node_that_is_not_ready_stay() -> None:
    unready = region("a2", "regionA")
    unready["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    assert judged(SET, unready, pod("p", "a2")) == "its node a2 is not ready"


def test_young_pods_stay_until_they_are_old_enough() -> None:
    young = pod("p", "a1", meta={"creationTimestamp": "2025-06-15T15:06:00Z"})  # forty seconds before the start
    assert judged(SET, young, min_pod_age_s=60.0) == "it is younger than 60 s"
    assert judged(SET, young, min_pod_age_s=30.0) == ""


def test_the_only_pod_of_a_workload_stays_unless_told_otherwise() -> None:
    alone = replica_set(1), pod("p", "a1")
    only = "it is the only one of ReplicaSet web; allowSingleReplica: true would move it anyway"
    assert judged(*alone) == only
    assert judged(*alone, allows_single_replica=True) == ""
    stranger = pod("p", "a1", owner="c", kind="CloneSet")
    assert judged(stranger).startswith("it is the only one of CloneSet c")
    assert judged(stranger, pod("q", "a1", owner="c", kind="CloneSet")) == ""


def test_a_scheduler_without_a_profile_cannot_be_planned_for() -> None:
    given = [*REGIONS, policy({"regionA": 0, "regionB": 9}), SET, pod("p", "a1", schedulerName="other")]
    assert reason(looked(*given, config("ours")), "p") == 'no profile is for its scheduler "other"'


def test_a_workload_that_is_being_updated_is_left_alone() -> None:
    def revision(name: str, replicas: int) -> Manifest:
        made = replica_set(replicas, name)
        made["metadata"]["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}
        ]
        return made

    moved = pod("p", "a1", owner="web-2")
    assert judged(revision("web-1", 0), revision("web-2", 3), moved) == ""
    assert judged(revision("web-1", 1), revision("web-2", 3), moved) == "ReplicaSet web-2 is being updated"


def test_a_stateful_set_with_two_revisions_is_left_alone() -> None:
    def one(name: str, revision: str) -> Manifest:
        return pod(name, "a1", owner="web", kind="StatefulSet", labels={"controller-revision-hash": revision})

    workload = replica_set(2, kind="StatefulSet")
    assert judged(workload, one("web-0", "1"), one("web-1", "1"), name="web-0") == ""
    assert judged(workload, one("web-0", "1"), one("web-1", "2"), name="web-0") == "StatefulSet web is being updated"
