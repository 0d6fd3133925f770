"""Policies of group kosmos.io as they are read: spellings, defaults, and where the API serves them."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects import kinds
from bayplan.objects.third_party.kosmos import (
    ClusterDistributionPolicy,
    DistributionPolicy,
    DomainAllocation,
    WorkloadPolicy,
)


def decoded(**spec: Any) -> WorkloadPolicy:
    raw = {"apiVersion": "kosmos.io/v1alpha1", "kind": "WorkloadPolicy", "metadata": {"name": "p"}, "spec": spec}
    found = kinds.decode(raw)
    assert isinstance(found, WorkloadPolicy)
    return found


def test_a_policy_is_soft_balanced_and_closed_to_other_domains_unless_it_says_otherwise() -> None:
    policy = decoded()
    assert (policy.is_required, policy.fills, policy.allows_unlisted) == (False, False, False)
    assert policy.domains == ()


@pytest.mark.parametrize("written", ["Required", "required", "Require", "require", "REQUIRED"])
def test_required_is_understood_in_every_spelling_in_use(written: str) -> None:
    assert decoded(allocationType=written).is_required


@pytest.mark.parametrize("written", ["Preferred", "preferred", "prefer", ""])
def test_preferred_is_understood_in_every_spelling_in_use(written: str) -> None:
    assert not decoded(allocationType=written).is_required


@pytest.mark.parametrize(
    ("spec", "fills"),
    [
        ({"allocationMethod": "Fill"}, True),
        ({"allocationMethod": "fill"}, True),
        ({"scheduleStrategy": "Fill"}, True),
        ({"scheduleStrategy": "fill"}, True),
        ({"allocationMethod": "Balance"}, False),
        ({"scheduleStrategy": "balance"}, False),
        # As the API server gives back a policy that was written with the other name alone.
        ({"allocationMethod": "Balance", "scheduleStrategy": "Fill"}, True),
    ],
)
def test_the_method_has_two_names(spec: dict[str, str], fills: bool) -> None:
    assert decoded(**spec).fills is fills


@pytest.mark.parametrize(("written", "percent"), [("40%", 40), ("0%", 0), (5, None), (None, None)])
def test_replicas_are_a_number_or_a_percentage(written: int | str | None, percent: int | None) -> None:
    assert DomainAllocation(name="a", replicas=written).percent == percent


@pytest.mark.parametrize(
    ("struct", "plural", "namespaced"),
    [
        (WorkloadPolicy, "workloadpolicies", True),
        (DistributionPolicy, "distributionpolicies", True),
        (ClusterDistributionPolicy, "clusterdistributionpolicies", False),
    ],
)
def test_the_kinds_are_registered_under_their_group(struct: type[Any], plural: str, namespaced: bool) -> None:
    kind = kinds.find("kosmos.io/v1alpha1", struct.__name__)
    assert kind is not None
    assert (kind.struct, kind.plural, kind.namespaced, kind.api_version) == (
        struct,
        plural,
        namespaced,
        "kosmos.io/v1alpha1",
    )
