"""What an API server does to a pod before a scheduler sees it."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InputError
from bayplan.objects.admission.defaulting import default_pod
from bayplan.objects.pod import HostPort, Pod
from bayplan.objects.policy import PriorityClass, RuntimeClass
from bayplan.objects.selector import label_selector_from_map
from tests.objects.making import container, make, make_pod

CLASSES = {
    "high": make(PriorityClass, metadata={"name": "high"}, value=1000),
    "quiet": make(PriorityClass, metadata={"name": "quiet"}, value=-10, preemptionPolicy="Never"),
}


def defaulted(spec: dict[str, Any] | None = None, **parts: Any) -> Pod:
    return default_pod(make_pod(spec, **parts), CLASSES)


def test_names_that_are_left_out_are_filled_in() -> None:
    pod = default_pod(Pod(metadata=make_pod(namespace="").metadata))
    assert pod.namespace == "default"
    assert pod.spec.scheduler_name == "default-scheduler"
    assert pod.spec.restart_policy == "Always"
    assert pod.spec.preemption_policy == "PreemptLowerPriority"
    assert pod.spec.priority == 0


def test_a_uid_is_made_once_and_the_same_every_time() -> None:
    one, again, other = defaulted(name="a"), defaulted(name="a"), defaulted(name="b")
    assert one.uid == again.uid
    assert one.uid != other.uid
    assert len(one.uid) == 36
    assert defaulted(name="a", uid="given").uid == "given"


@pytest.mark.parametrize(
    ("resources", "requests"),
    [
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, {"cpu": "1", "memory": "1Gi"}),
        ({"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}}, {"cpu": "500m"}),
        ({"limits": {"cpu": "1", "example.com/gpu": 1}, "requests": {"cpu": 0}}, {"cpu": 0, "example.com/gpu": 1}),
        ({"requests": {"cpu": "1"}}, {"cpu": "1"}),
        ({}, None),
    ],
)
def test_requests_come_from_limits(resources: dict[str, Any], requests: dict[str, Any] | None) -> None:
    written = [{"name": "c", "resources": resources}]
    pod = defaulted({"containers": written, "initContainers": written})
    assert [each.resources.requests for each in (*pod.containers, *pod.init_containers)] == [requests, requests]


@pytest.mark.parametrize(
    ("name", "resources", "containers", "requests"),
    [
        ("nothing said", None, [container(cpu="1")], None),
        (
            "limits become requests",
            {"limits": {"cpu": "2", "memory": "1Gi"}},
            [container()],
            {"cpu": "2", "memory": "1Gi"},
        ),
        (
            "containers come first for cpu and memory",
            {"limits": {"cpu": "2", "memory": "1Gi"}},
            [container(cpu="500m"), container(cpu="300m")],
            {"cpu": "800m", "memory": "1Gi"},
        ),
        ("what is written stays", {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}, [container()], {"cpu": "1"}),
        ("requests alone bring nothing", {"requests": {"cpu": "1"}}, [container(memory="1Gi")], {"cpu": "1"}),
        (
            "huge pages of the containers become limits and requests",
            {"requests": {"cpu": "1"}},
            [container(limits={"hugepages-2Mi": "4Mi"}, cpu="1")],
            {"cpu": "1", "hugepages-2Mi": "4194304"},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_pod_level_requests(name: str, resources: Any, containers: list[Any], requests: Any) -> None:
    pod = defaulted({"containers": containers, "resources": resources})
    assert (pod.spec.resources and pod.spec.resources.requests) == requests


def test_ports_get_a_protocol_and_host_network_a_host_port() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 53, "hostPort": 5353, "protocol": "UDP"}]
    containers = [{"name": "c", "ports": ports}]
    assert defaulted({"containers": containers}).host_ports == (HostPort("UDP", "0.0.0.0", 5353),)
    assert defaulted({"containers": containers, "hostNetwork": True}).host_ports == (
        HostPort("TCP", "0.0.0.0", 80),
        HostPort("UDP", "0.0.0.0", 5353),
    )


@pytest.mark.parametrize(
    ("spec", "priority", "policy"),
    [
        ({}, 0, "PreemptLowerPriority"),
        ({"priorityClassName": "high"}, 1000, "PreemptLowerPriority"),
        ({"priorityClassName": "quiet"}, -10, "Never"),
        ({"priorityClassName": "system-cluster-critical"}, 2_000_000_000, "PreemptLowerPriority"),
        ({"priorityClassName": "system-node-critical"}, 2_000_001_000, "PreemptLowerPriority"),
        ({"priority": 7}, 7, "PreemptLowerPriority"),
        ({"priority": 7, "priorityClassName": "gone"}, 7, "PreemptLowerPriority"),
        ({"priority": 7, "preemptionPolicy": "Never"}, 7, "Never"),
    ],
)
def test_priority(spec: dict[str, Any], priority: int, policy: str) -> None:
    pod = defaulted(spec)
    assert (pod.priority, pod.preemption_policy) == (priority, policy)


def test_pods_without_a_class_get_the_default_one() -> None:
    normal = make(PriorityClass, metadata={"name": "normal"}, value=5, globalDefault=True)
    pod = default_pod(make_pod(), {**CLASSES, "normal": normal})
    assert (pod.priority, pod.spec.priority_class_name) == (5, "normal")


def test_an_unknown_class_is_named_with_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        defaulted({"priorityClassName": "hgih"})
    assert str(caught.value) == (
        'spec.priorityClassName: there is no PriorityClass "hgih"; add that PriorityClass or write one of '
        "high, quiet, system-cluster-critical, system-node-critical"
    )


def test_a_number_that_is_not_the_one_of_the_class_is_refused_in_a_new_pod_only() -> None:
    with pytest.raises(InputError, match='7 is not the value of PriorityClass "high", which is 1000'):
        defaulted({"priority": 7, "priorityClassName": "high"})
    assert defaulted({"priority": 7, "priorityClassName": "high"}, uid="from-a-cluster").priority == 7


@pytest.mark.parametrize(
    ("tolerations", "added"),
    [
        ([], ["not-ready", "unreachable"]),
        ([{"key": "other", "operator": "Exists"}], ["not-ready", "unreachable"]),
        ([{"operator": "Exists"}], []),
        ([{"operator": "Exists", "effect": "NoSchedule"}], ["not-ready", "unreachable"]),
        ([{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}], ["unreachable"]),
        ([{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}], ["not-ready"]),
    ],
)
def test_patience_with_nodes_in_trouble(tolerations: list[Any], added: list[str]) -> None:
    found = defaulted({"tolerations": tolerations}).tolerations[len(tolerations) :]
    assert [each.key for each in found] == [f"node.kubernetes.io/{name}" for name in added]
    assert {(each.operator, each.effect, each.toleration_seconds) for each in found} <= {("Exists", "NoExecute", 300)}


def term(**more: Any) -> dict[str, Any]:
    return {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}, **more}


def test_label_keys_are_merged_into_affinity_and_spread_selectors_once() -> None:
    keyed = term(matchLabelKeys=["rev", "absent"], mismatchLabelKeys=["team"])
    both = {
        "requiredDuringSchedulingIgnoredDuringExecution": [keyed],
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": keyed}],
    }
    spread = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **term(matchLabelKeys=["rev"])}
    pod = defaulted(
        {"affinity": {"podAffinity": both, "podAntiAffinity": both}, "topologySpreadConstraints": [spread]},
        labels={"app": "web", "rev": "7", "team": "a"},
    )
    terms = (
        *pod.required_affinity_terms,
        *pod.required_anti_affinity_terms,
        *(each for _, each in (*pod.preferred_affinity_terms, *pod.preferred_anti_affinity_terms)),
    )
    assert {str(each.selector) for each in terms} == {"app in (web),rev in (7),team notin (a)"}
    assert pod.spread_constraints[0].selector == label_selector_from_map({"app": "web", "rev": "7"})
    written = (pod.spec.topology_spread_constraints or ())[0].label_selector
    assert written is not None
    assert len(written.match_expressions or ()) == 1


def test_label_keys_without_a_selector_change_nothing() -> None:
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["rev"]}
    pod = defaulted({"topologySpreadConstraints": [spread]}, labels={"rev": "7"})
    assert (pod.spec.topology_spread_constraints or ())[0].label_selector is None


def test_a_runtime_class_brings_overhead_and_says_where() -> None:
    runtime = make(
        RuntimeClass,
        metadata={"name": "vm"},
        overhead={"podFixed": {"cpu": "250m"}},
        scheduling={"nodeSelector": {"vm": "yes"}, "tolerations": [{"key": "vm", "operator": "Exists"}]},
    )
    pod = default_pod(make_pod({"runtimeClassName": "vm", "nodeSelector": {"a": "b"}}), {}, {"vm": runtime})
    assert pod.requests.cpu_milli == 250
    assert pod.node_selector == {"a": "b", "vm": "yes"}
    assert [each.key for each in pod.tolerations][-1] == "vm"


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"containers": [container(limits={"cpu": "1"})], "hostNetwork": True, "priorityClassName": "quiet"},
        {"resources": {"limits": {"cpu": "2"}}, "containers": [container(limits={"hugepages-2Mi": "2Mi"})]},
        {
            "affinity": {
                "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(matchLabelKeys=["app"])]}
            },
            "topologySpreadConstraints": [term(maxSkew=1, whenUnsatisfiable="DoNotSchedule", matchLabelKeys=["app"])],
        },
    ],
)
def test_doing_it_again_changes_nothing(spec: dict[str, Any]) -> None:
    once = defaulted(spec, labels={"app": "web"})
    assert default_pod(once, CLASSES) == once
