"""Generated clusters repeat, differ between seeds, and together use every feature."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict

import pytest

from tests.parity.generating import Cluster, generate
from tests.parity.generating.device_style import FIRST_DEVICE_SEED, FIRST_TAINT_RULE_SEED
from tests.parity.generating.pods import FEATURES
from tests.parity.generating.style import EVERYTHING, FIRST_FULL_SEED, FIRST_STORAGE_SEED, STORAGE_STYLES, STYLES

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
STORAGE_MARKS = {
    "every kind of volume": ["persistentVolumeClaim", '"ephemeral"', "gcePersistentDisk", "iscsi", "rbd", "azureFile"],
    "states of claims": ["bind-completed", '"Lost"', "selected-node", '"ReadWriteOncePod"', '"volumeMode"'],
    "states of volumes": [
        '"Available"',
        '"Released"',
        "claimRef",
        "failure-domain.beta.kubernetes.io/zone",
        "z1____z2",
    ],
    "what drivers say": ["migrated-plugins", "maximumVolumeSize", "storageCapacity", "allowedTopologies", "attacher"],
}
DEVICE_MARKS = {
    "every choice of nodes": ['"nodeName"', '"allNodes"', '"nodeSelector"', "perDeviceNodeSelection"],
    "what devices have": [
        "consumesCounters",
        "allowMultipleAllocations",
        "requestPolicy",
        "bindingConditions",
        "bindsToNode",
    ],
    "what claims ask for": [
        "firstAvailable",
        '"All"',
        "adminAccess",
        "matchAttribute",
        "distinctAttribute",
        "tolerations",
    ],
    "what stands behind resources": ["extendedResourceName", "deviceclass.resource.kubernetes.io/"],
    "what is there before": ["reservedFor", '"priorityClassName"', "DeviceTaintRule"],
}
DEVICE_SEEDS = (
    *range(FIRST_DEVICE_SEED, FIRST_DEVICE_SEED + 60),
    *range(FIRST_TAINT_RULE_SEED, FIRST_TAINT_RULE_SEED + 5),
)
STORAGE_SEEDS = range(FIRST_STORAGE_SEED, FIRST_STORAGE_SEED + 10 * len(STORAGE_STYLES))


def text_of(cluster: Cluster) -> str:
    return json.dumps(asdict(cluster))


def test_the_same_seed_gives_the_same_cluster() -> None:
    seeds = [*range(len(STYLES)), *STORAGE_SEEDS[: len(STORAGE_STYLES)]]
    assert all(text_of(generate(seed)) == text_of(generate(seed)) for seed in seeds)


def test_seeds_differ() -> None:
    assert len({text_of(generate(seed)) for seed in range(30)}) == 30


def test_names_are_unique_within_a_cluster() -> None:
    for seed in [*range(60), *STORAGE_SEEDS]:
        cluster = generate(seed)
        keys = [
            (one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"])
            for one in [*cluster.objects, *cluster.bound, *cluster.pending]
        ]
        assert len(keys) == len(set(keys)), f"seed {seed}"


def test_every_feature_belongs_to_some_style() -> None:
    assert set(EVERYTHING) == set(FEATURES)
    assert all(set(style.features) <= set(FEATURES) for style in (*STYLES, *STORAGE_STYLES))


@pytest.mark.parametrize(
    ("seeds", "expected"),
    [(range(3 * len(STYLES)), MARKS), (STORAGE_SEEDS, STORAGE_MARKS), (DEVICE_SEEDS, DEVICE_MARKS)],
)
def test_a_few_dozen_seeds_use_everything(seeds: Iterable[int], expected: dict[str, list[str]]) -> None:
    text = "".join(text_of(generate(seed)) for seed in seeds)
    missing = {rule: [mark for mark in marks if mark not in text] for rule, marks in expected.items()}
    assert {rule: marks for rule, marks in missing.items() if marks} == {}


def test_clusters_of_full_size_have_ten_to_fifty_nodes_and_no_port_held_twice() -> None:
    for seed in range(FIRST_FULL_SEED, FIRST_FULL_SEED + 200):
        cluster = generate(seed)
        assert 10 <= sum(one["kind"] == "Node" for one in cluster.objects) <= 50
        assert 20 <= len(cluster.pending) <= 100
        held = Counter(
            (pod["spec"]["nodeName"], port["hostPort"], port.get("protocol", "TCP"), port.get("hostIP") or "0.0.0.0")
            for pod in cluster.bound
            if "nodeName" in pod["spec"]
            for port in {
                (port["hostPort"], port.get("protocol", "TCP"), port.get("hostIP") or "0.0.0.0"): port
                for container in pod["spec"]["containers"]
                for port in container.get("ports", ())
                if "hostPort" in port
            }.values()
        )
        assert max(held.values(), default=1) == 1
