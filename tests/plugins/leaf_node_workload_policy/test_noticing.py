"""Policies that count pods which name none are told of, once each."""

from __future__ import annotations

import pytest

from bayplan.engine.store import Store
from bayplan.objects.meta import LabelSelector, ObjectMeta
from bayplan.objects.third_party.kosmos import (
    POLICY_LABEL,
    POLICY_LABEL_ALIAS,
    DomainAllocation,
    WorkloadPolicy,
    WorkloadPolicySpec,
)
from bayplan.plugins.leaf_node_workload_policy.noticing import Overlooked, advice
from bayplan.testing import PodBuilder, pod


def policy(name: str, namespace: str = "default", **labels: str) -> WorkloadPolicy:
    spec = WorkloadPolicySpec(
        topology_key="zone",
        label_selector=LabelSelector(match_labels=labels) if labels else None,
        allocation_policy=(DomainAllocation(name="a", replicas=1),),
    )
    return WorkloadPolicy(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec)


def told(*pods: PodBuilder, policies: tuple[WorkloadPolicy, ...]) -> list[tuple[str, str]]:
    store, heard = Store(), []
    for each in policies:
        store.put("WorkloadPolicy", each.namespace, each.name, each)
    overlooked = Overlooked(store, lambda policy, pod: heard.append((policy.key, pod.name)))
    for made in pods:
        overlooked.look(made.build())
    return heard


@pytest.mark.parametrize(
    ("made", "is_told"),
    [
        (pod("p").label(app="web"), True),
        (pod("p").label(app="db"), False),
        (pod("p").namespace("shop").label(app="web"), False),
        (pod("p").label({"app": "web", POLICY_LABEL: "wp"}), False),
        (pod("p").label({"app": "web", POLICY_LABEL_ALIAS: "another"}), False),
        (pod("p").label(app="web").owned_by("DaemonSet", "ds"), False),
    ],
)
def test_a_pod_that_is_counted_and_names_no_policy_is_told_of(made: PodBuilder, is_told: bool) -> None:
    assert told(made, policies=(policy("wp", app="web"),)) == ([("default/wp", "p")] if is_told else [])


def test_each_policy_is_told_of_once() -> None:
    pods = [pod(f"p{number}").label(app="web", number=str(number)) for number in range(3)]
    assert told(*pods, policies=(policy("wp", app="web"), policy("other", number="2"))) == [
        ("default/wp", "p0"),
        ("default/other", "p2"),
    ]


def test_a_policy_that_cannot_be_used_is_told_of_elsewhere() -> None:
    assert told(pod("p").label(app="web"), policies=(policy("wp"),)) == []


def test_a_policy_that_comes_later_is_seen() -> None:
    store, heard = Store(), []
    overlooked = Overlooked(store, lambda policy, pod: heard.append(policy.name))
    made = pod("p").label(app="web").build()
    overlooked.look(made)
    store.put("WorkloadPolicy", "default", "wp", policy("wp", app="web"))
    overlooked.look(made)
    assert heard == ["wp"]


def test_the_advice_names_the_label() -> None:
    assert advice(policy("wp")) == "write the label workload-policy/kosmos.io: wp under spec.template.metadata.labels"
