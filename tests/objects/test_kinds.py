"""Raw objects to kinds, and what is said about those that do not fit."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InputError
from bayplan.objects import kinds
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Deployment, Namespace


def raw(api_version: str = "v1", kind: str = "Pod", **parts: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "web", "namespace": "shop"}, **parts}


def test_objects_are_decoded_by_group_and_kind() -> None:
    assert isinstance(kinds.decode(raw()), Pod)
    assert isinstance(kinds.decode(raw("apps/v1", "Deployment")), Deployment)
    assert isinstance(kinds.decode(b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}'), Namespace)


def test_every_kind_of_the_command_line_contract_is_known() -> None:
    names = {kind.name for kind in kinds.all_kinds()}
    wanted = (
        "Namespace Node Pod ReplicaSet ReplicationController Deployment StatefulSet DaemonSet Job CronJob Service "
        "PriorityClass PodDisruptionBudget PersistentVolume PersistentVolumeClaim StorageClass CSINode CSIDriver "
        "CSIStorageCapacity VolumeAttachment ResourceClaim ResourceClaimTemplate ResourceSlice DeviceClass DeviceTaintRule"
    )
    assert set(wanted.split()) <= names


def test_kinds_say_where_the_api_serves_them() -> None:
    found = kinds.find("scheduling.k8s.io/v1", "PriorityClass")
    assert found is not None
    assert (found.api_version, found.plural, found.namespaced) == ("scheduling.k8s.io/v1", "priorityclasses", False)
    assert kinds.kind_of(Pod()) == "Pod"
    assert not kinds.is_namespaced(Namespace())


def test_other_packages_add_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    class Widget(ApiObject, frozen=True, kw_only=True):
        size: int = 0

    monkeypatch.setattr(kinds, "_KINDS", dict(kinds._KINDS))
    monkeypatch.setattr(kinds, "_BY_STRUCT", dict(kinds._BY_STRUCT))
    kinds.register(kinds.Kind("example.com", "v1", "Widget", "widgets", Widget))
    made = kinds.decode(raw("example.com/v1", "Widget", size=3))
    assert isinstance(made, Widget)
    assert made.size == 3


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"apiVersion": "v1"}, "a.yaml:4: object: kind: no kind; write one, such as kind: Pod"),
        (
            {"kind": "Deployment", "metadata": {"name": "web"}},
            "a.yaml:4: Deployment web: apiVersion: no apiVersion; write apiVersion: apps/v1",
        ),
        (
            raw("v1", "Deployment"),
            'a.yaml:4: Deployment shop/web: apiVersion: there is no Deployment in "v1"; write apps/v1 instead',
        ),
        (
            raw("extensions/v1beta1", "Deployment"),
            "a.yaml:4: Deployment shop/web: apiVersion: there is no Deployment in "
            '"extensions/v1beta1"; write apps/v1 instead',
        ),
        (raw("v2"), 'a.yaml:4: Pod shop/web: apiVersion: there is no Pod in "v2"; write v1 instead'),
        (
            raw("policy/v1beta1", "PodDisruptionBudget"),
            'a.yaml:4: PodDisruptionBudget shop/web: apiVersion: there is no PodDisruptionBudget in "policy/v1beta1"; '
            "write policy/v1 instead",
        ),
        (
            raw("kosmos.io/v1beta7", "WorkloadPolicy"),
            'a.yaml:4: WorkloadPolicy shop/web: apiVersion: there is no WorkloadPolicy in "kosmos.io/v1beta7"; '
            "write kosmos.io/v1alpha1 instead",
        ),
        (
            raw("cluster.open-cluster-management.io/v1", "Placement"),
            "a.yaml:4: Placement shop/web: apiVersion: there is no Placement in "
            '"cluster.open-cluster-management.io/v1"; write cluster.open-cluster-management.io/v1beta1 instead',
        ),
        *(
            (raw(version, kind), f'a.yaml:4: {kind} shop/web: kind: there is no kind "{kind}" in "{version}"; {fix}')
            for version, kind, fix in (
                ("v1", "pod", 'did you mean "Pod"?'),
                ("v1", "Pods", 'did you mean "Pod"?'),
                ("v1", "ConfigMaps", 'did you mean "ConfigMap"?'),
                ("apps/v1", "Deploymet", 'did you mean "Deployment"?'),
                ("scheduling.k8s.io/v1", "PriorityClas", 'did you mean "PriorityClass"?'),
                ("kosmos.io/v1alpha1", "WorkloadPolicys", 'did you mean "WorkloadPolicy"?'),
                ("cluster.open-cluster-management.io/v1beta1", "Placment", 'did you mean "Placement"?'),
            )
        ),
        (raw("example.com/v1", "Pod"), "a.yaml:4: Pod shop/web: example.com/v1 Pod is not a kind known here"),
        (
            raw(metadata={"name": "web", "labels": {"a": "b", "version": 1}}),
            'a.yaml:4: Pod web: metadata.labels.version: must be text, not a whole number (1); put it in quotes: "1"',
        ),
        (
            raw(metadata={"name": "web", "labels": {"on": True}}),
            'a.yaml:4: Pod web: metadata.labels.on: must be text, not true or false (true); put it in quotes: "true"',
        ),
        (
            raw(spec={"containers": [{"name": "c"}, {"name": "d", "ports": [{"hostPort": "80"}]}]}),
            "a.yaml:4: Pod shop/web: spec.containers[1].ports[0].hostPort: must be a whole number, not text; "
            "write a whole number",
        ),
        (
            raw(spec={"containers": {"name": "c"}}),
            "a.yaml:4: Pod shop/web: spec.containers: must be a list, not a mapping; write a list",
        ),
        (
            raw(spec={"containers": [{"resources": {"requests": {"cpu": ["1"]}}}]}),
            "a.yaml:4: Pod shop/web: spec.containers[0].resources.requests.cpu: must be a whole number or a number "
            "or text, not a list; write a whole number or a number or text",
        ),
        (raw(metadata="web"), "a.yaml:4: Pod: metadata: must be a mapping, not text; write a mapping"),
    ],
)
def test_what_does_not_fit_is_one_line_with_the_field(given: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as caught:
        kinds.decode(given, "a.yaml", 4)
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("cluster.open-cluster-management.io/v1beta1", "ManagedClusterSet"),
        ("cluster.open-cluster-management.io/v1beta1", "ManagedClusterSetBinding"),
        ("kubevirt.io/v1alpha3", "VirtualMachineInstance"),
        ("autoscaling/v1", "HorizontalPodAutoscaler"),
    ],
)
def test_older_versions_that_there_were_are_read(api_version: str, kind: str) -> None:
    assert kinds.check_type(raw(api_version, kind)) == kinds.named(kind)


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("v1", "Binding"),
        ("v1", "ComponentStatus"),
        ("autoscaling/v1", "Scale"),
        ("certificates.k8s.io/v1", "CertificateSigningRequest"),
        ("resource.k8s.io/v1alpha3", "ResourcePoolStatusRequest"),
        ("storage.k8s.io/v1", "VolumeAttributesClass"),
        ("coordination.k8s.io/v1alpha2", "LeaseCandidate"),
        ("kosmos.io/v1alpha1", "ShadowDaemonSet"),
        ("kubevirt.io/v1", "VirtualMachineInstancePreset"),
        ("cluster.open-cluster-management.io/v1alpha1", "ClusterClaim"),
        ("example.com/v1", "Deploymet"),
    ],
)
def test_kinds_that_there_are_elsewhere_are_strangers(api_version: str, kind: str) -> None:
    assert kinds.check_type(raw(api_version, kind)) is None


def test_bytes_that_are_not_json_are_refused() -> None:
    with pytest.raises(InputError, match=r"^x: this is not a JSON object"):
        kinds.decode(b"[1", "x")


def test_a_field_with_nothing_after_it_is_not_there() -> None:
    made = kinds.decode(
        raw(
            metadata={"name": "web", "labels": {"gpu": None}, "creationTimestamp": None},
            spec={
                "containers": [{"name": "c", "resources": None, "ports": [{"hostPort": None}]}],
                "schedulerName": None,
                "hostNetwork": None,
                "nodeSelector": {"gpu": None},
                "overhead": {"cpu": None},
            },
            status=None,
        )
    )
    assert isinstance(made, Pod)
    assert made.scheduler_name == "default-scheduler"
    assert made.node_selector == made.labels == {"gpu": ""}
    assert not made.requests.as_map()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "object"),
        ({"kind": "Pod"}, "Pod"),
        ({"kind": "Node", "metadata": {"name": "n"}}, "Node n"),
        ({"kind": "Pod", "metadata": {"generateName": "web-"}}, "Pod web-"),
        ({"kind": "Pod", "metadata": {"name": "w", "namespace": "s"}}, "Pod s/w"),
    ],
)
def test_objects_are_described_as_far_as_they_say(given: dict[str, Any], text: str) -> None:
    assert kinds.describe(given) == text


def test_a_kind_without_a_class_in_an_old_group_is_a_stranger() -> None:
    old = {"apiVersion": "extensions/v1beta1", "kind": "Ingress", "metadata": {"name": "a"}}

    assert kinds.check_type(old) is None
