"""A pod: its plain properties, what is worked out once, and changed copies."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.objects.pod import HostPort, Pod, normalise_image
from tests.objects.making import container, make_pod


def test_an_empty_pod_has_sensible_answers() -> None:
    pod = Pod()
    assert (pod.name, pod.namespace, pod.uid, pod.node_name, pod.nominated_node_name, pod.zone) == ("",) * 6
    assert pod.priority == 0
    assert pod.scheduler_name == "default-scheduler"
    assert pod.preemption_policy == "PreemptLowerPriority"
    assert pod.start_time is None
    assert pod.controller is None
    assert [pod.is_terminating, pod.is_terminal, pod.is_daemonset] == [False] * 3
    assert not any((pod.tolerations, pod.gates, pod.volumes, pod.host_ports, pod.images, pod.claim_names))
    assert not any((pod.spread_constraints, pod.required_affinity_terms, pod.preferred_affinity_terms))
    assert pod.required_node_affinity is None
    assert not pod.requests.as_map()
    assert dict(pod.labels) == {}


def test_plain_properties() -> None:
    pod = make_pod(
        {
            "priority": -5,
            "nodeName": "n1",
            "schedulerName": "mine",
            "preemptionPolicy": "Never",
            "nodeSelector": {"topology.kubernetes.io/zone": "z1"},
            "schedulingGates": [{"name": "a"}, {"name": "b"}],
            "tolerations": [{"operator": "Exists"}],
        },
        labels={"app": "web"},
        status={
            "phase": "Failed",
            "startTime": "1970-01-01T00:01:00Z",
            "nominatedNodeName": "n2",
            "conditions": [{"type": "Ready", "status": "False"}],
        },
        uid="u1",
        deletionTimestamp="2026-01-01T00:00:00Z",
        ownerReferences=[{"kind": "DaemonSet", "name": "d", "controller": True}],
    )
    assert (pod.key, pod.uid, pod.priority, pod.node_name) == ("shop/web", "u1", -5, "n1")
    assert (pod.scheduler_name, pod.preemption_policy, pod.zone) == ("mine", "Never", "z1")
    assert (pod.gates, len(pod.tolerations)) == (("a", "b"), 1)
    assert (pod.start_time, pod.nominated_node_name) == (60.0, "n2")
    assert pod.is_terminal
    assert pod.is_terminating
    assert pod.is_daemonset
    ready = pod.condition("Ready")
    assert ready is not None
    assert ready.status == "False"
    assert pod.condition("PodScheduled") is None


@pytest.mark.parametrize(
    ("image", "normalised"),
    [
        ("nginx", "nginx:latest"),
        ("nginx:1", "nginx:1"),
        ("host:5000/nginx", "host:5000/nginx:latest"),
        ("host:5000/nginx:1", "host:5000/nginx:1"),
        ("nginx@sha256:abc", "nginx@sha256:abc"),
    ],
)
def test_images_have_a_tag(image: str, normalised: str) -> None:
    assert normalise_image(image) == normalised


def test_images_come_from_all_containers_and_image_volumes_stand_apart() -> None:
    pod = make_pod(
        {
            "containers": [{"name": "a", "image": "web"}, {"name": "b", "image": "web"}],
            "initContainers": [{"name": "i", "image": "setup:2"}],
            "volumes": [{"name": "v", "image": {"reference": "data"}}, {"name": "w", "emptyDir": {}}],
        }
    )
    assert pod.images == ("setup:2", "web:latest", "web:latest")
    assert pod.volume_images == ("data:latest",)
    assert pod.container_count == 3


def test_host_ports_come_from_what_keeps_running() -> None:
    def with_port(name: str, port: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"name": name, "ports": [port], **more}

    pod = make_pod(
        {
            "containers": [
                with_port("a", {"containerPort": 80, "hostPort": 8080}),
                with_port("b", {"containerPort": 53, "hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"}),
                with_port("c", {"containerPort": 81}),
            ],
            "initContainers": [
                with_port("i", {"containerPort": 1, "hostPort": 1}),
                with_port("s", {"containerPort": 2, "hostPort": 2}, restartPolicy="Always"),
            ],
        }
    )
    assert pod.host_ports == (
        HostPort("TCP", "0.0.0.0", 2),
        HostPort("TCP", "0.0.0.0", 8080),
        HostPort("UDP", "10.0.0.1", 53),
    )


def test_claims_include_those_made_for_the_pod() -> None:
    pod = make_pod(
        {
            "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "disk"}},
                {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
                {"name": "conf", "configMap": {"name": "x"}},
            ]
        }
    )
    assert pod.claim_names == ("disk", "web-scratch")


def test_a_changed_copy_works_everything_out_again() -> None:
    pod = make_pod({"containers": [container(cpu="1")]})
    assert pod.requests.cpu_milli == 1000
    larger = pod.evolve(spec=make_pod({"containers": [container(cpu="2")]}).spec)
    assert larger.requests.cpu_milli == 2000
    placed = pod.assigned_to("n1")
    assert (placed.node_name, pod.node_name) == ("n1", "")
    assert placed.requests is pod.requests, "being placed changes nothing that was worked out"
    assert pod.nominated_to("n3").nominated_node_name == "n3"


def test_worked_out_values_are_kept() -> None:
    pod = make_pod({"containers": [container(cpu="1")]})
    assert pod.requests is pod.requests


def test_pods_are_immutable() -> None:
    with pytest.raises(AttributeError):
        # mypy says what the test shows.
        make_pod().spec = None  # type: ignore[misc,assignment]


def test_only_what_differs_from_the_default_goes_onto_the_wire() -> None:
    wire = msgspec.json.encode(make_pod({"nodeName": "n1", "containers": [container(cpu="1")]}))
    decoded = msgspec.json.decode(wire, type=Pod)
    assert decoded.node_name == "n1"
    assert b"tolerations" not in wire
    assert b"nodeName" in wire


def test_lists_and_maps_may_be_null_on_the_wire() -> None:
    wire = b'{"metadata":{"name":"a","labels":null},"spec":{"containers":null,"tolerations":null,"nodeSelector":null}}'
    pod = msgspec.json.decode(wire, type=Pod)
    assert pod.tolerations == ()
    assert dict(pod.labels) == dict(pod.node_selector) == {}
