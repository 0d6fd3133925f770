"""Other names for everything, the same one each time, so that what matched still matches."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from bayplan.app.snapshot.anonymizing import KINDS, Pseudonyms
from bayplan.objects.kinds import decode
from tests.support.explaining import explain_documents

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "acme-node-1",
        "labels": {
            "kubernetes.io/hostname": "acme-node-1",
            "topology.kubernetes.io/zone": "acme-east",
            "acme.com/rack": "r1",
            "generation": "7",
        },
    },
    "spec": {"taints": [{"key": "acme.com/team", "value": "payments", "effect": "NoSchedule"}]},
    "status": {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110", "acme.com/gpu": "2"},
        "images": [{"names": ["registry.acme.com/web:latest"], "sizeBytes": 300_000_000}],
        "conditions": [{"type": "Ready", "status": "True", "message": "acme says hello"}],
    },
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web-0",
        "namespace": "shop",
        "uid": "0b6c",
        "generateName": "web-",
        "labels": {"app": "checkout"},
        "annotations": {"example.com/note": "ask John Doe", "example.com/where": "r1", "example.com/order": "5"},
    },
    "spec": {
        "schedulerName": "acme-scheduler",
        "nodeSelector": {"acme.com/rack": "r1"},
        "tolerations": [{"key": "acme.com/team", "operator": "Equal", "value": "payments", "effect": "NoSchedule"}],
        "containers": [
            {
                "name": "checkout",
                "image": "registry.acme.com/web",
                "resources": {"requests": {"cpu": "500m", "acme.com/gpu": "1"}, "limits": {"acme.com/gpu": "1"}},
            }
        ],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [{"key": "generation", "operator": "Gt", "values": ["5"]}],
                            "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["acme-node-1"]}],
                        }
                    ]
                }
            },
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "topologyKey": "kubernetes.io/hostname",
                        "labelSelector": {"matchLabels": {"app": "checkout"}},
                        "namespaces": ["shop"],
                    }
                ]
            },
        },
    },
}
SECRETS = ("acme", "web", "shop", "checkout", "payments", "John", "rack", "r1", "0b6c")


def anonymous(*documents: dict[str, Any]) -> list[dict[str, Any]]:
    pseudonyms = Pseudonyms()
    found = [pseudonyms.document(copy.deepcopy(each)) for each in documents]
    return [each for each in found if each is not None]


def test_no_name_is_left() -> None:
    text = json.dumps(anonymous(NODE, POD)).replace("acme-scheduler", "")  # the one that a configuration names
    assert [secret for secret in SECRETS if secret in text] == []


def test_what_kubernetes_means_stays() -> None:
    node, pod = anonymous(NODE, POD)
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == node["metadata"]["name"]
    assert node["status"]["allocatable"]["cpu"] == "4"
    assert node["status"]["conditions"] == [{"type": "Ready", "status": "True"}]
    (term,) = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term["matchFields"] == [{"key": "metadata.name", "operator": "In", "values": [node["metadata"]["name"]]}]
    assert term["matchExpressions"][0]["values"] == ["5"]


def test_annotations_keep_their_names_which_plugins_know_and_lose_their_texts() -> None:
    _, pod = anonymous(NODE, POD)
    ((_, rack),) = pod["spec"]["nodeSelector"].items()
    assert pod["metadata"]["annotations"] == {"example.com/where": rack, "example.com/order": "5"}


def test_the_same_name_is_the_same_everywhere() -> None:
    node, pod = anonymous(NODE, POD)
    ((rack, value),) = pod["spec"]["nodeSelector"].items()
    assert node["metadata"]["labels"][rack] == value
    (taint,), (toleration,) = node["spec"]["taints"], pod["spec"]["tolerations"]
    assert (taint["key"], taint["value"]) == (toleration["key"], toleration["value"])
    (resource,) = (name for name in pod["spec"]["containers"][0]["resources"]["limits"])
    assert resource in node["status"]["allocatable"]
    assert resource.startswith("example.com/")
    (term,) = pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["labelSelector"]["matchLabels"] == pod["metadata"]["labels"]
    assert term["namespaces"] == [pod["metadata"]["namespace"]]
    assert pod["spec"]["containers"][0]["image"] in node["status"]["images"][0]["names"]


def test_decisions_stay_what_they_were() -> None:
    other = copy.deepcopy(NODE)
    other["metadata"] = {"name": "acme-node-2", "labels": {"kubernetes.io/hostname": "acme-node-2"}}
    documents = [NODE, other, POD]
    before = explain_documents(documents, "shop", "web-0", discover=False)
    shown = anonymous(*documents)
    meta = shown[2]["metadata"]
    after = explain_documents(shown, meta["namespace"], meta["name"], discover=False)
    assert before["verdict"] == after["verdict"] == "Schedulable"
    assert after["node"] == shown[0]["metadata"]["name"]
    assert [each.get("reasons") for each in after["nodes"]] == [each.get("reasons") for each in before["nodes"]]


def test_a_claim_made_for_a_pod_alone_is_called_after_it() -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": "web-0-scratch",
            "namespace": "shop",
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": "web-0", "uid": "0b6c", "controller": True}
            ],
        },
        "spec": {"storageClassName": "fast"},
    }
    mounting = copy.deepcopy(POD)
    mounting["spec"]["volumes"] = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]  # type: ignore[index]
    shown_claim, shown = anonymous(claim, mounting)
    assert decode(shown).claim_names == (shown_claim["metadata"]["name"],)  # type: ignore[attr-defined]


def test_kinds_in_which_names_are_hidden_are_left_out_and_named_once() -> None:
    heard: list[str] = []
    pseudonyms = Pseudonyms(heard.append)
    slice_ = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}}
    assert pseudonyms.document(slice_) is None
    assert pseudonyms.document(slice_) is None
    assert heard == ["ResourceSlice objects are left out: they cannot be made anonymous"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_that_can_be_told_has_another_name(kind: str) -> None:
    (shown,) = anonymous({"apiVersion": "v1", "kind": kind, "metadata": {"name": "acme"}})
    assert shown["metadata"]["name"] == f"{KINDS[kind]}-1"
