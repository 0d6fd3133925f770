"""Builders: one line gives the object a manifest would give, and a builder never changes."""

from __future__ import annotations

import pytest

from bayplan.objects.files.loading import load
from bayplan.objects.files.manifests import Document
from bayplan.objects.pod import HostPort
from bayplan.objects.requirement import Requirement
from bayplan.testing import NodeBuilder, PodBuilder, node, pod


def test_a_pod_starts_plain_and_with_a_uid_made_of_its_name() -> None:
    made = pod("a").build()
    assert (made.key, made.uid, made.node_name) == ("default/a", "pod-default-a", "")
    assert not made.requests.as_map()
    assert pod("a").namespace("x").build().uid == "pod-x-a"
    assert pod("a").uid("u").build().uid == "u"


def test_a_node_starts_with_room_and_a_hostname() -> None:
    made = node("n1").build()
    assert made.allocatable.as_map() == {"cpu": 4000, "memory": 32 * 2**30, "pods": 110}
    assert made.labels == {"kubernetes.io/hostname": "n1"}
    assert node("n1").without_label("kubernetes.io/hostname").build().labels == {}


def test_a_builder_can_be_kept_and_varied() -> None:
    start = pod("a").cpu("1")
    bigger = start.cpu("2").label(x="y")
    assert start.build().requests.cpu_milli == 1000
    assert start.build().labels == {}
    assert bigger.build().requests.cpu_milli == 2000


def test_requests_are_those_of_a_manifest() -> None:
    made = pod("a").cpu("1").container(cpu="1").init(cpu="3").sidecar(cpu="1").init(cpu="2").overhead(cpu="250m")
    assert made.build().requests.cpu_milli == 3250
    assert made.pod_level(cpu="2").build().requests.cpu_milli == 2250
    assert pod("a").request(ephemeral_storage="1Ki").scalar("example.com/gpu", 2).build().requests.as_map() == {
        "ephemeral-storage": 1024,
        "example.com/gpu": 2,
    }


@pytest.mark.parametrize(
    ("made", "operator", "value"),
    [
        (pod("a").tolerates("k", "v"), "Equal", "v"),
        (pod("a").tolerates("k"), "Exists", ""),
        (pod("a").tolerates("k", operator="Equal"), "Equal", ""),
    ],
)
def test_a_toleration_without_a_value_tolerates_any(made: PodBuilder, operator: str, value: str) -> None:
    (toleration,) = made.build().tolerations
    assert (toleration.key, toleration.operator, toleration.value) == ("k", operator, value)


def test_affinity_terms_are_compiled_like_written_ones() -> None:
    made = pod("a").affinity({"app": "db"}, "zone").anti_affinity({}, "host", namespaces=["x"], ns_selector={}).build()
    (near,), (far,) = made.required_affinity_terms, made.required_anti_affinity_terms
    assert near.selector.requirements == (Requirement("app", "In", ("db",)),)
    assert (near.namespaces, near.namespace_selector) == (frozenset({"default"}), None)
    assert far.selector.is_empty
    assert far.namespaces == frozenset({"x"})
    assert far.namespace_selector is not None
    assert far.namespace_selector.is_empty


def test_no_selector_at_all_matches_nothing() -> None:
    (term,) = pod("a").affinity(None, "zone").build().required_affinity_terms
    assert term.selector.nothing
    (constraint,) = pod("a").label(x="y").spread("zone", no_selector=True).build().spread_constraints
    assert constraint.selector.nothing


def test_spreading_counts_the_pods_own_labels_unless_told_otherwise() -> None:
    made = pod("a").label(app="web").spread("zone", 2, min_domains=3).spread("host", hard=False, selector={"x": "y"})
    own, other = made.build().spread_constraints
    assert (own.max_skew, own.hard, own.min_domains) == (2, True, 3)
    assert own.selector.matches({"app": "web"})
    assert not other.hard
    assert other.selector.matches({"x": "y"})


def test_ports_images_and_owners() -> None:
    made = pod("a").port(80, ip="10.0.0.1").port(53, protocol="UDP").image("x").owned_by("ReplicaSet", "web").build()
    assert made.host_ports == (HostPort("TCP", "10.0.0.1", 80), HostPort("UDP", "0.0.0.0", 53))
    assert made.images == ("x:latest",)
    assert made.controller is not None
    assert (made.controller.kind, made.controller.name) == ("ReplicaSet", "web")


def test_states_of_a_pod() -> None:
    made = pod("a").on("n").nominated("m").terminating().gated("g").priority(7).started("2026-01-01T00:00:00Z").build()
    assert (made.node_name, made.nominated_node_name, made.gates, made.priority) == ("n", "m", ("g",), 7)
    assert made.is_terminating
    assert made.start_time == 1767225600.0


@pytest.mark.parametrize(
    ("made", "field", "value"),
    [
        (node("n").zone("z"), "zone", "z"),
        (node("n").cordoned(), "unschedulable", True),
        (node("n").label(a="b"), "labels", {"kubernetes.io/hostname": "n", "a": "b"}),
    ],
)
def test_nodes(made: NodeBuilder, field: str, value: object) -> None:
    assert getattr(made.build(), field) == value


def test_taints_and_images_of_a_node() -> None:
    made = node("n").taint("k", "v", "NoExecute").taint("k2").image(["a:1", "b:1"], "1Mi").build()
    assert [(each.key, each.value, each.effect) for each in made.taints] == [
        ("k", "v", "NoExecute"),
        ("k2", "", "NoSchedule"),
    ]
    assert [(each.names, each.size_bytes) for each in made.images] == [(("a:1", "b:1"), 2**20)]


def test_the_manifest_of_a_pod_is_one_that_an_api_server_takes() -> None:
    made = pod("a").container(cpu="1").init(cpu="1").sidecar("web:1").manifest()
    assert load([Document("a.yaml", 1, made)]).objects
