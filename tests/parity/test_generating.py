"""Generated clusters repeat, differ between seeds, and together use every feature."""

from __future__ import annotations

import json
from dataclasses import asdict

from tests.parity.generating import Cluster, generate
from tests.parity.generating.pods import FEATURES
from tests.parity.generating.style import EVERYTHING, STYLES

MARKS = {
    "every toleration operator": ['"operator": "Exists"', '"operator": "Equal"'],
    "every taint effect": ['"NoSchedule"', '"NoExecute"', '"PreferNoSchedule"'],
    "every node selector operator": ['"In"', '"NotIn"', '"DoesNotExist"', '"Gt"', '"Lt"', "matchFields"],
    "every field of spreading": ["minDomains", "matchLabelKeys", "nodeAffinityPolicy", "nodeTaintsPolicy"],
    "every way to name namespaces": ["namespaceSelector", '"namespaces"', "mismatchLabelKeys"],
    "every protocol": ['"UDP"', '"SCTP"', "hostIP", "hostNetwork"],
    "odd resources": ["hugepages-2Mi", "example.com/gpu", "ephemeral-storage", '"runtimeClassName"', '"cpu": "0"'],
    "states of pods": ["finalizers", "allocatedResources", '"Succeeded"', "nominatedNodeName", "schedulingGates"],
}


def text_of(cluster: Cluster) -> str:
    return json.dumps(asdict(cluster))


def test_the_same_seed_gives_the_same_cluster() -> None:
    assert all(text_of(generate(seed)) == text_of(generate(seed)) for seed in range(len(STYLES)))


def test_seeds_differ() -> None:
    assert len({text_of(generate(seed)) for seed in range(30)}) == 30


def test_names_are_unique_within_a_cluster() -> None:
    for seed in range(60):
        cluster = generate(seed)
        keys = [
            (one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"])
            for one in [*cluster.objects, *cluster.bound, *cluster.pending]
        ]
        assert len(keys) == len(set(keys)), f"seed {seed}"


def test_every_feature_belongs_to_some_style() -> None:
    assert set(EVERYTHING) == set(FEATURES)
    assert all(set(style.features) <= set(FEATURES) for style in STYLES)


def test_a_few_dozen_seeds_use_everything() -> None:
    text = "".join(text_of(generate(seed)) for seed in range(3 * len(STYLES)))
    missing = {rule: [mark for mark in marks if mark not in text] for rule, marks in MARKS.items()}
    assert {rule: marks for rule, marks in missing.items() if marks} == {}
