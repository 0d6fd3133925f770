"""What a pod's page tells of its policy, and to whom."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.app.ui.picture import pod_page
from bayplan.app.ui.rights import EVERYTHING, Rights
from bayplan.simulator.rebalance_plan import observed_of
from bayplan.view.cluster_view import PodRow
from tests.app.ui.support import CLUSTER, simulated

POLICY = """\
---
apiVersion: kosmos.io/v1alpha1
kind: WorkloadPolicy
metadata: {name: zones, namespace: shop}
spec:
  topologyKey: topology.kubernetes.io/zone
  labelSelector: {matchLabels: {app: web}}
  allocationPolicy: [{name: a, replicas: 3}, {name: c, replicas: 1}]
  allocationType: Required
"""
SHOP = frozenset({"shop"})


@pytest.mark.parametrize(
    ("rights", "policy", "domain"),
    [
        (EVERYTHING, "zones", "a"),
        (Rights(SHOP, True, SHOP), "zones", "a"),
        (Rights(SHOP, False, SHOP), "zones", None),
        (Rights(SHOP, True), None, None),
        (Rights(None, True), None, None),
    ],
)
def test_a_policy_is_told_to_who_may_list_it(rights: Rights, policy: str | None, domain: str | None) -> None:
    named = CLUSTER.replace(
        "labels: {app: web}}\n    spec", "labels: {app: web, workload-policy/kosmos.io: zones}}\n    spec"
    )
    observed = observed_of(simulated(named + POLICY).world)
    pod = next(each for each in observed.pods("shop") if each.node_name)
    told: dict[str, Any] | None = pod_page(observed, PodRow(pod, "Bound"), rights, ())["policy"]
    if told is None:
        assert policy is None
        return
    assert (told["name"], told["domain"]) == (policy, domain)
    assert [(each["name"], each["wanted"], each["running"], each["missing"]) for each in told["domains"]] == [
        ("a", 3, 3, 0),
        ("c", 1, 0, 1),
    ]
