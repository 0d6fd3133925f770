"""Which kinds there are, and how a raw object becomes one of them.

`manifests` and `loading` ask it about files, `kube` about API paths. Other packages add their own kinds with
`register`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from bayplan.errors import InputError
from bayplan.objects import kosmos, kubevirt, placement, policy, volume, workload
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object: where the API serves it, and the struct that holds it."""

    group: str
    version: str
    name: str
    plural: str
    struct: type[ApiObject]
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


_KINDS: dict[tuple[str, str], Kind] = {}
_BY_STRUCT: dict[type[ApiObject], Kind] = {}
_BUILT_IN: set[tuple[str, str]] = set()
"""Group and name of the kinds that every API server has."""


def register(kind: Kind) -> None:
    """Make a kind known; the last one with the same group and name wins."""
    _KINDS[kind.group, kind.name] = kind
    _BY_STRUCT[kind.struct] = kind


for _group, _plural, _struct, _namespaced in (
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
):
    register(Kind(_group, "v1", _struct.__name__, _plural, _struct, _namespaced))
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

for _version, _plural, _known, _namespaced in (
    ("v1", "managedclusters", placement.ManagedCluster, False),
    ("v1beta2", "managedclustersets", placement.ManagedClusterSet, False),
    ("v1beta2", "managedclustersetbindings", placement.ManagedClusterSetBinding, True),
    ("v1beta1", "placements", placement.Placement, True),
    ("v1beta1", "placementdecisions", placement.PlacementDecision, True),
    ("v1alpha1", "addonplacementscores", placement.AddOnPlacementScore, True),
):
    register(Kind(placement.GROUP, _version, _known.__name__, _plural, _known, _namespaced))


def find(api_version: str, kind: str) -> Kind | None:
    """The kind an object says it is, whatever the version; None if it is not known here."""
    group, slash, _ = api_version.partition("/")
    return _KINDS.get((group if slash else "", kind))


def all_kinds() -> tuple[Kind, ...]:
    return tuple(_KINDS.values())


def is_built_in(kind: Kind) -> bool:
    """Whether every API server has it; the others are custom resources."""
    return (kind.group, kind.name) in _BUILT_IN


def kind_of(thing: ApiObject) -> str:
    """The kind of an object that was decoded."""
    kind = _BY_STRUCT.get(type(thing))
    return kind.name if kind else type(thing).__name__


def api_version_of(thing: ApiObject) -> str:
    """The group and version of an object that was decoded; "" if nobody registered its kind."""
    kind = _BY_STRUCT.get(type(thing))
    return kind.api_version if kind else ""


def is_namespaced(thing: ApiObject) -> bool:
    """Whether objects like this live in a namespace; those nobody registered do."""
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
    if found is not None and (found.api_version == api_version or not is_built_in(found)):
        return found
    meant = found or _by_name(kind)
    if meant is not None and _is_builtin_group(api_version):
        raise InputError(
            f'there is no {kind} in "{api_version}"',
            object=describe(raw),
            field="apiVersion",
            fix=f"write {meant.api_version} instead",
        )
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
        return convert(raw, kind.struct)
    except InputError as error:
        raise error.located(source, line) from None


def convert(raw: Mapping[str, Any], struct: type[ApiObject]) -> ApiObject:
    """A raw object as `struct`. ``field:`` with nothing after it means the field is not there, as in Go."""
    try:
        return msgspec.convert(raw, struct)
    except msgspec.ValidationError:
        pass
    cleaned = _without_nulls(raw)
    try:
        return msgspec.convert(cleaned, struct)
    except msgspec.ValidationError as error:
        raise _mismatch(str(error), cleaned) from None


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


_MESSAGE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<path>[^`]*)`)?", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(?P<wanted>[^`]*)`, got `(?P<given>[^`]*)`")
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}


def _mismatch(message: str, raw: Mapping[str, Any]) -> InputError:
    """msgspec's sentence in the words of somebody who writes manifests."""
    parts = _MESSAGE.fullmatch(message)
    what, path = (parts["what"], parts["path"] or "") if parts else (message, "")
    expected = _EXPECTED.fullmatch(what)
    if expected is None:
        return InputError(what, object=describe(raw), field=path)
    field, value = _resolve(path, raw, expected["given"])
    wanted = [each.strip() for each in expected["wanted"].split("|")]
    words = " or ".join(_WORDS.get(each, each) for each in wanted if each != "null")
    given = _WORDS.get(expected["given"], expected["given"])
    fix = f"write {words}"
    if "str" in wanted and isinstance(value, bool | int | float):
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        given, fix = f"{given} ({shown})", f'put it in quotes: "{shown}"'
    return InputError(f"must be {words}, not {given}", object=describe(raw), field=field, fix=fix)


def _resolve(path: str, raw: Any, given: str) -> tuple[str, Any]:
    """The path with the ``[...]`` that stands for a map entry replaced by the entry of the wrong type."""
    python = {"str": str, "int": int, "float": float, "bool": bool, "array": list, "object": dict}
    field, value = "", raw
    for part in re.findall(r"\[\.\.\.\]|\[\d+\]|[^.\[\]]+", path):
        if part == "[...]":
            entries = value.items() if isinstance(value, Mapping) else ()
            wrong = next(((k, v) for k, v in entries if type(v) is python.get(given, type(None))), ("?", None))
            field, value = f"{field}.{wrong[0]}", wrong[1]
        elif part.startswith("["):
            value = value[int(part[1:-1])] if isinstance(value, list) else None
            field = f"{field}{part}"
        else:
            value = value.get(part) if isinstance(value, Mapping) else None
            field = f"{field}.{part}" if field else part
    return field, value


def _by_name(kind: str) -> Kind | None:
    return next((each for each in _KINDS.values() if each.name == kind), None)


def _is_builtin_group(api_version: str) -> bool:
    group, slash, _ = api_version.partition("/")
    return not slash or "." not in group or group.endswith(".k8s.io")
