"""Mistakes an API server would refuse: names, workloads, classes. Amounts and selectors have their own files."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects import policy, volume, workload
from bayplan.objects.admission.validating import check_object
from bayplan.objects.meta import ApiObject
from tests.objects.making import container, make, make_node, make_pod

TOO_LARGE = "is too large; write a 32-bit whole number"


def lines(thing: ApiObject) -> list[str]:
    return [str(each) for each in check_object(thing)]


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ({"overhead": {"cpu": "x"}}, 'spec.overhead.cpu: "x" is not a quantity; '),
        ({"initContainers": [container(cpu="x")]}, "spec.initContainers[0].resources.requests.cpu: "),
        ({"priority": 2**31}, "spec.priority: 2147483648 is too large; write a 32-bit whole number"),
        ({"priority": -(2**31) - 1}, "spec.priority: -2147483649 is too small; write a 32-bit whole number"),
        (
            {"preemptionPolicy": "Maybe"},
            'spec.preemptionPolicy: "Maybe" is not possible here; write PreemptLowerPriority or Never',
        ),
        ({"nodeSelector": {"a b": "c"}}, 'spec.nodeSelector.a b: "a b" is not a label key; '),
        (
            {"containers": [{"name": "c", "ports": [{"hostPort": 70000}]}]},
            "spec.containers[0].ports[0].hostPort: 70000 is not a port; write a number from 1 to 65535",
        ),
        (
            {"containers": [{"name": "c", "ports": [{"protocol": "tcp"}]}]},
            'spec.containers[0].ports[0].protocol: "tcp" is not possible here; write TCP or UDP or SCTP instead',
        ),
    ],
)
def test_wrong_pods(spec: dict[str, Any], line: str) -> None:
    found = lines(make_pod(spec))
    assert found
    assert found[0].startswith(line)


def test_negative_priorities_are_fine() -> None:
    assert lines(make_pod({"priority": -2147483648})) == []


@pytest.mark.parametrize(
    ("thing", "line"),
    [
        (make_pod(name=""), "metadata.name: the object has no name; write one"),
        (make_pod(name="Web_1"), 'metadata.name: "Web_1" is not a name; write lower-case letters'),
        (make_pod(namespace="a b"), 'metadata.namespace: "a b" is not a name; '),
        (make_pod(labels={"app": "a b"}), 'metadata.labels.app: "a b" is not a label value; '),
        (make_pod(deletionTimestamp="soon"), 'metadata.deletionTimestamp: "soon" is not a time; write it like'),
        (make_pod(status={"startTime": "soon"}), 'status.startTime: "soon" is not a time; '),
        (
            make_pod(
                status={"containerStatuses": [{"name": "a"}, {"name": "b", "resources": {"requests": {"cpu": "5%"}}}]}
            ),
            'status.containerStatuses[1].resources.requests.cpu: "5%" is not a quantity; ',
        ),
        (
            make_pod(status={"initContainerStatuses": [{"name": "a", "allocatedResources": {"memory": "-1Gi"}}]}),
            "status.initContainerStatuses[0].allocatedResources.memory: -1Gi is less than nothing; ",
        ),
        (
            make_pod(status={"resources": {"limits": {"cpu": "many"}}}),
            'status.resources.limits.cpu: "many" is not a quantity; ',
        ),
        (
            make_pod(status={"allocatedResources": {"cpu": "many"}}),
            'status.allocatedResources.cpu: "many" is not a quantity; ',
        ),
        (make_node(status={"capacity": {"cpu": "four"}}), 'status.capacity.cpu: "four" is not a quantity; '),
        (make_node(status={"allocatable": {"cpu": "-1"}}), "status.allocatable.cpu: -1 is less than nothing; "),
        (
            make_node(spec={"taints": [{"key": "a", "effect": "Never"}]}),
            'spec.taints[0].effect: "Never" is not possible',
        ),
        (make_node(spec={"taints": [{"effect": "NoSchedule"}]}), 'spec.taints[0].key: "" is not a label key; '),
        (
            make_node(spec={"taints": [{"key": "a", "effect": "NoExecute"}] * 2}),
            "spec.taints[1]: a with NoExecute is there already; keep one of the two taints",
        ),
        (make(policy.PriorityClass, value=2_000_000_000), "value: 2000000000 is too large; write at most 1000000000"),
        (make(policy.PriorityClass, preemptionPolicy="x"), 'preemptionPolicy: "x" is not possible here; '),
        (
            make(policy.PodDisruptionBudget, spec={"minAvailable": 1, "maxUnavailable": 1}),
            "spec.maxUnavailable: stands beside minAvailable; keep one of the two",
        ),
        (make(workload.Service, spec={"selector": {"a": "!"}}), 'spec.selector.a: "!" is not a label value; '),
        (make(workload.Job, spec={"parallelism": -1}), "spec.parallelism: -1 is less than nothing; "),
        (make(workload.Job, spec={"parallelism": 2**31}), f"spec.parallelism: 2147483648 {TOO_LARGE}"),
        (make(workload.Job, spec={"completions": 99999999999}), f"spec.completions: 99999999999 {TOO_LARGE}"),
        (make(workload.ReplicationController, spec={"replicas": -1}), "spec.replicas: -1 is less than nothing; "),
        (make(workload.ReplicationController, spec={"replicas": 2**31}), f"spec.replicas: 2147483648 {TOO_LARGE}"),
        (make(policy.PodDisruptionBudget, spec={"minAvailable": 2**31}), f"spec.minAvailable: 2147483648 {TOO_LARGE}"),
        *(
            (make(policy.PodDisruptionBudget, spec={field: wrong}), f"spec.{field}: {line}")
            for field in ("minAvailable", "maxUnavailable")
            for wrong, line in (
                ("50.5%", '"50.5%" is neither a whole number nor a percentage; write 1 or "50%", for example'),
                ("some", '"some" is neither a whole number nor a percentage; '),
                ("1", '"1" is neither a whole number nor a percentage; '),
                ("-5%", '"-5%" is neither a whole number nor a percentage; '),
                ("101%", "101% is more than all; write at most 100%"),
                (-1, "-1 is less than nothing; write 0 or more"),
            )
        ),
        (
            make(policy.PodDisruptionBudget, spec={"maxUnavailable": 2**31}),
            f"spec.maxUnavailable: 2147483648 {TOO_LARGE}",
        ),
        (
            make(volume.CSINode, spec={"drivers": [{"name": "d", "allocatable": {"count": 2**31}}]}),
            f"spec.drivers[0].allocatable.count: 2147483648 {TOO_LARGE}",
        ),
        (make(volume.PersistentVolume, spec={"capacity": {"storage": "1 Gi"}}), "spec.capacity.storage: "),
        (
            make(volume.PersistentVolume, spec={"nodeAffinity": {"required": {}}}),
            "spec.nodeAffinity.required.nodeSelectorTerms: a required node selector without terms; ",
        ),
        (
            make(volume.PersistentVolumeClaim, spec={"resources": {"requests": {"storage": "x"}}}),
            "spec.resources.requests.storage: ",
        ),
        (make(volume.StorageClass, volumeBindingMode="Later"), 'volumeBindingMode: "Later" is not possible here; '),
        (make(volume.CSIStorageCapacity, capacity="x"), 'capacity: "x" is not a quantity; '),
    ],
)
def test_other_mistakes(thing: ApiObject, line: str) -> None:
    found = lines(thing)
    assert len(found) == 1
    assert found[0].startswith(line)


def test_system_priority_classes_may_be_high() -> None:
    system = make(policy.PriorityClass, metadata={"name": "system-node-critical"}, value=2_000_001_000)
    assert lines(system) == []


def deployment(**spec: Any) -> workload.Deployment:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container(cpu="1")]}}
    return make(workload.Deployment, spec={"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec})


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ({"replicas": 2**31}, f"spec.replicas: 2147483648 {TOO_LARGE}"),
        ({"replicas": -1}, "spec.replicas: -1 is less than nothing; write 0 or more"),
        ({"selector": None}, "spec.selector: there is none; write the labels of the template under matchLabels"),
        (
            {"selector": {"matchLabels": {"app": "api"}}},
            "spec.template.metadata.labels: do not match spec.selector; give both the same labels",
        ),
        (
            {"selector": {"matchExpressions": [{"key": "app", "operator": "Is"}]}},
            'spec.selector.matchExpressions[0].operator: "Is" is not an operator here; ',
        ),
        (
            {"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container(cpu="x")]}}},
            'spec.template.spec.containers[0].resources.requests.cpu: "x" is not a quantity; ',
        ),
    ],
)
def test_workloads_are_checked_down_to_their_template(spec: dict[str, Any], line: str) -> None:
    assert lines(deployment()) == []
    found = lines(deployment(**spec))
    assert len(found) == 1
    assert found[0].startswith(line)


def test_stateful_sets_begin_to_count_at_a_32_bit_number() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container(cpu="1")]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template, "ordinals": {"start": 2**31}}
    assert lines(make(workload.StatefulSet, spec=spec)) == [f"spec.ordinals.start: 2147483648 {TOO_LARGE}"]


def test_all_mistakes_are_found_not_just_the_first() -> None:
    assert len(lines(make_pod({"containers": [container(cpu="x"), container(memory="y")], "priority": 2**40}))) == 3
