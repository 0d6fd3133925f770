"""What loading warns of: other spellings, fields nobody reads, and a policy label that no pod will have."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.files import loading
from bayplan.objects.files.manifests import Document

SPEC: dict[str, Any] = {
    "topologyKey": "region",
    "labelSelector": {"matchLabels": {"app": "web"}},
    "allocationPolicy": [{"name": "a", "replicas": 5}],
}


def warnings(kind: str, spec: dict[str, Any], api_version: str = "kosmos.io/v1alpha1", **meta: Any) -> list[str]:
    raw = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "x", "namespace": "default", **meta},
        "spec": spec,
    }
    return loading.load([Document("a.yaml", 3, raw)]).warnings


def test_a_policy_without_peculiarities_is_taken_in_silence() -> None:
    assert warnings("WorkloadPolicy", SPEC) == []


def test_other_spellings_are_told_with_their_place() -> None:
    assert warnings("WorkloadPolicy", {**SPEC, "scheduleStrategy": "Fill"}) == [
        "a.yaml:3: WorkloadPolicy default/x: spec.scheduleStrategy is read as allocationMethod: Fill; write that"
    ]


def test_every_word_may_be_in_upper_or_lower_case_and_is_told() -> None:
    words = {"allocationType": "REQUIRED", "allocationMethod": "FILL", "unlistedDomains": "ALLOW"}
    told = warnings("WorkloadPolicy", {**SPEC, **words, "rebalance": {"mode": "AUTO"}})
    assert [line.rpartition("; ")[2] for line in told] == ["write Required", "write Fill", "write Allow", "write Auto"]
    spec = {"resourceSelectors": [{"policyName": "t", "name": "a"}], "policyTerms": [{"name": "t", "nodeType": "Leaf"}]}
    (line,) = warnings("DistributionPolicy", spec)
    assert line.endswith('spec.policyTerms[0].nodeType: "Leaf" is read as leaf; write leaf')


def workload(in_template: dict[str, str]) -> dict[str, Any]:
    labels = {"app": "web", **in_template}
    return {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_a_policy_label_on_a_workload_but_not_on_its_pods_is_told(kind: str) -> None:
    labels = {"workload-policy/kosmos.io": "p"}
    (note,) = warnings(kind, workload({}), "apps/v1", labels=labels)
    assert "metadata.labels.workload-policy/kosmos.io has no effect: only labels of pods are read" in note
    assert warnings(kind, workload(labels), "apps/v1", labels=labels) == []


def test_the_other_spelling_of_the_label_is_told() -> None:
    (note,) = warnings("Deployment", workload({"workload-policy.kosmos.io": "p"}), "apps/v1")
    assert note.endswith("workload-policy.kosmos.io is read as workload-policy/kosmos.io; write that")
