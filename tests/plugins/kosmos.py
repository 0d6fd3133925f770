"""Policies of group kosmos.io in a line each, for tests of the LeafNode plugins."""

from __future__ import annotations

from typing import Any

import msgspec

from bayplan.objects.third_party.kosmos import POLICY_LABEL, DistributionPolicy, WorkloadPolicy
from bayplan.testing import NodeBuilder, PodBuilder, node, pod

KEY = "workload-test"
APP = {"app": "web"}


def policy(*domains: dict[str, Any], name: str = "pol", namespace: str = "default", **spec: Any) -> WorkloadPolicy:
    """A WorkloadPolicy over ``KEY`` for the pods of ``APP``; fields are written as in a file."""
    given = {
        "topologyKey": KEY,
        "labelSelector": {"matchLabels": APP},
        "allocationPolicy": list(domains),
        **spec,
    }
    return msgspec.convert({"metadata": {"name": name, "namespace": namespace}, "spec": given}, WorkloadPolicy)


def numbers(**replicas: Any) -> list[dict[str, Any]]:
    """Domains with their replicas: ``numbers(member=1, host=3)``."""
    return [{"name": name, "replicas": number} for name, number in replicas.items()]


def required(*domains: dict[str, Any], **spec: Any) -> WorkloadPolicy:
    return policy(*domains, allocationType="Required", **spec)


def asking(name: str = "asks", policy_name: str = "pol") -> PodBuilder:
    """A pod that names a policy and that its selector matches."""
    return pod(name).label({**APP, POLICY_LABEL: policy_name})


def domain(value: str, name: str = "") -> NodeBuilder:
    """A node in a domain."""
    return node(name or value).label({KEY: value})


def placed(on: str, count: int, prefix: str = "web", **labels: str) -> list[PodBuilder]:
    """So many pods of the policy on a node."""
    return [pod(f"{prefix}-{on}-{number}").label({**APP, **labels}).on(on) for number in range(count)]


def distribution(selectors: list[dict[str, Any]], terms: list[dict[str, Any]], **meta: Any) -> DistributionPolicy:
    metadata = {"name": "dist", "namespace": "default", **meta}
    spec = {"resourceSelectors": selectors, "policyTerms": terms}
    return msgspec.convert({"metadata": metadata, "spec": spec}, DistributionPolicy)
