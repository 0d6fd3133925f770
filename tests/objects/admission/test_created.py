"""What an API server refuses on creation: each line names the field and what to write. Compared with a real server in
`test_against_apiserver`."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InputError
from bayplan.objects.admission.cron import check_schedule
from bayplan.objects.files.loading import load
from bayplan.objects.files.manifests import Document

BOX = {"name": "c", "image": "web"}
TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [BOX]}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def lines(kind: str, version: str = "v1", uid: str = "", meta: dict[str, Any] | None = None, **parts: Any) -> list[str]:
    named = {"name": "web", **({"uid": uid} if uid else {}), **(meta or {})}
    raw = {"apiVersion": version, "kind": kind, "metadata": named, **parts}
    try:
        load([Document("in.yaml", 1, raw)])
    except InputError as error:
        return [line.removeprefix(f"in.yaml:1: {kind} web: ") for line in str(error).splitlines()]
    return []


def pod(**spec: Any) -> list[str]:
    return lines("Pod", spec={"containers": [BOX], **spec})


def ports(*written: dict[str, Any], **spec: Any) -> list[str]:
    return pod(containers=[{**BOX, "ports": list(written)}], **spec)


PODS: list[tuple[dict[str, Any], str]] = [
    ({"restartPolicy": "Sometimes"}, 'spec.restartPolicy: "Sometimes" is not possible here; write Always or OnFailure'),
    ({"containers": [BOX, BOX]}, 'spec.containers: "c" is there 2 times; give each a name of its own'),
    ({"initContainers": [BOX]}, 'spec.containers: "c" is there 2 times; '),
    ({"containers": [{**BOX, "name": "A"}]}, 'spec.containers[0].name: "A" is not a name; write lower-case letters'),
    ({"containers": [{**BOX, "image": " x"}]}, "spec.containers[0].image: there are blanks around it; remove them"),
    ({"volumes": [{"name": "v"}, {"name": "v"}]}, 'spec.volumes: "v" is there 2 times; '),
    (
        {"volumes": [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}]},
        "spec.volumes[0]: several kinds of volume",
    ),
    ({"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "x"}}]}, "spec.volumes[0].emptyDir.sizeLimit: "),
    (
        {"volumes": [{"name": "v", "persistentVolumeClaim": {}}]},
        "spec.volumes[0].persistentVolumeClaim.claimName: empty",
    ),
    ({"volumes": [{"name": "v", "ephemeral": {}}]}, "spec.volumes[0].ephemeral.volumeClaimTemplate: there is none; "),
    ({"runtimeClassName": "fast"}, 'spec.runtimeClassName: there is no RuntimeClass "fast"; add that RuntimeClass or'),
    ({"overhead": {"cpu": "1"}}, "spec.overhead: comes from a RuntimeClass only; write runtimeClassName instead"),
    ({"nodeName": "A B!"}, 'spec.nodeName: "A B!" is not a name; '),
    ({"schedulingGates": [{"name": "a"}] * 2}, 'spec.schedulingGates: "a" is there 2 times; '),
    ({"schedulingGates": [{"name": "a"}], "nodeName": "n"}, "spec.nodeName: stands beside schedulingGates; keep one"),
    ({"resourceClaims": [{"name": "c"}]}, "spec.resourceClaims[0]: names no claim or two; "),
    (
        {"priorityClassName": "system-node-critical", "preemptionPolicy": "Never"},
        'spec.preemptionPolicy: "Never" is not that of PriorityClass "system-node-critical", which is PreemptLowerPriority',
    ),
]


@pytest.mark.parametrize(("spec", "line"), PODS)
def test_pods(spec: dict[str, Any], line: str) -> None:
    found = pod(**spec)
    assert len(found) == 1
    assert found[0].startswith(line)


@pytest.mark.parametrize(
    ("spec", "line"), [each for each in PODS if "nodeName" not in each[0] and "preempt" not in each[1]]
)
def test_what_no_pod_can_be_no_template_can_be(spec: dict[str, Any], line: str) -> None:
    template = {**TEMPLATE, "spec": {**TEMPLATE["spec"], **spec}}
    if "runtimeClassName" in spec:
        return  # the class may come later, so only the simulator tells
    found = lines("ReplicaSet", "apps/v1", spec={"selector": {"matchLabels": {"app": "web"}}, "template": template})
    assert any(each.startswith(line.replace("spec.", "spec.template.spec.", 1)[:60]) for each in found)


@pytest.mark.parametrize(
    ("port", "line"),
    [
        (
            {"containerPort": 80, "hostIP": "999.1.1.1"},
            '.hostIP: "999.1.1.1" is no address; write one such as 10.0.0.1',
        ),
        ({}, ".containerPort: there is none; write a number from 1 to 65535"),
        ({"containerPort": 80, "name": "a_b"}, '.name: "a_b" is not a name; write at most 15 lower-case letters'),
    ],
)
def test_ports(port: dict[str, Any], line: str) -> None:
    assert ports(port)[0].startswith(f"spec.containers[0].ports[0]{line}")


def test_a_host_port_is_asked_for_once() -> None:
    assert ports({"containerPort": 1, "hostPort": 9}, {"containerPort": 2, "hostPort": 9})[0].startswith(
        "spec.containers: host port 9 (TCP) is asked for 2 times"
    )
    assert ports({"containerPort": 1, "hostPort": 9}, {"containerPort": 1, "hostPort": 9, "protocol": "UDP"}) == []
    assert ports({"containerPort": 9, "hostIP": "10.0.0.01"}) == []


@pytest.mark.parametrize(
    ("selector", "line"),
    [
        ({}, "spec.selector: chooses everything; write the labels"),
        ({"matchLabels": {}}, "spec.selector: chooses everything"),
    ],
)
@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"])
def test_selectors(kind: str, selector: dict[str, Any], line: str) -> None:
    assert lines(kind, "apps/v1", spec={"selector": selector, "template": TEMPLATE})[0].startswith(line)


def test_restarts_of_what_workloads_make() -> None:
    never = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
    selector = {"matchLabels": {"app": "web"}}
    line = 'spec.template.spec.restartPolicy: "Never" is not possible here; write Always'
    assert lines("Deployment", "apps/v1", spec={"selector": selector, "template": never}) == [line]
    line = "spec.template.spec.restartPolicy: there is none; write OnFailure or Never"
    assert lines("Job", "batch/v1", spec={"template": TEMPLATE}) == [line]
    assert lines("Job", "batch/v1", spec={"template": never}) == []
    assert lines("Job", "batch/v1", spec={"template": never, "selector": selector}) == [
        "spec.selector: a job gets its own; remove it"
    ]


OTHERS: list[tuple[str, str, dict[str, Any], str]] = [
    ("PersistentVolumeClaim", "v1", {"spec": {**CLAIM, "accessModes": []}}, "spec.accessModes: there is none; "),
    (
        "PersistentVolumeClaim",
        "v1",
        {"spec": {**CLAIM, "resources": {}}},
        "spec.resources.requests.storage: there is none",
    ),
    (
        "PersistentVolume",
        "v1",
        {"spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "0"}}},
        "spec.capacity",
    ),
    ("StorageClass", "storage.k8s.io/v1", {"provisioner": ""}, "provisioner: "),
    ("RuntimeClass", "node.k8s.io/v1", {"handler": ""}, "handler: empty; write a name"),
    (
        "RuntimeClass",
        "node.k8s.io/v1",
        {"handler": "a", "overhead": {"podFixed": {"cpu": "-1"}}},
        "overhead.podFixed.cpu",
    ),
    ("CSINode", "storage.k8s.io/v1", {"spec": {"drivers": [{"name": "d", "nodeID": ""}]}}, "spec.drivers[0].nodeID: "),
    ("VolumeAttachment", "storage.k8s.io/v1", {"spec": {"attacher": "d", "nodeName": "n"}}, "spec.source.persistent"),
    ("Node", "v1", {"spec": {"taints": [{"key": "a", "value": "!", "effect": "NoExecute"}]}}, "spec.taints[0].value: "),
    (
        "PodDisruptionBudget",
        "policy/v1",
        {"spec": {"unhealthyPodEvictionPolicy": "Sometimes"}},
        'spec.unhealthyPodEvictionPolicy: "Sometimes" is not possible here',
    ),
]


@pytest.mark.parametrize(("kind", "version", "parts", "line"), OTHERS)
def test_other_kinds(kind: str, version: str, parts: dict[str, Any], line: str) -> None:
    found = lines(kind, version, **parts)
    assert found
    assert found[0].startswith(line)


@pytest.mark.parametrize(
    ("meta", "line"),
    [
        ({"namespace": "a.b"}, 'metadata.namespace: "a.b" is not a name'),
        ({"annotations": {"a b": "x"}}, 'metadata.annotations.a b: "a b" is not a label key'),
        (
            {"ownerReferences": [{"kind": "Job", "name": "a", "uid": "1"}]},
            "metadata.ownerReferences[0].apiVersion: empty",
        ),
        (
            {"ownerReferences": [{"apiVersion": "v1", "kind": "A", "name": n, "controller": True} for n in "ab"]},
            "metadata.ownerReferences: several controllers; write controller: true once",
        ),
    ],
)
def test_metadata(meta: dict[str, Any], line: str) -> None:
    (found,) = lines("Pod", meta=meta, spec={"containers": [BOX]})
    assert line in found


def test_what_a_server_let_in_is_not_asked_again() -> None:
    assert lines("Pod", uid="1", spec={"containers": [BOX, BOX], "runtimeClassName": "gone"}) == []


@pytest.mark.parametrize("text", ["*/5 * * * *", "@hourly", "0 9-17 * * MON-FRI", "0,30 0 1 jan ?", "@every 1h30m"])
def test_schedules(text: str) -> None:
    check_schedule(text)


@pytest.mark.parametrize(
    "text",
    ["", "* * * *", "60 * * * *", "* * * * * *", "@never", "*/0 * * * *", "5-1 * * * *", "a * * * *", "* * 0 * *"],
)
def test_what_is_no_schedule(text: str) -> None:
    with pytest.raises(ValueError, match="; "):
        check_schedule(text)
