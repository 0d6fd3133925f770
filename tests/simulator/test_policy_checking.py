"""Workload policies without effect are warned of, in simulations and explanations alike."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.third_party.kosmos import POLICY_LABEL
from bayplan.simulator.policy_checking import without_effect
from bayplan.simulator.world import assemble
from tests.simulator.support import START, Manifest, given, node, pod, workload
from tests.simulator.test_timed_changes import at

POLICY: Manifest = {
    "apiVersion": "kosmos.io/v1alpha1",
    "kind": "WorkloadPolicy",
    "metadata": {"name": "wp"},
    "spec": {
        "topologyKey": "zone",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "allocationPolicy": [{"name": "a", "replicas": 1}],
    },
}
NAMED = pod("named", meta={"labels": {"app": "web", POLICY_LABEL: "wp"}})
WEB = pod("web", meta={"labels": {"app": "web"}})


def warnings(*manifests: Manifest) -> list[str]:
    heard: list[str] = []
    assemble(given(node("n1"), POLICY, *manifests), now=START, warn=heard.append)
    return heard


@pytest.mark.parametrize(
    ("manifests", "expected"),
    [
        ([NAMED], []),
        ([WEB], ["default/web matches its labelSelector without naming it, so it has no say there; write the label"]),
        ([workload("Deployment", "web", replicas=3), NAMED], ["3 pods match its labelSelector without naming it"]),
        ([pod("other")], ["it has no effect: no pod matches its labelSelector"]),
        ([], ["it has no effect: no pod matches its labelSelector"]),
        ([workload("DaemonSet", "web")], []),
        ([at("5m", workload("Deployment", "web"))], ["default/web matches its labelSelector without naming it"]),
        ([at("5m", NAMED)], []),
    ],
)
def test_whoever_has_no_say_is_told(manifests: list[Manifest], expected: list[str]) -> None:
    found = warnings(*manifests)
    assert len(found) == len(expected)
    for line, text in zip(found, expected, strict=True):
        assert "WorkloadPolicy default/wp: " in line
        assert text in line


def test_a_label_in_the_wrong_place_is_told_of_once() -> None:
    labelled: dict[str, Any] = workload("Deployment", "web", replicas=3)
    labelled["metadata"]["labels"] = {POLICY_LABEL: "wp"}
    (line,) = warnings(labelled)
    assert f"metadata.labels.{POLICY_LABEL} has no effect" in line


def test_of_some_pods_only_what_concerns_them_is_told() -> None:
    assert [*without_effect(given(POLICY, WEB), [], is_all=False)] == []
