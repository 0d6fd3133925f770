"""Workloads under a policy, in virtual time: five here and three there, whoever makes the pods."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.third_party.kosmos import POLICY_LABEL, POLICY_LABEL_ALIAS
from bayplan.simulator import loading, simulation
from tests.plugins.kosmos import numbers
from tests.plugins.leaf_node_workload_policy.simulated import (
    NODES,
    bound,
    deployment,
    domains_of,
    node,
    simulated,
    written,
)

REGIONS = [node(f"{name}-{number}", f"region{name.upper()}", "region") for name in "ab" for number in (1, 2)]
TAINT = {"taints": [{"key": "kosmos.io/node", "value": "true", "effect": "NoSchedule"}]}
CLUSTERS = [{**each, "spec": TAINT} for each in REGIONS]
LEAF_PROFILE: dict[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {
                "multiPoint": {"enabled": [{"name": "LeafNodeWorkloadPolicy"}]},
                "filter": {
                    "enabled": [{"name": "LeafNodeTaintToleration"}],
                    "disabled": [{"name": "TaintToleration"}],
                },
            },
        }
    ],
}


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
@pytest.mark.parametrize("type_", ["Required", "Preferred"])
@pytest.mark.parametrize("method", ["Balance", "Fill"])
@pytest.mark.parametrize("seed", range(3))
def test_five_in_region_a_and_three_in_region_b(kind: str, type_: str, method: str, seed: int) -> None:
    made = written(numbers(regionA=5, regionB=3), "region", allocationType=type_, allocationMethod=method)
    more = {"serviceName": "web"} if kind == "StatefulSet" else {}
    result = simulated([*REGIONS, made, deployment(8, kind, **more)], seed)
    assert domains_of(result) == {"a": 5, "b": 3}


def test_clusters_can_be_domains() -> None:
    made = written(numbers(regionA=5, regionB=3), "region", allocationType="Required")
    result = simulated([*CLUSTERS, made, deployment(8), LEAF_PROFILE])
    assert domains_of(result) == {"a": 5, "b": 3}
    kept_off = simulated([*CLUSTERS, made, deployment(8)])
    assert bound(kept_off) == [], "without LeafNodeTaintToleration pods must tolerate the taint"


@pytest.mark.parametrize(
    ("domains", "replicas", "found"),
    [
        ([{"name": "member", "replicas": "25%"}, {"name": "host", "replicas": "75%"}], 8, {"member": 2, "host": 6}),
        ([{"name": "member", "weight": 1}, {"name": "host", "weight": 3}], 12, {"member": 3, "host": 9}),
        ([{"name": "member", "replicas": 2}, {"name": "host", "remainder": True}], 9, {"member": 2, "host": 7}),
    ],
)
@pytest.mark.parametrize("type_", ["Required", "Preferred"])
def test_shares_are_kept(domains: list[Any], replicas: int, found: dict[str, int], type_: str) -> None:
    result = simulated([*NODES, written(domains, allocationType=type_), deployment(replicas)])
    assert domains_of(result) == found


def test_pods_beyond_the_numbers_wait_with_the_reason() -> None:
    made = written(numbers(member=1, host=3), allocationType="Required")
    result = simulated([*NODES, made, deployment(6)])
    assert domains_of(result) == {"member": 1, "host": 3}
    (message,) = {each["message"] for each in result["pods"] if each["state"] == "Pending"}
    assert message.startswith(
        "0/6 nodes are available: 2 node(s) in workload-test=member had 1/1 pods of WorkloadPolicy pol, "
        "4 node(s) in workload-test=host had 3/3 pods of WorkloadPolicy pol."
    )


def test_other_plugins_choose_the_node_but_not_the_domain() -> None:
    """Every other score speaks for member-1; the policy has the last word on the domain."""
    workload = deployment(4)
    preferred = {
        "weight": 100,
        "preference": {
            "matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["member-1"]}]
        },
    }
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}
    workload["spec"]["template"]["spec"]["affinity"] = affinity
    result = simulated([*NODES, written(numbers(member=1, host=3)), workload])
    assert domains_of(result) == {"member": 1, "host": 3}
    assert "member-1" in {each["node"] for each in bound(result)}


def test_the_other_spelling_of_the_label_works_with_a_warning() -> None:
    workload = deployment(6)
    labels = workload["spec"]["template"]["metadata"]["labels"]
    labels[POLICY_LABEL_ALIAS] = labels.pop(POLICY_LABEL)
    made = written(numbers(member=1, host=3), allocationType="require", scheduleStrategy="fill")
    given = loading.load(loading.documents_of([*NODES, made, workload]))
    assert domains_of(simulation.simulate(given, now=0.0)) == {"member": 1, "host": 3}
    assert len(given.warnings) == 3


def test_a_broken_policy_is_refused_when_it_is_read_from_a_file() -> None:
    with pytest.raises(Exception, match=r"WorkloadPolicy default/pol: spec.allocationPolicy\[0\].replicas: -1"):
        simulated([*NODES, written(numbers(member=-1)), deployment(1)])
