"""Each mistake in a policy is one line that names the field and says what to write."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.objects.admission import validating
from bayplan.objects.third_party.kosmos import DistributionPolicy, WorkloadPolicy
from bayplan.objects.third_party.kosmos_validating import unusual_spellings

GOOD: dict[str, Any] = {
    "topologyKey": "region",
    "labelSelector": {"matchLabels": {"app": "web"}},
    "allocationPolicy": [{"name": "a", "replicas": 5}, {"name": "b", "replicas": 3}],
}


def policy(name: str = "p", **changes: Any) -> WorkloadPolicy:
    spec = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    return msgspec.convert({"metadata": {"name": name, "namespace": "default"}, "spec": spec}, WorkloadPolicy)


def mistakes(thing: Any) -> list[str]:
    return [str(each) for each in validating.check_object(thing)]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"allocationType": "require", "scheduleStrategy": "fill"},
        {"allocationMethod": "Fill", "scheduleStrategy": "fill"},
        {"allocationPolicy": [{"name": "a", "replicas": "60%"}, {"name": "b", "replicas": "40%"}]},
        {"allocationPolicy": [{"name": "a", "weight": 2}, {"name": "b", "weight": 1}, {"name": "c", "replicas": 0}]},
        {"allocationPolicy": [{"name": "a", "replicas": 2}, {"name": "b", "remainder": True}]},
        {"allocationPolicy": [{"name": "", "replicas": 2}]},
        {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}},
        {"matchLabelKeys": ["pod-template-hash"], "unlistedDomains": "allow"},
        {"rebalance": {"mode": "Auto", "maxUnavailable": "25%", "intervalSeconds": 0}},
    ],
)
def test_good_policies_have_no_mistakes(changes: dict[str, Any]) -> None:
    assert mistakes(policy(**changes)) == []


def domains(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"allocationPolicy": list(entries)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"topologyKey": ""},
            "spec.topologyKey: there is none; write a node label such as topology.kubernetes.io/region",
        ),
        ({"topologyKey": "a b"}, 'spec.topologyKey: "a b" is not a label key'),
        ({"labelSelector": None}, "spec.labelSelector: there is none; write the labels of the pods under matchLabels"),
        ({"labelSelector": {}}, "spec.labelSelector: it is empty and would match every pod of the namespace"),
        (
            {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}},
            'spec.labelSelector.matchExpressions[0].operator: "Is" is not an operator here',
        ),
        ({"allocationPolicy": None}, "spec.allocationPolicy: there is none; write at least one domain"),
        (
            domains({"name": "a", "replicas": 1}, {"name": "a", "replicas": 2}),
            'spec.allocationPolicy: "a" is there more than once; keep one of them',
        ),
        (domains({"replicas": 1}), "spec.allocationPolicy[0].name: there is none; write a value of the node label"),
        (domains({"name": "a b", "replicas": 1}), 'spec.allocationPolicy[0].name: "a b" is not a label value'),
        (
            domains({"name": "a", "replicas": -1}),
            "spec.allocationPolicy[0].replicas: -1 is less than nothing; write 0 or more",
        ),
        (
            domains({"name": "a", "replicas": "5"}),
            'spec.allocationPolicy[0].replicas: "5" is no number of pods; write a number without quotes',
        ),
        (
            domains({"name": "a", "replicas": "some"}),
            'spec.allocationPolicy[0].replicas: "some" is no number of pods; write a number, or one like "40%"',
        ),
        (
            domains({"name": "a", "replicas": "120%"}),
            'spec.allocationPolicy[0].replicas: "120%" is no number of pods; write a number, or one like "40%"',
        ),
        (
            domains({"name": "a"}),
            "spec.allocationPolicy[0]: does not say how many pods; write replicas, weight or remainder: true",
        ),
        (
            domains({"name": "a", "replicas": 1, "weight": 2}),
            "spec.allocationPolicy[0]: says replicas and weight; keep one of them",
        ),
        (domains({"name": "a", "weight": 0}), "spec.allocationPolicy[0].weight: 0 is no weight; write 1 to 10000"),
        (
            domains({"name": "a", "remainder": True}, {"name": "b", "remainder": True}),
            "spec.allocationPolicy: 2 domains take the remainder; keep remainder: true in one of them",
        ),
        (
            domains({"name": "a", "remainder": True}, {"name": "b", "weight": 1}),
            "spec.allocationPolicy: weights leave nothing for the remainder; write weights or remainder: true",
        ),
        (
            domains({"name": "a", "replicas": "60%"}, {"name": "b", "replicas": "41%"}),
            "spec.allocationPolicy: the percentages are more than 100% together; write smaller ones",
        ),
        (
            {"allocationType": "Always"},
            'spec.allocationType: "Always" is not possible here; write Preferred or Required instead',
        ),
        (
            {"allocationMethod": "Pour"},
            'spec.allocationMethod: "Pour" is not possible here; write Balance or Fill instead',
        ),
        (
            {"allocationMethod": "Fill", "scheduleStrategy": "Balance"},
            "spec.scheduleStrategy: Balance contradicts allocationMethod Fill; remove it",
        ),
        (
            {"unlistedDomains": "Maybe"},
            'spec.unlistedDomains: "Maybe" is not possible here; write Deny or Allow instead',
        ),
        ({"matchLabelKeys": ["a b"]}, 'spec.matchLabelKeys[0]: "a b" is not a label key'),
        ({"rebalance": {"mode": False}}, 'spec.rebalance.mode: YAML reads Off without quotes as false; write "Off"'),
        (
            {"rebalance": {"mode": "Now"}},
            'spec.rebalance.mode: "Now" is not possible here; write Off or DryRun or Auto',
        ),
        (
            {"rebalance": {"maxUnavailable": 2**31}},
            "spec.rebalance.maxUnavailable: 2147483648 is too large; write a 32-",
        ),
        ({"rebalance": {"maxUnavailable": -1}}, "spec.rebalance.maxUnavailable: -1 is less than nothing"),
        ({"rebalance": {"intervalSeconds": -1}}, "spec.rebalance.intervalSeconds: -1 is less than nothing"),
    ],
)
def test_every_mistake_is_one_line_with_field_and_remedy(changes: dict[str, Any], said: str) -> None:
    (found,) = mistakes(policy(**changes))
    assert found.startswith(said)
    assert "\n" not in found


def test_a_name_that_no_label_can_hold_is_a_mistake() -> None:
    (found,) = mistakes(policy("p" * 64))
    assert found.startswith("metadata.name: 64 characters are too many: pods name the policy in a label")


@pytest.mark.parametrize(
    ("changes", "notes"),
    [
        ({}, []),
        ({"allocationType": "Required", "allocationMethod": "Fill", "unlistedDomains": "Deny"}, []),
        ({"allocationType": "require"}, ['spec.allocationType: "require" is read as Required; write Required']),
        ({"allocationMethod": "fill"}, ['spec.allocationMethod: "fill" is read as Fill; write Fill']),
        ({"scheduleStrategy": "Fill"}, ["spec.scheduleStrategy is read as allocationMethod: Fill; write that"]),
    ],
)
def test_other_spellings_are_noticed(changes: dict[str, Any], notes: list[str]) -> None:
    assert list(unusual_spellings(policy(**changes))) == notes


def distribution(selectors: list[dict[str, Any]], terms: list[dict[str, Any]]) -> DistributionPolicy:
    spec = {"resourceSelectors": selectors, "policyTerms": terms}
    return msgspec.convert({"metadata": {"name": "d", "namespace": "default"}, "spec": spec}, DistributionPolicy)


PODS = [{"policyName": "t", "namePrefix": "web"}]


@pytest.mark.parametrize(
    ("selectors", "terms", "said"),
    [
        (PODS, [{"name": "t", "nodeType": "leaf"}], []),
        (PODS, [{"name": "t", "nodeType": "adv", "advancedTerm": {"nodeName": "n1"}}], []),
        ([], [{"name": "t"}], ["spec.resourceSelectors: there is none"]),
        (
            [{"policyName": "u", "name": "a"}],
            [{"name": "t"}],
            ['spec.resourceSelectors[0].policyName: "u" is no policy term'],
        ),
        ([{"name": "a"}], [{"name": "t"}], ["spec.resourceSelectors[0].policyName: there is none"]),
        ([{"policyName": "t"}], [{"name": "t"}], ["spec.resourceSelectors[0]: selects no pods"]),
        (
            [{"policyName": "t", "labelSelector": {}}],
            [{"name": "t"}],
            ["spec.resourceSelectors[0].labelSelector: it is empty"],
        ),
        (PODS, [{"name": "t"}, {"name": "t"}], ['spec.policyTerms[1].name: "t" is there already']),
        (PODS, [{"name": "t", "nodeType": "both"}], ['spec.policyTerms[0].nodeType: "both" is not possible here']),
        (PODS, [{"name": "t", "nodeType": "adv"}], ["spec.policyTerms[0].advancedTerm: nodeType adv needs one"]),
        (
            PODS,
            [{"name": "t", "nodeType": "adv", "advancedTerm": {"tolerations": [{"value": "x"}]}}],
            ["spec.policyTerms[0].advancedTerm.tolerations[0].operator: without a key it must be Exists"],
        ),
    ],
)
def test_distribution_policies_are_checked_too(
    selectors: list[dict[str, Any]], terms: list[dict[str, Any]], said: list[str]
) -> None:
    found = mistakes(distribution(selectors, terms))
    assert len(found) == len(said)
    assert all(line.startswith(expected) for line, expected in zip(found, said, strict=True))
