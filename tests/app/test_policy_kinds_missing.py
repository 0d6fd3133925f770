"""A profile with the LeafNode plugins on an API server that has none of their kinds: pods that ask for none go on."""

from __future__ import annotations

import pytest

from bayplan.framework.config.loading import load_config
from tests.support.kosmos import example
from tests.support.live import Cluster, running

pytestmark = pytest.mark.kube


async def test_without_the_kinds_only_pods_that_ask_for_a_policy_wait(cluster: Cluster) -> None:
    config = load_config(example("scheduler-config.yaml"), "scheduler-config.yaml")[0]
    await cluster.node("n1")
    async with running(cluster.plane, config=config) as run:
        await cluster.pod("plain", schedulerName="kosmos-scheduler")
        labels = {"app": "web", "workload-policy/kosmos.io": "regions"}
        await cluster.pod("asks", schedulerName="kosmos-scheduler", metadata={"labels": labels})
        assert await cluster.bound("plain") == "n1"
        condition = await cluster.unschedulable("asks")
        refusals = run.live.refusals()
    assert 'WorkloadPolicy "regions" not found' in condition["message"]
    assert sorted(each.split(":")[0] for each in refusals) == [
        f"the API server has no {kind} in kosmos.io/v1alpha1"
        for kind in ("clusterdistributionpolicies", "distributionpolicies", "workloadpolicies")
    ]
