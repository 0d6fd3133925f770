"""Whole simulations with a policy: the nodes, the workload, and where its pods went."""

from __future__ import annotations

from collections import Counter
from typing import Any

from bayplan.objects.third_party.kosmos import POLICY_LABEL
from bayplan.simulator import loading, simulation
from tests.plugins.kosmos import APP, KEY

Manifest = dict[str, Any]


def node(name: str, value: str, key: str = KEY, **more: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, key: value}, **more.pop("metadata", {})},
        "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}},
        **more,
    }


NODES = [*(node(f"member-{n}", "member") for n in (1, 2)), *(node(f"host-{n}", "host") for n in (1, 2, 3, 4))]


def written(domains: list[Manifest], key: str = KEY, **spec: Any) -> Manifest:
    """A policy as it stands in a file."""
    given = {"topologyKey": key, "labelSelector": {"matchLabels": APP}, "allocationPolicy": domains, **spec}
    return {
        "apiVersion": "kosmos.io/v1alpha1",
        "kind": "WorkloadPolicy",
        "metadata": {"name": "pol", "namespace": "default"},
        "spec": given,
    }


def deployment(replicas: int, kind: str = "Deployment", **spec: Any) -> Manifest:
    """A workload whose pods ask for the policy."""
    labels = {**APP, POLICY_LABEL: "pol"}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": APP},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
            **spec,
        },
    }


def simulated(manifests: list[Manifest], seed: int = 0) -> Manifest:
    given = loading.load(loading.documents_of(manifests))
    return simulation.simulate(given, seed=seed, now=0.0)


def bound(result: Manifest) -> list[Manifest]:
    return [each for each in result["pods"] if each["state"] == "Bound"]


def domains_of(result: Manifest) -> dict[str, int]:
    """Bound pods by domain; nodes are called after theirs."""
    return dict(Counter(each["node"].rsplit("-", 1)[0] for each in bound(result)))
