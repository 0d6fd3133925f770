"""Which kinds there are, and how a raw object becomes one of them.

`manifests` and `loading` ask it about files, `kube` about API paths. Plugins describe kinds that are not here with a
`Kind` among what they read, which is then registered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from bayplan.errors import ConfigError, InputError
from bayplan.objects import policy, volume, workload
from bayplan.objects.devices import device_class, names, resource_claim, resource_slice
from bayplan.objects.devices.shared_parts import SharedParts
from bayplan.objects.kind import Kind as Kind
from bayplan.objects.meta import ApiObject
from bayplan.objects.mismatching import mismatch
from bayplan.objects.mistakes import nearest
from bayplan.objects.node import Node
from bayplan.objects.plain import PlainObject
from bayplan.objects.pod import Pod
from bayplan.objects.third_party import kosmos, kubevirt, placement

_KINDS: dict[tuple[str, str], Kind] = {}
_BY_STRUCT: dict[type[ApiObject], Kind] = {}
_CALLED: dict[str, Kind] = {}
_BUILT_IN: set[tuple[str, str]] = set()
"""Group and name of the kinds that every API server has and that have a class here."""
_OURS: set[tuple[str, str]] = set()
"""Group and name of the kinds that Bayplan itself reads: they cannot be given another class."""

_NEAR, _SLIP = 0.85, 2
"""A misspelt kind: how alike it is to one that there is, and how much longer or shorter."""


def register(kind: Kind) -> None:
    """Make a kind known; the last one with the same group and name wins.

    Raises ConfigError if its name is taken by a kind of another group, or if Bayplan itself needs it as it is.
    """
    key = kind.group, kind.name
    other = _CALLED.get(kind.called)
    if other is not None and (other.group, other.name) != key:
        own = f"{kind.group.partition('.')[0].capitalize()}{kind.name}"
        raise ConfigError(
            f"there is a {kind.called} in {other.api_version} already: call the one in {kind.api_version} something "
            f'else for plugins, such as Kind(..., alias="{own}")'
        )
    if key in _OURS and kind != _KINDS[key]:
        raise ConfigError(f'Bayplan has a {kind.name} in {kind.api_version}: name it in reads as "{kind.name}"')
    before = _KINDS.get(key)
    if before is not None:
        _CALLED.pop(before.called, None)
    _KINDS[key] = _CALLED[kind.called] = _BY_STRUCT[kind.struct] = kind


for _group, _resource, _struct, _namespaced in (
    ("", "namespaces", workload.Namespace, False),
    ("", "nodes", Node, False),
    ("", "pods", Pod, True),
    ("", "services", workload.Service, True),
    ("", "replicationcontrollers", workload.ReplicationController, True),
    ("", "persistentvolumes", volume.PersistentVolume, False),
    ("", "persistentvolumeclaims", volume.PersistentVolumeClaim, True),
    ("apps", "replicasets", workload.ReplicaSet, True),
    ("apps", "deployments", workload.Deployment, True),
    ("apps", "statefulsets", workload.StatefulSet, True),
    ("apps", "daemonsets", workload.DaemonSet, True),
    ("batch", "jobs", workload.Job, True),
    ("batch", "cronjobs", workload.CronJob, True),
    ("policy", "poddisruptionbudgets", policy.PodDisruptionBudget, True),
    ("scheduling.k8s.io", "priorityclasses", policy.PriorityClass, False),
    ("node.k8s.io", "runtimeclasses", policy.RuntimeClass, False),
    ("storage.k8s.io", "storageclasses", volume.StorageClass, False),
    ("storage.k8s.io", "csinodes", volume.CSINode, False),
    ("storage.k8s.io", "csidrivers", volume.CSIDriver, False),
    ("storage.k8s.io", "csistoragecapacities", volume.CSIStorageCapacity, True),
    ("storage.k8s.io", "volumeattachments", volume.VolumeAttachment, False),
    (names.GROUP, "resourceclaims", resource_claim.ResourceClaim, True),
    (names.GROUP, "resourceclaimtemplates", resource_claim.ResourceClaimTemplate, True),
    (names.GROUP, "resourceslices", resource_slice.ResourceSlice, False),
    (names.GROUP, "deviceclasses", device_class.DeviceClass, False),
    (names.GROUP, "devicetaintrules", device_class.DeviceTaintRule, False),
):
    # Devices are claimed since 1.34, and rules that taint them have to be switched on.
    _version = names.TAINT_RULE_VERSION if _struct is device_class.DeviceTaintRule else "v1"
    _optional = _group == names.GROUP
    register(Kind(_group, _version, _struct.__name__, _resource, _struct, _namespaced, is_optional=_optional))
    _BUILT_IN.add((_group, _struct.__name__))

for _kind in (
    Kind(kosmos.GROUP, kosmos.VERSION, "WorkloadPolicy", "workloadpolicies", kosmos.WorkloadPolicy),
    Kind(kosmos.GROUP, kosmos.VERSION, "DistributionPolicy", "distributionpolicies", kosmos.DistributionPolicy),
    Kind(
        kosmos.GROUP,
        kosmos.VERSION,
        "ClusterDistributionPolicy",
        "clusterdistributionpolicies",
        kosmos.ClusterDistributionPolicy,
        namespaced=False,
    ),
    Kind(kubevirt.GROUP, kubevirt.VERSION, kubevirt.MACHINE, "virtualmachines", kubevirt.VirtualMachine),
    Kind(
        kubevirt.GROUP, kubevirt.VERSION, kubevirt.INSTANCE, "virtualmachineinstances", kubevirt.VirtualMachineInstance
    ),
):
    register(_kind)

for _version, _resource, _known, _namespaced in (
    ("v1", "managedclusters", placement.ManagedCluster, False),
    ("v1beta2", "managedclustersets", placement.ManagedClusterSet, False),
    ("v1beta2", "managedclustersetbindings", placement.ManagedClusterSetBinding, True),
    ("v1beta1", "placements", placement.Placement, True),
    ("v1beta1", "placementdecisions", placement.PlacementDecision, True),
    ("v1alpha1", "addonplacementscores", placement.AddOnPlacementScore, True),
):
    register(Kind(placement.GROUP, _version, _known.__name__, _resource, _known, _namespaced))

_OURS.update(_KINDS)
_OLDER = {
    (placement.GROUP, "ManagedClusterSet"): ("v1alpha1", "v1beta1"),
    (placement.GROUP, "ManagedClusterSetBinding"): ("v1alpha1", "v1beta1"),
    (placement.GROUP, "Placement"): ("v1alpha1",),
    (placement.GROUP, "PlacementDecision"): ("v1alpha1",),
    **dict.fromkeys(((kubevirt.GROUP, kubevirt.MACHINE), (kubevirt.GROUP, kubevirt.INSTANCE)), ("v1alpha3",)),
    # In v1beta1 requests and devices are written in another way, so that one is not among them.
    (names.GROUP, "ResourceClaim"): ("v1beta2",),
    (names.GROUP, "ResourceClaimTemplate"): ("v1beta2",),
    (names.GROUP, "ResourceSlice"): ("v1beta2",),
    (names.GROUP, "DeviceClass"): ("v1beta1", "v1beta2"),
    (names.GROUP, "DeviceTaintRule"): ("v1alpha3",),
}
"""Versions with the same fields that were served beside the one that is read here, or before it."""

# Kinds of every API server that only plugins of others read.
for _group, _version, _names in (
    ("", "v1", "ConfigMap Endpoints Event LimitRange PodTemplate ResourceQuota Secret ServiceAccount"),
    ("apps", "v1", "ControllerRevision"),
    ("autoscaling", "v2", "HorizontalPodAutoscaler"),
    ("coordination.k8s.io", "v1", "Lease"),
    ("discovery.k8s.io", "v1", "EndpointSlice"),
    ("networking.k8s.io", "v1", "Ingress NetworkPolicy"),
    ("rbac.authorization.k8s.io", "v1", "Role RoleBinding"),
):
    for _name in _names.split():
        register(Kind(_group, _version, _name, "endpoints" if _name == "Endpoints" else ""))
for _group, _name in (
    ("networking.k8s.io", "IngressClass"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
):
    register(Kind(_group, "v1", _name, namespaced=False))


def find(api_version: str, kind: str) -> Kind | None:
    """The kind an object says it is, whatever the version; None if it is not known here."""
    group, slash, _ = api_version.partition("/")
    return _KINDS.get((group if slash else "", kind))


def all_kinds() -> tuple[Kind, ...]:
    return tuple(_KINDS.values())


def named(called: str) -> Kind:
    """The kind that plugins call so; ConfigError if it is not registered."""
    if called not in _CALLED:
        guess = nearest(called, _CALLED)
        raise ConfigError(f'there is no kind "{called}"' + (f'; did you mean "{guess}"?' if guess else ""))
    return _CALLED[called]


def is_known(called: str) -> bool:
    return called in _CALLED


def those(names: Collection[str]) -> list[Kind]:
    """The kinds that plugins call so, of those that are registered."""
    return [kind for kind in _KINDS.values() if kind.called in names]


def is_built_in(kind: Kind) -> bool:
    """Whether every API server has it, and it has a class here."""
    return (kind.group, kind.name) in _BUILT_IN


def kind_of(thing: ApiObject) -> str:
    """The kind of an object that was decoded, as plugins call it."""
    kind = _BY_STRUCT.get(type(thing))
    return kind.called if kind else type(thing).__name__


def api_version_of(thing: ApiObject) -> str:
    """The group and version of an object that was decoded; "" if its kind is not registered."""
    kind = _BY_STRUCT.get(type(thing))
    return kind.api_version if kind else ""


def is_namespaced(thing: ApiObject) -> bool:
    """Whether objects like this live in a namespace; those of unregistered kinds do."""
    kind = _BY_STRUCT.get(type(thing))
    return kind is None or kind.namespaced


def describe(raw: Mapping[str, Any]) -> str:
    """``Kind ns/name`` of a raw object, as far as it says."""
    meta = raw.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    name = str(meta.get("name") or meta.get("generateName") or "")
    namespace = str(meta.get("namespace") or "")
    kind = str(raw.get("kind") or "object")
    return f"{kind} {namespace}/{name}" if namespace and name else f"{kind} {name}".strip()


def check_type(raw: Mapping[str, Any]) -> Kind | None:
    """The kind of a raw object, None if it is a stranger; InputError if it says none or a wrong one."""
    api_version, kind = raw.get("apiVersion"), raw.get("kind")
    if not kind or not isinstance(kind, str):
        raise InputError("no kind", object=describe(raw), field="kind", fix="write one, such as kind: Pod")
    if not api_version or not isinstance(api_version, str):
        known = _by_name(kind)
        example = known.api_version if known else "v1"
        raise InputError("no apiVersion", object=describe(raw), field="apiVersion", fix=f"write apiVersion: {example}")
    found = find(api_version, kind)
    if found is not None and _has_version(found, api_version):
        return found
    meant = found or (_by_name(kind) if _is_builtin_group(api_version) else None)
    if meant is not None:
        raise InputError(
            f'there is no {kind} in "{api_version}"',
            object=describe(raw),
            field="apiVersion",
            fix=f"write {meant.api_version} instead",
        )
    guess = _misspelt(api_version, kind)
    if guess:
        fix = f'did you mean "{guess}"?'
        raise InputError(f'there is no kind "{kind}" in "{api_version}"', object=describe(raw), field="kind", fix=fix)
    return None


def decode(raw: Mapping[str, Any] | bytes | str, source: str = "", line: int = 0) -> ApiObject:
    """An object from a file or from the wire; InputError with the field if it does not fit its kind."""
    if isinstance(raw, bytes | str):
        try:
            raw = msgspec.json.decode(raw, type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise InputError(f"this is not a JSON object: {error}", source=source, line=line) from None
    try:
        kind = check_type(raw)
        if kind is None:
            raise InputError(f"{raw['apiVersion']} {raw['kind']} is not a kind known here", object=describe(raw))
        found: ApiObject = convert(raw, kind.struct)
        return found
    except InputError as error:
        raise error.located(source, line) from None


def convert(raw: Mapping[str, Any], struct: type[Any]) -> Any:
    """A raw object, or a part of one, as `struct`. ``field:`` with nothing after it means the field is not there."""
    try:
        return _made(raw, struct)
    except msgspec.ValidationError:
        pass
    cleaned = _without_nulls(raw)
    try:
        return _made(cleaned, struct)
    except msgspec.ValidationError as error:
        raise mismatch(str(error), cleaned, describe(cleaned)) from None


def _made(raw: Mapping[str, Any], struct: type[Any]) -> Any:
    return struct.of(raw) if issubclass(struct, PlainObject) else msgspec.convert(raw, struct)


def decoder(kind: Kind) -> Callable[[bytes | msgspec.Raw], Any]:
    """What makes objects of the kind from the JSON of an API server, in whose lists they do not say what they are."""
    struct = kind.struct
    if struct is resource_slice.ResourceSlice:
        slices, parts = msgspec.json.Decoder(resource_slice.ResourceSlice).decode, SharedParts()
        return lambda raw: parts.within(slices(raw))
    if not issubclass(struct, PlainObject):
        return msgspec.json.Decoder(struct).decode
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    typed = {"apiVersion": kind.api_version, "kind": kind.name}
    return lambda raw: struct.of(typed | decode(raw))


def as_written(thing: ApiObject) -> dict[str, Any]:
    """The fields of an object as they would be written; of a kind with a class, without its type."""
    if isinstance(thing, PlainObject):
        return dict(thing.written)
    fields: dict[str, Any] = msgspec.to_builtins(thing)
    return fields


_EMPTY_VALUES = {
    **dict.fromkeys(("labels", "annotations", "matchLabels", "nodeSelector"), ""),
    **dict.fromkeys(("requests", "limits", "capacity", "allocatable", "overhead", "podFixed"), "0"),
}
"""Maps in which a key without a value still counts, and what it then stands for."""


def _without_nulls(value: Any, parent: str = "") -> Any:
    if isinstance(value, Mapping):
        stand_in = _EMPTY_VALUES.get(parent)
        cleaned = {}
        for key, each in value.items():
            if each is None and stand_in is not None:
                cleaned[key] = stand_in
            elif each is not None:
                cleaned[key] = _without_nulls(each, key)
        return cleaned
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _by_name(kind: str) -> Kind | None:
    """A kind of that name; what has no class here is no mistake: it may be of some other group."""
    return next((each for each in _KINDS.values() if each.name == kind and not each.is_plain), None)


def _has_version(kind: Kind, api_version: str) -> bool:
    """Whether the version exists.  Of kinds that plugins bring and of those without a class, any may."""
    key = kind.group, kind.name
    if key not in _OURS or kind.api_version == api_version:
        return True
    return api_version.partition("/")[2] in _OLDER.get(key, ())


def _misspelt(api_version: str, kind: str) -> str | None:
    """The kind that was probably meant.  One letter or two may be wrong: groups have kinds that are not known here."""
    if _is_builtin_group(api_version):
        names = [each.name for each in _KINDS.values() if _is_builtin_group(each.api_version)]
    else:
        group = api_version.partition("/")[0]
        names = [each.name for each in _KINDS.values() if each.group == group]
    if kind in names:
        return None  # of another group, and only of use to plugins
    return nearest(kind, (name for name in names if abs(len(name) - len(kind)) <= _SLIP), cutoff=_NEAR)


def _is_builtin_group(api_version: str) -> bool:
    group, slash, _ = api_version.partition("/")
    return not slash or "." not in group or group.endswith(".k8s.io")
