"""The policy of a pod's page: how it stands, and where the pod is."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from bayplan.controllers.rebalancer.observed import Observed
from bayplan.simulator.rebalance_plan import observed_of
from bayplan.simulator.world import World
from bayplan.view.policies import policy_of
from bayplan.view.world_view import world_view
from tests.simulator.support import Manifest, node, pod
from tests.view.support import ran

LABELS = {"app": "web", "workload-policy/kosmos.io": "zones"}
POLICY: Manifest = {
    "apiVersion": "kosmos.io/v1alpha1",
    "kind": "WorkloadPolicy",
    "metadata": {"name": "zones", "namespace": "default"},
    "spec": {
        "topologyKey": "zone",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "allocationPolicy": [{"name": "a", "replicas": 1}, {"name": "b", "replicas": 2}],
        "allocationType": "Required",
    },
}
DOMAINS = [
    {"name": "a", "wanted": 1, "running": 1, "ready": 1, "missing": 0},
    {"name": "b", "wanted": 2, "running": 0, "ready": 0, "missing": 2},
]
ABOUT = {"namespace": "default", "name": "zones", "topologyKey": "zone", "domains": DOMAINS}


def web(name: str, **labels: str) -> Manifest:
    return pod(name, "1", meta={"labels": LABELS | labels})


@pytest.fixture
def world() -> World:
    """Zone b has no node, so that of three pods two wait."""
    others = [pod("plain", "1"), web("other", app="db")]
    return ran(node("n1", labels={"zone": "a"}), POLICY, *(web(f"web-{n}") for n in range(3)), *others)


def told(world: World, name: str) -> dict[str, Any] | None:
    found = world.cluster.pod(f"default/{name}")
    assert found is not None
    return policy_of(found, partial(observed_of, world))


def test_the_policy_of_a_pod_says_what_is_wanted_where(world: World) -> None:
    assert told(world, "web-0") == ABOUT | {"domain": "a"}
    assert told(world, "web-1") == ABOUT | {"domain": None}


def test_a_pod_without_a_policy_has_none(world: World) -> None:
    assert told(world, "other") is None, "the selector does not match it"

    def observe() -> Observed:
        raise AssertionError("nothing is looked at for a pod that names no policy")

    plain = world.cluster.pod("default/plain")
    assert plain is not None
    assert policy_of(plain, observe) is None


def test_a_report_says_it_of_pods_that_wait(world: World) -> None:
    groups = world_view(world)["pending"]
    policies = [group["view"]["policy"] for group in groups]
    assert ABOUT | {"domain": None} in policies
