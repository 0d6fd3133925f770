"""What an API server adds to an object from a file before others see it.

`loading` calls `default_object` for everything in the files; the simulator calls `default_pod` for the pods it
makes. All functions are pure and change nothing when applied twice. `validating` finds the mistakes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID, uuid5

from msgspec.structs import replace

from bayplan.objects import kinds, policy, volume, workload
from bayplan.objects.admission.device_defaulting import default_claim_template, default_resource_claim
from bayplan.objects.admission.pod_defaulting import SYSTEM_PRIORITY_CLASSES, default_pod_spec
from bayplan.objects.devices.resource_claim import ResourceClaim, ResourceClaimTemplate
from bayplan.objects.meta import ApiObject, ObjectMeta
from bayplan.objects.node import Node
from bayplan.objects.pod import PREEMPT_LOWER_PRIORITY, Pod
from bayplan.objects.times import parse_time

__all__ = [
    "SYSTEM_PRIORITY_CLASSES",
    "Classes",
    "default_node",
    "default_object",
    "default_pod",
    "implied_namespaces",
    "stable_uid",
]

DEFAULT_NAMESPACE = "default"
NAMESPACE_LABEL = "kubernetes.io/metadata.name"
_UID_SPACE = UUID("6f2c2f0e-2a57-5f0b-9d3c-1f6a6c9d7b11")

_Object = TypeVar("_Object", bound=ApiObject)
_Scaled = TypeVar(
    "_Scaled", workload.Deployment, workload.ReplicaSet, workload.ReplicationController, workload.StatefulSet
)


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes a cluster has, by name, that objects take values from."""

    priority: Mapping[str, policy.PriorityClass] = field(default_factory=dict)
    runtime: Mapping[str, policy.RuntimeClass] = field(default_factory=dict)
    storage: Mapping[str, volume.StorageClass] = field(default_factory=dict)

    @classmethod
    def among(cls, objects: Iterable[ApiObject]) -> Classes:
        """Those that occur among `objects`."""
        all_of_them = list(objects)
        return cls(
            {each.name: each for each in all_of_them if isinstance(each, policy.PriorityClass)},
            {each.name: each for each in all_of_them if isinstance(each, policy.RuntimeClass)},
            {each.name: each for each in all_of_them if isinstance(each, volume.StorageClass)},
        )

    @property
    def default_storage(self) -> str | None:
        """The newest class marked as default; by name if they are of one age."""
        marked = [each for each in self.storage.values() if each.is_default]
        newest_first = sorted(
            marked, key=lambda each: (-(parse_time(each.metadata.creation_timestamp) or 0.0), each.name)
        )
        return newest_first[0].name if newest_first else None


def default_object(thing: ApiObject, classes: Classes) -> ApiObject:
    """`thing` as an API server with these classes would store it."""
    if isinstance(thing, Pod):
        return default_pod(thing, classes.priority, classes.runtime)
    if isinstance(thing, volume.PersistentVolumeClaim):
        return default_claim(thing, classes)
    settle = _SETTLE.get(type(thing))
    identified = _identified(thing)
    return settle(identified) if settle else identified


def default_claim(claim: volume.PersistentVolumeClaim, classes: Classes) -> volume.PersistentVolumeClaim:
    """The claim as an API server with these classes would store it."""
    return _default_claim(_identified(claim), classes.default_storage)


def default_pod(
    pod: Pod,
    priority_classes: Mapping[str, policy.PriorityClass] | None = None,
    runtime_classes: Mapping[str, policy.RuntimeClass] | None = None,
) -> Pod:
    """A pod as an API server would store it; InputError if its priority class is not known."""
    spec = default_pod_spec(pod, priority_classes or {}, runtime_classes or {})
    return _identified(pod).evolve(spec=spec)


def default_node(node: Node) -> Node:
    """A node that says only what it has gives all of it away."""
    status = node.status
    if status.allocatable is None and status.capacity is not None:
        node = node.evolve(status=replace(status, allocatable=status.capacity))
    return _identified(node)


def implied_namespaces(objects: Iterable[ApiObject]) -> list[workload.Namespace]:
    """The namespaces that are used but not among the objects; in a cluster they would have to be there."""
    used: dict[str, None] = {}
    given = set()
    for each in objects:
        if isinstance(each, workload.Namespace):
            given.add(each.name)
        elif each.namespace:
            used[each.namespace] = None
    return [
        _default_namespace(_identified(workload.Namespace(metadata=ObjectMeta(name=name))))
        for name in used
        if name not in given
    ]


def stable_uid(kind: str, namespace: str, name: str) -> str:
    """A uid that is the same in every run."""
    return str(uuid5(_UID_SPACE, f"{kind}/{namespace}/{name}"))


def _identified(thing: _Object) -> _Object:
    """With the namespace and the uid that the API server would have given it."""
    meta = thing.metadata
    namespace = (meta.namespace or DEFAULT_NAMESPACE) if kinds.is_namespaced(thing) else ""
    if meta.uid and meta.namespace == namespace:
        return thing
    uid = meta.uid or stable_uid(kinds.kind_of(thing), namespace, meta.name)
    return replace(thing, metadata=replace(meta, namespace=namespace, uid=uid))


def _default_namespace(namespace: workload.Namespace) -> workload.Namespace:
    labels = {**namespace.labels, NAMESPACE_LABEL: namespace.name}
    return replace(namespace, metadata=replace(namespace.metadata, labels=labels))


def _one_replica(thing: _Scaled) -> _Scaled:
    return thing if thing.spec.replicas is not None else replace(thing, spec=replace(thing.spec, replicas=1))


def _default_replication_controller(thing: workload.ReplicationController) -> workload.ReplicationController:
    labels = thing.spec.template.metadata.labels
    spec = replace(thing.spec, selector=thing.spec.selector or labels)
    meta = replace(thing.metadata, labels=thing.metadata.labels or labels)
    return _one_replica(replace(thing, spec=spec, metadata=meta))


def _default_stateful_set(thing: workload.StatefulSet) -> workload.StatefulSet:
    spec = replace(thing.spec, pod_management_policy=thing.spec.pod_management_policy or "OrderedReady")
    return _one_replica(replace(thing, spec=spec))


def _default_job_spec(spec: workload.JobSpec) -> workload.JobSpec:
    neither = spec.parallelism is None and spec.completions is None
    return replace(
        spec,
        completions=1 if neither else spec.completions,
        parallelism=1 if spec.parallelism is None else spec.parallelism,
        completion_mode=spec.completion_mode or "NonIndexed",
    )


def _default_job(thing: workload.Job) -> workload.Job:
    return replace(thing, spec=_default_job_spec(thing.spec))


def _default_priority_class(thing: policy.PriorityClass) -> policy.PriorityClass:
    return replace(thing, preemption_policy=thing.preemption_policy or PREEMPT_LOWER_PRIORITY)


def _default_storage_class(thing: volume.StorageClass) -> volume.StorageClass:
    return replace(thing, volume_binding_mode=thing.volume_binding_mode or volume.IMMEDIATE)


def _default_volume(thing: volume.PersistentVolume) -> volume.PersistentVolume:
    # The API server says Pending until the volume controller has looked; for files, none will.
    phase = thing.status.phase or ("Bound" if thing.spec.claim_ref else "Available")
    return replace(
        thing,
        spec=replace(thing.spec, volume_mode=thing.volume_mode),
        status=replace(thing.status, phase=phase),
    )


def _default_claim(thing: volume.PersistentVolumeClaim, default_class: str | None) -> volume.PersistentVolumeClaim:
    spec = thing.spec
    name = default_class if spec.storage_class_name is None else spec.storage_class_name
    return replace(
        thing,
        spec=replace(spec, volume_mode=thing.volume_mode, storage_class_name=name),
        status=replace(thing.status, phase=thing.status.phase or "Pending"),
    )


def _default_csi_driver(thing: volume.CSIDriver) -> volume.CSIDriver:
    spec = thing.spec
    return replace(
        thing,
        spec=replace(
            spec,
            attach_required=True if spec.attach_required is None else spec.attach_required,
            storage_capacity=bool(spec.storage_capacity),
        ),
    )


_SETTLE: dict[type[ApiObject], Callable[[Any], ApiObject]] = {
    Node: default_node,
    workload.Namespace: _default_namespace,
    workload.Deployment: _one_replica,
    workload.ReplicaSet: _one_replica,
    workload.StatefulSet: _default_stateful_set,
    workload.ReplicationController: _default_replication_controller,
    workload.Job: _default_job,
    policy.PriorityClass: _default_priority_class,
    volume.StorageClass: _default_storage_class,
    volume.PersistentVolume: _default_volume,
    volume.CSIDriver: _default_csi_driver,
    ResourceClaim: default_resource_claim,
    ResourceClaimTemplate: default_claim_template,
}
