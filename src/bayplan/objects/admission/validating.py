"""What an API server would refuse and a scheduler would stumble over, found before either sees it.

`loading` calls `check_object` for everything that comes from a file. Each mistake names the field and what to
write instead; all of them are reported, not just the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayplan.objects import policy, volume, workload
from bayplan.objects.admission import affinity_validating as rules
from bayplan.objects.admission import name_checks
from bayplan.objects.admission import resource_validating as amounts
from bayplan.objects.admission.slice_admission import check_amounts
from bayplan.objects.devices.device_class import DeviceTaintRule
from bayplan.objects.devices.resource_slice import ResourceSlice
from bayplan.objects.meta import ApiObject
from bayplan.objects.mistakes import (
    INT32,
    Mistakes,
    count,
    count_or_percent,
    int32,
    labels,
    mistake,
    not_negative,
    one_of,
    quantities,
    tried,
)
from bayplan.objects.node import Node
from bayplan.objects.pod import PREEMPT_LOWER_PRIORITY, Pod
from bayplan.objects.pod_spec import Container, PodSpec
from bayplan.objects.selector import compile_label_selector
from bayplan.objects.third_party import kosmos, placement
from bayplan.objects.third_party.kosmos_validating import check_distribution_policy, check_workload_policy
from bayplan.objects.third_party.placement_validating import (
    check_add_on_score,
    check_cluster_set,
    check_cluster_set_binding,
    check_decisions,
    check_managed_cluster,
)
from bayplan.objects.times import parse_time

_USER_PRIORITY_MAX = 1_000_000_000


def check_object(thing: ApiObject) -> Mistakes:
    """Every mistake in an object."""
    yield from _metadata(thing)
    check = _CHECKS.get(type(thing))
    if check is not None:
        yield from check(thing)


def _metadata(thing: ApiObject) -> Mistakes:
    meta = thing.metadata
    if not meta.name and not meta.generate_name:
        yield mistake("metadata.name", "the object has no name", "write one")
    for field, name in (("metadata.name", meta.name), ("metadata.namespace", meta.namespace)):
        if name:
            yield from name_checks.subdomain(field, name)
    yield from labels("metadata.labels", meta.labels)
    yield from tried("metadata.creationTimestamp", parse_time, meta.creation_timestamp)
    yield from tried("metadata.deletionTimestamp", parse_time, meta.deletion_timestamp)


def _pod(pod: Pod) -> Mistakes:
    yield from check_pod_spec(pod.spec, "spec")
    yield from tried("status.startTime", parse_time, pod.status.start_time)
    yield from amounts.reported(pod.status)


def check_pod_spec(spec: PodSpec, field: str) -> Mistakes:
    """Every mistake in the spec of a pod or of a pod template; `field` is where it stands."""
    for name, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers or ()):
            yield from _container(f"{field}.{name}[{index}]", container)
    yield from amounts.pod_resources(f"{field}.resources", spec)
    yield from quantities(f"{field}.overhead", spec.overhead)
    yield from labels(f"{field}.nodeSelector", spec.node_selector)
    yield from rules.affinity(f"{field}.affinity", spec.affinity)
    yield from rules.spread(f"{field}.topologySpreadConstraints", spec.topology_spread_constraints)
    yield from rules.tolerations(f"{field}.tolerations", spec.tolerations)
    if spec.preemption_policy:
        yield from one_of(f"{field}.preemptionPolicy", spec.preemption_policy, (PREEMPT_LOWER_PRIORITY, "Never"))
    yield from int32(f"{field}.priority", spec.priority)


def _container(field: str, container: Container) -> Mistakes:
    yield from amounts.container_resources(f"{field}.resources", container.resources)
    for index, port in enumerate(container.ports or ()):
        at = f"{field}.ports[{index}]"
        if port.protocol:
            yield from one_of(f"{at}.protocol", port.protocol, ("TCP", "UDP", "SCTP"))
        for name, number in (("containerPort", port.container_port), ("hostPort", port.host_port)):
            if not 0 <= number <= 65535:
                yield mistake(f"{at}.{name}", f"{number} is not a port", "write a number from 1 to 65535")


def _node(node: Node) -> Mistakes:
    yield from quantities("status.capacity", node.status.capacity)
    yield from quantities("status.allocatable", node.status.allocatable)
    yield from rules.taints("spec.taints", node.spec.taints)


def _workload(thing: Any) -> Mistakes:
    spec = thing.spec
    yield from count("spec.replicas", spec.replicas)
    found = list(rules.label_selector("spec.selector", spec.selector))
    yield from found
    if spec.selector is None:
        yield mistake("spec.selector", "there is none", "write the labels of the template under matchLabels")
    elif not found and not compile_label_selector(spec.selector).matches(spec.template.metadata.labels or {}):
        yield mistake("spec.template.metadata.labels", "do not match spec.selector", "give both the same labels")
    yield from _template(spec.template, "spec.template")


def _deployment(thing: workload.Deployment) -> Mistakes:
    yield from _workload(thing)
    yield from _rolling("spec.strategy", thing.spec.strategy, "Recreate")


def _daemon_set(thing: workload.DaemonSet) -> Mistakes:
    yield from _workload(thing)
    yield from _rolling("spec.updateStrategy", thing.spec.update_strategy, "OnDelete")


def _rolling(field: str, strategy: workload.UpdateStrategy, other: str) -> Mistakes:
    """The API server refuses what could never roll out."""
    if strategy.type not in ("", "RollingUpdate", other):
        yield mistake(f"{field}.type", f'"{strategy.type}" is not known', f"write RollingUpdate or {other}")
    rolling = strategy.rolling_update
    if rolling is None:
        return
    if strategy.type == other:
        yield mistake(f"{field}.rollingUpdate", f"has no effect with {other}", "leave it out")
    amounts = {"maxSurge": rolling.max_surge, "maxUnavailable": rolling.max_unavailable}
    for name, amount in amounts.items():
        yield from count_or_percent(f"{field}.rollingUpdate.{name}", amount)
    yield from count(f"{field}.rollingUpdate.partition", rolling.partition)
    if all(amount in (0, "0%") for amount in amounts.values()):
        where = f"{field}.rollingUpdate.maxUnavailable"
        yield mistake(where, "may not be 0 when maxSurge is 0", "write at least 1 for one of them")


def _stateful_set(thing: workload.StatefulSet) -> Mistakes:
    yield from _workload(thing)
    yield from _rolling("spec.updateStrategy", thing.spec.update_strategy, "OnDelete")
    if thing.spec.ordinals is not None:
        yield from count("spec.ordinals.start", thing.spec.ordinals.start)


def _template(template: workload.PodTemplateSpec, field: str) -> Mistakes:
    yield from labels(f"{field}.metadata.labels", template.metadata.labels)
    yield from check_pod_spec(template.spec, f"{field}.spec")


def _replication_controller(thing: workload.ReplicationController) -> Mistakes:
    yield from count("spec.replicas", thing.spec.replicas)
    yield from labels("spec.selector", thing.spec.selector)
    yield from _template(thing.spec.template, "spec.template")


def _job(spec: workload.JobSpec, field: str) -> Mistakes:
    for name, number in (("parallelism", spec.parallelism), ("completions", spec.completions)):
        yield from count(f"{field}.{name}", number)
    yield from _template(spec.template, f"{field}.template")


def _budget(thing: policy.PodDisruptionBudget) -> Mistakes:
    yield from rules.label_selector("spec.selector", thing.spec.selector)
    yield from count_or_percent("spec.minAvailable", thing.spec.min_available)
    yield from count_or_percent("spec.maxUnavailable", thing.spec.max_unavailable)
    if thing.spec.min_available is not None and thing.spec.max_unavailable is not None:
        yield mistake("spec.maxUnavailable", "stands beside minAvailable", "keep one of the two")


def _priority_class(thing: policy.PriorityClass) -> Mistakes:
    if thing.value not in INT32 or (thing.value > _USER_PRIORITY_MAX and not thing.name.startswith("system-")):
        yield mistake("value", f"{thing.value} is too large", f"write at most {_USER_PRIORITY_MAX}")
    if thing.preemption_policy:
        yield from one_of("preemptionPolicy", thing.preemption_policy, (PREEMPT_LOWER_PRIORITY, "Never"))


def _runtime_class(thing: policy.RuntimeClass) -> Mistakes:
    yield from quantities("overhead.podFixed", thing.overhead.pod_fixed if thing.overhead else None)
    if thing.scheduling is not None:
        yield from labels("scheduling.nodeSelector", thing.scheduling.node_selector)
        yield from rules.tolerations("scheduling.tolerations", thing.scheduling.tolerations)


def _volume(thing: volume.PersistentVolume) -> Mistakes:
    yield from quantities("spec.capacity", thing.spec.capacity)
    required = thing.spec.node_affinity.required if thing.spec.node_affinity else None
    if required is not None:
        yield from rules.node_terms("spec.nodeAffinity.required.nodeSelectorTerms", required.node_selector_terms)


def _claim(thing: volume.PersistentVolumeClaim) -> Mistakes:
    yield from quantities("spec.resources.requests", thing.spec.resources.requests)
    yield from rules.label_selector("spec.selector", thing.spec.selector)


def _storage_class(thing: volume.StorageClass) -> Mistakes:
    if thing.volume_binding_mode:
        modes = (volume.IMMEDIATE, volume.WAIT_FOR_FIRST_CONSUMER)
        yield from one_of("volumeBindingMode", thing.volume_binding_mode, modes)


def _storage_node(thing: volume.CSINode) -> Mistakes:
    for index, driver in enumerate(thing.spec.drivers or ()):
        if driver.allocatable is not None:
            yield from count(f"spec.drivers[{index}].allocatable.count", driver.allocatable.count)


def _storage_capacity(thing: volume.CSIStorageCapacity) -> Mistakes:
    yield from rules.label_selector("nodeTopology", thing.node_topology)
    given = {"capacity": thing.capacity, "maximumVolumeSize": thing.maximum_volume_size}
    for name, amount in given.items():
        if amount is not None:
            yield from not_negative(name, amount)


_CHECKS: dict[type[ApiObject], Callable[[Any], Mistakes]] = {
    Pod: _pod,
    Node: _node,
    workload.Deployment: _deployment,
    workload.ReplicaSet: _workload,
    workload.StatefulSet: _stateful_set,
    workload.DaemonSet: _daemon_set,
    workload.ReplicationController: _replication_controller,
    workload.Job: lambda thing: _job(thing.spec, "spec"),
    workload.CronJob: lambda thing: _job(thing.spec.job_template.spec, "spec.jobTemplate.spec"),
    workload.Service: lambda thing: labels("spec.selector", thing.spec.selector),
    policy.PodDisruptionBudget: _budget,
    policy.PriorityClass: _priority_class,
    policy.RuntimeClass: _runtime_class,
    volume.PersistentVolume: _volume,
    volume.PersistentVolumeClaim: _claim,
    volume.StorageClass: _storage_class,
    volume.CSINode: _storage_node,
    volume.CSIStorageCapacity: _storage_capacity,
    ResourceSlice: check_amounts,
    DeviceTaintRule: lambda thing: tried("spec.taint.timeAdded", parse_time, thing.spec.taint.time_added),
    kosmos.WorkloadPolicy: check_workload_policy,
    kosmos.DistributionPolicy: check_distribution_policy,
    kosmos.ClusterDistributionPolicy: check_distribution_policy,
    placement.ManagedCluster: check_managed_cluster,
    placement.ManagedClusterSet: check_cluster_set,
    placement.ManagedClusterSetBinding: check_cluster_set_binding,
    placement.AddOnPlacementScore: check_add_on_score,
    placement.PlacementDecision: check_decisions,
}
