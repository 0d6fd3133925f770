"""What an API server refuses when an object is created, beyond what a scheduler would stumble over.

`loading` calls `check_created` for what people write. What comes from a server was let in there, by its own rules and
perhaps long ago, so it is not asked again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayplan.objects import policy, volume, workload
from bayplan.objects.admission import name_checks
from bayplan.objects.admission.claim_admission import (
    check_claim_template,
    check_device_class,
    check_resource_claim,
    check_taint_rule,
)
from bayplan.objects.admission.cron import check_schedule
from bayplan.objects.admission.pod_admission import check_spec
from bayplan.objects.admission.slice_admission import check_slice
from bayplan.objects.admission.storage_admission import check_claim, check_class, check_driver_list, check_volume
from bayplan.objects.devices.device_class import DeviceClass, DeviceTaintRule
from bayplan.objects.devices.resource_claim import ResourceClaim, ResourceClaimTemplate
from bayplan.objects.devices.resource_slice import ResourceSlice
from bayplan.objects.meta import ApiObject, ObjectMeta
from bayplan.objects.mistakes import Mistakes, mistake, one_of, tried
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import ALWAYS
from bayplan.objects.requirement import check_key, check_value

_ON_FAILURE, _NEVER = "OnFailure", "Never"
_MAX_CRON_JOB = 52
_SYSTEM = "system-"
_INDEXED = "Indexed"


def check_created(thing: ApiObject) -> Mistakes:
    """Every mistake that only counts in an object as it was written."""
    yield from _metadata(thing.metadata)
    check = _CHECKS.get(type(thing))
    if check is not None:
        yield from check(thing)


def _metadata(meta: ObjectMeta) -> Mistakes:
    if meta.namespace:
        yield from name_checks.label("metadata.namespace", meta.namespace)
    for key in meta.annotations or {}:
        yield from tried(f"metadata.annotations.{key}", check_key, key.lower())
    for index, each in enumerate(meta.finalizers or ()):
        yield from tried(f"metadata.finalizers[{index}]", check_key, each)
    owners = meta.owner_references or ()
    for index, owner in enumerate(owners):  # who writes files does not know the uid, so it may be missing
        at = f"metadata.ownerReferences[{index}]"
        for name, text in (("apiVersion", owner.api_version), ("kind", owner.kind), ("name", owner.name)):
            if not text:
                yield mistake(f"{at}.{name}", "empty", "write whose it is")
        if owner.api_version.count("/") > 1:
            yield mistake(f"{at}.apiVersion", f'"{owner.api_version}" is none', "write one such as apps/v1")
    if len({each for each in owners if each.controller}) > 1:
        yield mistake("metadata.ownerReferences", "several controllers", "write controller: true once")


def _pod(pod: Pod) -> Mistakes:
    spec = pod.spec
    yield from check_spec(spec, "spec")
    if spec.node_name and spec.scheduling_gates:
        yield mistake("spec.nodeName", "stands beside schedulingGates", "keep one of the two")


def _node(node: Node) -> Mistakes:
    for index, taint in enumerate(node.taints):
        yield from tried(f"spec.taints[{index}].value", check_value, taint.value)


def _made(template: workload.PodTemplateSpec, field: str, restart: tuple[str, ...]) -> Mistakes:
    """The pods that a workload makes: they must restart as it wants it."""
    yield from check_spec(template.spec, f"{field}.spec")
    written = template.spec.restart_policy or ALWAYS
    if written not in restart:
        problem = f'"{written}" is not possible here' if template.spec.restart_policy else "there is none"
        yield mistake(f"{field}.spec.restartPolicy", problem, f"write {' or '.join(restart)}")


def _workload(thing: Any) -> Mistakes:
    selector = thing.spec.selector
    if selector is not None and not selector.match_labels and not selector.match_expressions:
        yield mistake("spec.selector", "chooses everything", "write the labels of the template under matchLabels")
    yield from _made(thing.spec.template, "spec.template", (ALWAYS,))


def _stateful_set(thing: workload.StatefulSet) -> Mistakes:
    yield from _workload(thing)
    if thing.spec.pod_management_policy:
        wanted = ("OrderedReady", "Parallel")
        yield from one_of("spec.podManagementPolicy", thing.spec.pod_management_policy, wanted)


def _replication_controller(thing: workload.ReplicationController) -> Mistakes:
    labels = thing.spec.template.metadata.labels or {}
    selector = thing.spec.selector or labels
    if not selector:
        yield mistake("spec.selector", "there is none", "give the template labels")
    elif any(labels.get(key) != value for key, value in selector.items()):
        yield mistake("spec.template.metadata.labels", "do not match spec.selector", "give both the same labels")
    yield from _made(thing.spec.template, "spec.template", (ALWAYS,))


def _job(thing: workload.Job) -> Mistakes:
    yield from _job_spec(thing.spec, "spec")


def _job_spec(spec: workload.JobSpec, field: str) -> Mistakes:
    if spec.completion_mode:
        yield from one_of(f"{field}.completionMode", spec.completion_mode, ("NonIndexed", _INDEXED))
    if spec.completion_mode == _INDEXED and spec.completions is None:
        yield mistake(f"{field}.completions", "an indexed job says how many", "write completions")
    if spec.selector is not None and not spec.manual_selector:
        yield mistake(f"{field}.selector", "a job gets its own", "remove it")
    yield from _made(spec.template, f"{field}.template", (_ON_FAILURE, _NEVER))


def _cron_job(thing: workload.CronJob) -> Mistakes:
    if len(thing.name) > _MAX_CRON_JOB:
        yield mistake("metadata.name", f"{len(thing.name)} characters", f"write at most {_MAX_CRON_JOB}")
    yield from tried("spec.schedule", check_schedule, thing.spec.schedule)
    yield from _job_spec(thing.spec.job_template.spec, "spec.jobTemplate.spec")


def _budget(thing: policy.PodDisruptionBudget) -> Mistakes:
    written = thing.spec.unhealthy_pod_eviction_policy
    if written is not None:
        yield from one_of("spec.unhealthyPodEvictionPolicy", written, ("AlwaysAllow", "IfHealthyBudget"))


def _priority_class(thing: policy.PriorityClass) -> Mistakes:
    own = (policy.SYSTEM_CLUSTER_CRITICAL, policy.SYSTEM_NODE_CRITICAL)
    if thing.name.startswith(_SYSTEM) and thing.name not in own:
        yield mistake("metadata.name", f"names that begin with {_SYSTEM} are reserved", "choose another one")


def _runtime_class(thing: policy.RuntimeClass) -> Mistakes:
    yield from name_checks.label("handler", thing.handler)


def _claim(thing: volume.PersistentVolumeClaim) -> Mistakes:
    yield from check_claim(thing.spec, "spec")


def _storage_capacity(thing: volume.CSIStorageCapacity) -> Mistakes:
    yield from name_checks.subdomain("storageClassName", thing.storage_class_name)


def _attachment(thing: volume.VolumeAttachment) -> Mistakes:
    yield from name_checks.subdomain("spec.attacher", thing.spec.attacher.lower())
    if not thing.spec.node_name:
        yield mistake("spec.nodeName", "empty", "write the node")
    if not thing.spec.source.persistent_volume_name:
        yield mistake("spec.source.persistentVolumeName", "empty", "write the volume")


_CHECKS: dict[type[ApiObject], Callable[[Any], Mistakes]] = {
    Pod: _pod,
    Node: _node,
    workload.Deployment: _workload,
    workload.ReplicaSet: _workload,
    workload.StatefulSet: _stateful_set,
    workload.DaemonSet: _workload,
    workload.ReplicationController: _replication_controller,
    workload.Job: _job,
    workload.CronJob: _cron_job,
    workload.Service: lambda thing: name_checks.label("metadata.name", thing.name),
    workload.Namespace: lambda thing: name_checks.label("metadata.name", thing.name),
    policy.PodDisruptionBudget: _budget,
    policy.PriorityClass: _priority_class,
    policy.RuntimeClass: _runtime_class,
    volume.PersistentVolume: check_volume,
    volume.PersistentVolumeClaim: _claim,
    volume.StorageClass: check_class,
    volume.CSINode: check_driver_list,
    volume.CSIStorageCapacity: _storage_capacity,
    volume.VolumeAttachment: _attachment,
    ResourceClaim: check_resource_claim,
    ResourceClaimTemplate: check_claim_template,
    ResourceSlice: check_slice,
    DeviceClass: check_device_class,
    DeviceTaintRule: check_taint_rule,
}
